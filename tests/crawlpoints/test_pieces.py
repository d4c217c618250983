"""The small pieces of every page: numbers, dates, addresses, sparklines, and what the page weighs."""

import gzip
import importlib.resources
import re
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from django.conf import settings
from django.core.paginator import Paginator

from clearinghouse.web.templatetags import formats

NOW = datetime(2026, 11, 18, 14, 2, tzinfo=UTC)
STATIC = Path(settings.BASE_DIR) / "static"


@pytest.mark.parametrize(
    ("made", "expected"),
    [
        (formats.number(1038), "1,038"),
        (formats.number(-5), "−5"),
        (formats.number(None), "–"),
        (formats.change(14), "+14"),
        (formats.change(-1400), "−1,400"),
        (formats.change(0), "±0"),
        (formats.plural(1, "page"), "1 page"),
        (formats.plural(0, "page"), "0 pages"),
        (formats.plural(2, "address,addresses"), "2 addresses"),
        (formats.size(512), "512 bytes"),
        (formats.size(23_400), "23 KB"),
        (formats.size(7_000_000), "7.0 MB"),
        (formats.duration(0.42), "0.4 s"),
        (formats.duration(1620), "27 min"),
        (formats.age(NOW - timedelta(seconds=5), NOW), "just now"),
        (formats.age(NOW - timedelta(days=6), NOW), "6 days ago"),
        (formats.age(NOW - timedelta(minutes=1), NOW), "1 minute ago"),
        (formats.age(NOW + timedelta(hours=3), NOW), "in 3 hours"),
        (formats.percent(0, 10), 0),
        (formats.percent(1, 1000), 1),
        (formats.percent(999, 1000), 99),
        (formats.percent(1000, 1000), 100),
        (formats.percent(3, 0), 0),
    ],
)
def test_numbers_and_ages_are_written_for_people(made: Any, expected: Any) -> None:
    assert made == expected


def test_dates_have_the_form_of_the_house_and_a_machine_readable_twin() -> None:
    assert formats.when(NOW) == '<time datetime="2026-11-18T14:02+00:00">18 Nov 2026, 14:02</time>'
    assert formats.day(NOW).endswith(">18 Nov 2026</time>")
    assert "never" in formats.when_row(None)


def test_an_address_is_never_cut_and_what_repeats_is_dim() -> None:
    made = formats.url_parts("https://a.org/b/c.html")
    assert made == '<span class="dim">https://a.org</span><wbr>/<wbr>b/<wbr>c.html'
    assert re.sub(r"<[^>]+>", "", made) == "https://a.org/b/c.html"


@pytest.mark.parametrize(
    "hostile", ["https://a.org/<script>", 'x"><img src=x onerror=alert(1)>', "javascript:alert(1)"]
)
def test_an_address_is_text_and_never_markup(hostile: str) -> None:
    assert "<script" not in formats.url_parts(hostile) and "<img" not in formats.url_parts(hostile)
    assert "<script" not in formats.short_root(hostile, hostile) and "<img" not in formats.short_root(hostile, hostile)


def test_a_root_on_the_same_site_is_short_with_the_full_text_for_screen_readers() -> None:
    made = formats.short_root("https://a.org/b/", "https://a.org/b/c")
    assert '<span class="vh">https://a.org/b/</span>' in made and "same site" in made
    assert 'tabindex="0"' in made and '<span class="whole url" aria-hidden="true">https:/' in made
    assert "same site" not in formats.short_root("https://a.org.evil/", "https://a.org/")


def test_a_sparkline_says_in_words_what_it_draws() -> None:
    made = formats.spark([341, 398, 412])
    assert "Pages in the last 3 runs: lowest 341, highest 412, last 412" in made and "+14" in made
    assert 'class="spark"' in made and 'class="spark down"' in formats.spark([100, 100, 100, 10])
    assert formats.spark([]) == formats.NOTHING
    assert "NaN" not in formats.spark([5, 5]) and formats.spark([7]).count("circle") == 1


@pytest.mark.parametrize(
    ("page", "expected"),
    [(1, [1, 2, 0, 20]), (3, [1, 2, 3, 4, 0, 20]), (4, [1, 2, 3, 4, 5, 0, 20]), (20, [1, 0, 19, 20])],
)
def test_a_long_list_shows_the_pages_around_and_both_ends(page: int, expected: list[int]) -> None:
    assert formats.page_numbers(Paginator(range(200), 10).page(page)) == expected


def test_every_state_and_notice_has_its_icon_in_the_sprite() -> None:
    sprite = (STATIC / "icons.svg").read_text()
    names = {symbol for _, symbol, _ in formats.STATES.values()} | set(formats.NOTICE_ICONS.values())
    assert [name for name in names if f'id="i-{name}"' not in sprite] == []


def test_a_page_weighs_what_it_may() -> None:
    htmx = importlib.resources.files("django_htmx") / "static/django_htmx/htmx-2.min.js"
    scripts = sum(len(gzip.compress(path.read_bytes())) for path in (htmx, *STATIC.glob("*.js")))
    assert len(gzip.compress((STATIC / "app.css").read_bytes())) <= 12_000
    assert scripts <= 40_000


def test_the_stylesheet_fetches_nothing() -> None:
    text = (STATIC / "app.css").read_text()
    assert "url(" not in text and "@import" not in text and "data:" not in text.replace("data: images", "")
