"""What the public page offers beside results: corrections, ways on, more of a facet, feeds, the advanced form."""

import json
import re
from xml.etree import ElementTree

import pytest
from django.db import OperationalError, connections, transaction
from django.http import QueryDict

from clearinghouse.published.models import LexiconWord
from clearinghouse.search import statement_timeout
from clearinghouse.search.query import parse
from clearinghouse.search.views.advanced_search import query_of

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
ATOM = "{http://www.w3.org/2005/Atom}"
PAGES = [
    {"title": "Patient safety indicators", "text": "hospital safety indicator rates", "doc_id": 1},
    {"title": "Hospital quality", "text": "hospital quality", "doc_id": 2, "url": "https://b.example.org/x.html"},
]
TITLES = {1: ("Measures", "Quality"), 2: ("Guideline", "Guidelines")}


@pytest.fixture
def pages(db) -> list[int]:
    words = {"hospital": 2, "safety": 1, "indicator": 1, "indicators": 1, "quality": 1, "rates": 1, "patient": 1}
    LexiconWord.objects.using("primary").bulk_create([LexiconWord(word=w, pages=n) for w, n in words.items()])
    return publish("primary", PAGES, titles=TITLES)


def page(client, address: str) -> str:
    answer = client.get(address)
    assert answer.status_code == 200
    return answer.content.decode()


def test_a_word_no_page_contains_is_left_out_and_a_near_one_offered(client, pages):
    text = page(client, "/search/?q=hospital+indicater&project=Quality")
    assert "No page contains <strong>indicater</strong>, so it was left out." in text
    assert 'Did you mean <a href="?q=hospital+indicator&amp;project=Quality">hospital indicator</a>?' in text
    assert "That finds 1 page." in text
    assert "Searched for: <strong>hospital</strong>" in text
    assert "<strong>1 page</strong>" in text


def test_a_single_misspelt_word_finds_nothing_and_is_corrected(client, pages):
    text = page(client, "/search/?q=hopsital")
    assert "No page contains <strong>hopsital</strong>." in text and "Did you mean" in text
    assert "No page was found" in text and "Check the spelling" in text


def test_words_that_are_known_but_never_together_are_not_called_misspelt(client, pages):
    text = page(client, "/search/?q=indicator+quality")
    assert "Did you mean" not in text and "No page contains" not in text


def test_ways_on_are_a_word_less_a_filter_less_all_projects_and_people(client, pages, monkeypatch):
    monkeypatch.setenv("CLEARINGHOUSE_SEARCH_CONTACT", "library@example.org")
    text = page(client, "/search/?q=quality&project=Quality&type=pdf")
    assert '<a href="?q=quality&amp;type=pdf">Search all projects</a>' in text
    assert '<a href="?q=quality&amp;project=Quality">Search all types</a>' in text
    assert '<a href="mailto:library@example.org">library@example.org</a>' in text
    monkeypatch.setenv("CLEARINGHOUSE_SEARCH_CONTACT", "javascript:alert(1)")
    assert "javascript:" not in page(client, "/search/?q=zzz")


def test_a_correction_of_the_query_is_said(client, pages):
    assert "Searched for: <strong>&quot;hospital&quot;</strong>" in page(client, "/search/?q=%22hospital")
    assert "Searched for" not in page(client, "/search/?q=hospital")


def test_a_long_facet_says_how_many_are_left_and_lists_them(client, db):
    publish("primary", [{"title": "x", "text": "word", "url": f"https://s{n}.example.org/"} for n in range(10)])
    text = page(client, "/search/?q=word")
    assert '<a href="?q=word&amp;more=site">4 more<span class="vh"> of Site</span></a>' in text
    whole = page(client, "/search/?q=word&more=site")
    assert whole.count('class="facet"') == text.count('class="facet"')
    assert len(re.findall(r"site=s\d", whole)) == 10 and '<details class="side card" open>' in whole
    chosen = page(client, "/search/?q=word&site=s9.example.org")
    assert 'aria-current="true">s9.example.org' in chosen


