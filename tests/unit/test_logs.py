"""Whatever a site says, it writes no line of its own into a log and moves no cursor (threat T27)."""

import io
import logging
import logging.config
import re
from collections.abc import Iterator

import pytest
from django.conf import settings

from clearinghouse.logs import escaped
from crawler.models import LedgerEntry, Run
from crawler.reading import Reader
from tests.crawler.conftest import crawl, make_document
from tests.sites.misbehaving import Site, page

FORGED = "x\r\n2026-11-18 10:00:00,000 ERROR   root: forged\x1b[31m\x07\x9b2J\u202e\x00"
ATTACK = re.compile(r"[\x00-\x09\x0b-\x1f\x7f-\x9f\u202e]")


@pytest.fixture
def log() -> Iterator[io.StringIO]:
    """A logger as the settings make them, on a stream of ours."""
    logging.config.dictConfig(settings.LOGGING)
    stream = io.StringIO()
    handler = logging.StreamHandler(stream)
    handler.setFormatter(logging.getLogger().handlers[0].formatter)
    logger = logging.getLogger("crawler")
    logger.addHandler(handler)
    yield stream
    logger.removeHandler(handler)


def assert_harmless(text: str) -> None:
    assert "forged" in text
    assert ATTACK.findall(text) == []
    assert [line for line in text.splitlines() if line.startswith("2026-11-18 10:00:00")] == []


def test_a_message_is_one_line_however_it_is_given(log: io.StringIO) -> None:
    logging.getLogger("crawler.x").warning("A site said %s", FORGED)
    assert_harmless(log.getvalue())
    assert log.getvalue().count("\n") == 1


@pytest.mark.django_db(databases=["default", "webcrawl"])
def test_a_fault_over_a_page_writes_what_the_page_says_as_escapes(
    log: io.StringIO, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: object) -> None:
        raise ValueError(FORGED)

    monkeypatch.setattr(Reader, "store", broken)
    with Site() as site:
        site.pages["/"] = page("x")
        run: Run = crawl(make_document({"url": site.url("/")}), ignore_robots=True)
    row = LedgerEntry.objects.get(excursion__run=run)
    assert row.reason == "error" and "forged" in row.detail + row.excursion.error
    assert "\0" not in row.detail + row.excursion.error, "PostgreSQL would refuse it, and the crawl never end"
    assert_harmless(log.getvalue())
    assert "Traceback" in log.getvalue()


@pytest.mark.parametrize("odd", ["\ud800", "\u2028", "\x85", "a\tb"])
def test_odd_signs_are_written_out(odd: str) -> None:
    assert escaped(odd).isprintable()
    escaped(odd).encode()


def test_what_people_write_stays_as_it_is() -> None:
    words = "Größe, 中文, Ελλάδα – 'quoted' \\ %s {}"
    assert escaped(words) == words
