"""Explain this ranking: the place, what the score is made of, which words stand where; for who works here."""

import re

import pytest

from clearinghouse.search import engine
from clearinghouse.search.curation import services
from clearinghouse.search.curation.services import Given
from clearinghouse.search.engine import Narrow
from clearinghouse.search.ranking.explained_ranking import explained

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
PAGES = [
    {"title": "Other things", "text": "a note about patient safety at the end"},
    {"title": "Patient safety", "text": "patient safety", "headings": "Patient safety\nRates", "metas": "safety",
     "url": "https://q.example.org/patient-safety.html", "anchors": "about safety"},
    {"title": "Unrelated", "text": "nothing of the kind"},
]  # fmt: skip


@pytest.fixture
def ids(db) -> list[int]:
    return publish("primary", PAGES)


def test_the_parts_add_up_to_the_score_and_the_place_is_that_of_the_results(ids):
    told = explained("patient safety", Narrow(), ids[1])
    assert told is not None and told.place == 1 and told.matches
    assert sum(value for _, value in told.parts) == pytest.approx(told.score)
    parts = dict(told.parts)
    assert parts["Title"] > 0 and parts["Headings"] > 0 and parts["Address"] > 0
    hits = engine.search("patient safety", alias="primary").hits
    assert told.score == pytest.approx(hits[0].score, abs=0.001)
    assert explained("patient safety", Narrow(), ids[0]).place == 2


def test_each_word_is_counted_where_it_stands(ids):
    told = explained("patient safety", Narrow(), ids[1])
    counts = {word.word: dict(word.counts) for word in told.words}
    assert counts["safety"] == {
        "Title": 1, "Address": 1, "Headings": 1, "Meta tags": 1, "Links pointing here": 1, "Text": 1
    }  # fmt: skip
    assert counts["patient"]["Links pointing here"] == 0


def test_a_page_the_query_does_not_find_says_so(ids, signed_in, reader):
    told = explained("patient safety", Narrow(), ids[2])
    assert told.place is None and not told.matches and told.parts == []
    page = signed_in(reader).get(f"/search-tools/ranking/{ids[2]}/?q=patient+safety").content.decode()
    assert "This query does not find it." in page


def test_a_recommended_page_says_why_it_is_first(ids, signed_in, manager):
    services.add(Given("best_bet", "patient safety", "https://quality.example.org/2.html"))
    page = signed_in(manager).get(f"/search-tools/ranking/{ids[2]}/?q=patient+safety").content.decode()
    assert "because somebody recommended it" in page and "Recommend for this query" in page
    link = re.search(r'href="(/settings/search/\?kind=best_bet[^"]+)"', page)[1].replace("&amp;", "&")
    form = signed_in(manager).get(link).content.decode()
    assert 'value="patient safety"' in form and ">\nhttps://quality.example.org/2.html</textarea>" in form


def test_staff_find_the_link_at_every_result_and_visitors_do_not(client, ids, signed_in, reader):
    link = f"/search-tools/ranking/{ids[1]}/?q=patient+safety"
    assert link not in client.get("/search/?q=patient+safety").content.decode()
    browser = signed_in(reader)
    assert link in browser.get("/search/?q=patient+safety").content.decode()
    assert "It is number 1 of 2." in browser.get(link).content.decode()
    assert browser.get("/search-tools/ranking/99999/?q=x").status_code == 404
    for odd in ("", "?q=%00", "?q=" + "x" * 5000, "?q=-patient", "?q=type:html", "?q=a*&sort=title&page=7"):
        assert browser.get(f"/search-tools/ranking/{ids[1]}/{odd}").status_code == 200