def test_suggestions_are_json_for_browsers_and_kept_by_caches(client, pages):
    answer = client.get("/search/suggest?q=hospital+saf")
    assert answer["Content-Type"] == "application/x-suggestions+json"
    assert json.loads(answer.content) == ["hospital saf", ["hospital safety"]]
    assert answer["Cache-Control"] == "public, max-age=300"
    for odd in ("", "x", "%00", "%ff%fe", "a" * 5000, "%22", "ho%20"):
        assert client.get(f"/search/suggest?q={odd}").status_code == 200
    text = page(client, "/search/")
    assert 'list="q-words"' in text and 'data-from="/search/suggest"' in text
    description = client.get("/search/opensearch.xml").content.decode()
    assert (
        'type="application/x-suggestions+json" template="http://testserver/search/suggest?q={searchTerms}"'
        in description
    )


def test_a_search_is_a_feed_of_its_newest_pages(client, pages):
    answer = client.get("/search/feed.atom?q=hospital&project=Guidelines")
    assert answer["Content-Type"].startswith("application/atom+xml")
    feed = ElementTree.fromstring(answer.content)
    assert [entry.findtext(f"{ATOM}title") for entry in feed.iter(f"{ATOM}entry")] == ["Hospital quality"]
    assert feed.findtext(f"{ATOM}updated").startswith("2026-11-12")
    both = ElementTree.fromstring(client.get("/search/feed.atom?q=hospital").content)
    assert len(list(both.iter(f"{ATOM}entry"))) == 2
    nothing = ElementTree.fromstring(client.get("/search/feed.atom?q=hospital+indicater").content)
    assert list(nothing.iter(f"{ATOM}entry")) == []  # not those of a query that was not asked
    assert 'type="application/atom+xml" href="/search/feed.atom?q=hospital"' in page(client, "/search/?q=hospital")


@pytest.mark.parametrize("text", ["%00", "%ff", "<b>&amp;]]>", "%08%0b%1b", "%ef%bf%be", "a%ed%a0%80"])
def test_a_feed_of_any_text_is_xml(client, pages, text):
    ElementTree.fromstring(client.get(f"/search/feed.atom?q=hospital+{text}").content)


def test_the_advanced_form_writes_the_query_language(client, pages):
    fields = {
        "all": "hospital quality", "phrase": "patient safety", "any": "rate score", "none": "nursing -old",
        "title": "list", "type": "pdf", "site": "example.gov", "document": "Measures of quality", "project": "NQMC",
        "after": "2026-01-02", "before": "soon", "go": "1",
    }  # fmt: skip
    wanted = (
        'hospital quality "patient safety" rate OR score -nursing -old title:list type:pdf site:"example.gov" '
        'document:"Measures of quality" project:"NQMC" after:2026-01-02'
    )
    data = QueryDict(mutable=True)
    data.update(fields)
    assert query_of(data) == wanted
    assert parse(wanted).notes == ()
    answer = client.get("/search/advanced/", fields)
    assert answer.status_code == 302 and answer["Location"].startswith("/search/?q=hospital+quality+")
    empty = page(client, "/search/advanced/?go=1")
    assert "Enter something to search for" in empty
    assert 'href="/search/advanced/"' in page(client, "/search/")


@pytest.mark.parametrize("text", ['"', "OR", "|", "-", "title:", "\x00", "x" * 5000, "((("])
def test_no_entry_of_the_advanced_form_breaks_its_query(client, pages, text):
    for name in ("all", "phrase", "any", "none", "title", "site", "document", "after"):
        answer = client.get("/search/advanced/", {name: text, "go": "1"}, follow=True)
        assert answer.status_code == 200, name


def test_a_question_that_takes_too_long_is_given_up(pages):
    with (
        pytest.raises(OperationalError),
        statement_timeout.limited("primary", 0.05),
        transaction.atomic(using="primary"),
    ):
        connections["primary"].cursor().execute(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n) SELECT max(x) FROM n"
        )
    with statement_timeout.limited("primary", 0.0):
        pass
    with connections["primary"].cursor() as cursor:
        cursor.execute(
            "WITH RECURSIVE n(x) AS (SELECT 1 UNION ALL SELECT x + 1 FROM n WHERE x < 90000) SELECT max(x) FROM n"
        )
        assert cursor.fetchone() == (90000,)


def test_a_search_that_took_too_long_says_so(client, pages):
    def late(execute, sql, *rest):
        if "published_index" in sql:
            raise OperationalError("interrupted")
        return execute(sql, *rest)

    with connections["primary"].execute_wrapper(late):
        answer = client.get("/search/?q=hospital")
        assert answer.status_code == 503 and "does not answer" in answer.content.decode()
        assert client.get("/search/feed.atom?q=hospital").status_code == 503
