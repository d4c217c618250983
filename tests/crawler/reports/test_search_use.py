"""Search use: what the public looks for, what it does not find, what it opens."""

import csv
import io
from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from clearinghouse.search.models import SearchUse
from clearinghouse.search.usage import services, spool

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture
def used() -> None:
    today = timezone.localdate()
    for query, found, times in (("asthma", 12, 5), ("heart attack", 0, 3), ("=cmd|calc", 2, 1)):
        for _ in range(times):
            spool.add({"day": today.isoformat(), "q": query, "n": found})
    spool.add({"day": today.isoformat(), "q": "asthma", "open": 1})
    spool.add({"day": (today - timedelta(days=60)).isoformat(), "q": "long ago", "n": 1})
    services.collect()


def page(browser: Client, query: str = "") -> str:
    answer = browser.get(f"/reports/search-use/{query}")
    assert answer.status_code == 200
    return answer.content.decode()


def lines(browser: Client, query: str = "") -> list[list[str]]:
    answer = browser.get(f"/reports/search-use/export.csv{query}")
    return list(csv.reader(io.StringIO(b"".join(answer.streaming_content).decode("utf-8-sig"))))


def test_top_queries_first_with_their_clicks(signed_in: SignedIn, reader: Any, used: None) -> None:
    today = timezone.localdate().isoformat()
    assert lines(signed_in(reader)) == [
        ["Query", "Searches", "Found nothing", "Pages found last", "Results opened", "Last searched"],
        ["asthma", "5", "0", "12", "1", today],
        ["heart attack", "3", "3", "0", "0", today],
        ["'=cmd|calc", "1", "0", "2", "0", today],  # a spreadsheet gets no formula
    ]
    text = page(signed_in(reader))
    assert "9 searches by the public; 3 of them found nothing." in text
    assert 'href="/search/?q=heart+attack"' in text


def test_who_may_teach_the_search_begins_at_a_query(
    signed_in: SignedIn, reader: Any, manager: Any, document: Any, used: None
) -> None:
    link = "/settings/search/?kind=synonym&amp;words=heart%20attack"
    assert link in page(signed_in(manager))
    assert link not in page(signed_in(reader))
    form = signed_in(manager).get(link.replace("&amp;", "&")).content.decode()
    assert 'value="heart attack"' in form


def test_filters_show_what_found_nothing_what_nobody_opened_and_words(
    signed_in: SignedIn, reader: Any, used: None
) -> None:
    def queries(query: str) -> list[str]:
        return [line[0] for line in lines(signed_in(reader), query)[1:]]

    assert queries("?show=nothing") == ["heart attack"]
    assert queries("?show=unopened") == ["'=cmd|calc"]
    assert queries("?q=HEART") == ["heart attack"]
    assert "long ago" in queries("?days=all")
    assert queries("?sort=query") == ["'=cmd|calc", "asthma", "heart attack"]


def test_the_days_are_drawn_and_written_beside(signed_in: SignedIn, reader: Any, used: None) -> None:
    text = page(signed_in(reader))
    assert "Searches by day: 9 searches, 3 found nothing; most in one column 9" in text
    assert 'role="img"' in text and "Show as table" in text


def test_the_queries_stay_the_same_for_more_rows(
    signed_in: SignedIn, reader: Any, used: None, django_assert_max_num_queries: Any
) -> None:
    day = timezone.localdate()
    SearchUse.objects.bulk_create(
        [SearchUse(day=day, query=f"q{n}", query_key=str(n).encode().zfill(32), searches=1) for n in range(200)]
    )
    browser = signed_in(reader)
    page(browser)
    with django_assert_max_num_queries(6, using="webcrawl"):
        page(browser)


def test_the_tick_empties_what_the_searches_noted(db: Any) -> None:
    from crawler.upkeep import tick

    spool.add({"day": "2026-11-12", "q": "asthma", "n": 1})
    tick.Tick().round()
    assert SearchUse.objects.get().query == "asthma"
