"""The public pages of search: for everybody, with any text, without showing anything but what is live."""

import json
import os
import re
from contextlib import ExitStack
from pathlib import Path
from urllib.parse import urlsplit

import pytest
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from selectolax.lexbor import LexborHTMLParser

from clearinghouse.published.models import LiveGeneration, PublicSwitch, PublishedInterval
from clearinghouse.published.types import PDF, TEXT
from tests.proves import proves
from tests.requirements import need

from .library import publish

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

EVIL = '<script>alert("page")</script>'
DATA = "https://data.example.org"
PAGES = [
    {"title": f"Handover {EVIL}", "text": f"Safe handover {EVIL} text", "body": b"<html><body><p>copy</p>"},
    {"title": "A report", "text": "handover report", "type_id": PDF, "url": f"{DATA}/a.pdf", "body": b"%PDF"},
    {"title": "Notes", "text": "handover notes", "type_id": TEXT, "url": f"{DATA}/n.txt", "body": b"<b>x</b>"},
    {"title": "Odd", "text": "handover odd", "url": "javascript:alert(1)//x/y"},
]


@pytest.fixture
def ids(db) -> list[int]:
    return publish("primary", PAGES)


def page(client: Client, address: str) -> str:
    response = client.get(address)
    assert response.status_code == 200
    return response.content.decode()


def test_a_visitor_searches_without_signing_in(client, ids):
    text = page(client, "/search/?q=handover+notes")
    assert "<strong>1 page</strong>" in text
    assert "<mark>handover notes</mark>" in text
    assert "index of" in text
    front = page(client, "/search/")
    assert front.count("<form") == 1 and '<a href="/help/search/">Help</a>' in front


def test_a_record_names_the_language(client, db):
    (number,) = publish("primary", [PAGES[0] | {"language": "de"}])
    assert "<dd>German</dd>" in page(client, f"/search/result/{number}/")


def test_a_record_shows_headings_without_the_signs_that_link_to_them(client, db):
    (number,) = publish("primary", [PAGES[0] | {"headings": "Examples¶\nNotes¶"}])
    assert "<li>Examples</li><li>Notes</li>" in page(client, f"/search/result/{number}/")


def test_nothing_of_a_page_is_markup_on_ours(client, ids):
    text = page(client, "/search/?q=handover")
    assert EVIL not in text
    assert "&lt;script&gt;" in text
    assert 'href="javascript:' not in text
    record = page(client, f"/search/result/{ids[0]}/")
    assert EVIL not in record
    assert 'href="javascript:' not in page(client, f"/search/result/{ids[3]}/")


def test_facets_narrow_and_chips_take_them_away(client, ids):
    text = page(client, "/search/?q=handover&site=data.example.org&type=pdf")
    assert "<strong>1 page</strong>" in text
    assert 'href="?q=handover&amp;type=pdf"' in text  # without the site
    assert 'href="?q=handover&amp;site=data.example.org"' in text


def test_a_search_that_finds_nothing_offers_ways_on(client, ids):
    text = page(client, "/search/?q=dragons+unicorns&site=data.example.org")
    assert "No page was found" in text
    assert "Search again without the filters" in text
    assert "Leave out <strong>unicorns</strong>" in text


def test_the_page_says_what_was_changed(client, ids):
    text = page(client, "/search/?q=%22handover+notes")
    assert "A quotation mark was missing and has been closed." in text


@proves("J6")
def test_no_text_and_no_address_makes_an_error_page(client, ids):
    folder = os.environ.get("CLEARINGHOUSE_VECTORS", "")
    need("vectors", bool(folder), "CLEARINGHOUSE_VECTORS is not set")
    texts = json.loads((Path(folder) / "naughty-strings" / "blns.json").read_text())
    texts += ["\x00", "AND (", '"' * 9, "x" * 10_000, "OR OR", "NEAR/2", "col:*", "😀 OR *", "a* b* -c*"]
    for number, text in enumerate(texts):
        others = ("site", "project", "document", "type", "sort", "page")
        for name in ("q", others[number % len(others)]):
            values = {"q": "handover", name: text}
            assert client.get("/search/", values).status_code == 200, values


def test_other_pages_of_results(client, db):
    publish("primary", [{"title": f"Page {n}", "text": "same words"} for n in range(25)])
    assert page(client, "/search/?q=words&page=3").count('<li class="result">') == 5
    assert "There is no page 9" in page(client, "/search/?q=words&page=9")


@proves("J5")
@pytest.mark.parametrize(("number", "kind"), [(0, "text/html"), (1, "application/octet-stream"), (2, "text/plain")])
def test_a_cached_copy_can_do_nothing_on_our_site(client, ids, number, kind):
    response = client.get(f"/search/cached/{ids[number]}/")
    assert response.headers["Content-Type"].startswith(kind)
    policy = "sandbox; default-src 'none'; style-src 'unsafe-inline'; img-src data:"
    assert response.headers["Content-Security-Policy"] == policy
    assert response.headers["X-Content-Type-Options"] == "nosniff"
    assert response.headers["Referrer-Policy"] == "no-referrer"
    assert response.headers["X-Robots-Tag"] == "noindex"
    if number == 0:
        assert b"Copy stored on 12 Nov 2026 from https://quality.example.org/0.html." in response.content
    if number == 1:
        assert response.headers["Content-Disposition"] == f'attachment; filename="page-{ids[1]}.pdf"'


def test_a_cached_copy_leads_back_to_the_search_and_to_the_record(client, ids):
    asked = "?q=handover&sort=newest"
    shown = LexborHTMLParser(page(client, f"/search/{asked}"))
    links = [link.attributes["href"] for link in shown.css("a.copy")]
    copy, record = f"/search/cached/{ids[0]}/{asked}", f"/search/result/{ids[0]}/{asked}"
    assert copy in links and record in links
    ways = LexborHTMLParser(page(client, copy)).css("body > div:first-of-type a")
    # Whole addresses: the base of the page makes others of the rest.
    assert [(link.text(), link.attributes["href"]) for link in ways] == [
        ("Back to the results", f"http://testserver/search/{asked}"), ("Record of this page", f"http://testserver{record}")
    ]  # fmt: skip
    back = [link.attributes["href"] for link in LexborHTMLParser(page(client, record)).css("main a")]
    assert f"/search/{asked}" in back and copy in back


def test_the_way_back_leads_to_our_search_whatever_the_address_says(client, ids):
    odd = "next=//evil.example&q=%22%3E%3Cscript%3E&page=999999999999999999999&site=https://evil.example/"
    (results, record) = LexborHTMLParser(page(client, f"/search/cached/{ids[0]}/?{odd}")).css("div:first-of-type a")
    for link, path in ((results, "/search/"), (record, f"/search/result/{ids[0]}/")):
        address = urlsplit(link.attributes["href"])
        assert address[:3] == ("http", "testserver", path) and "next" not in address.query
    (only,) = LexborHTMLParser(page(client, f"/search/cached/{ids[0]}/")).css("div:first-of-type a")
    assert only.attributes["href"] == f"http://testserver/search/result/{ids[0]}/"


def test_pages_of_other_generations_are_not_there(client, ids):
    PublishedInterval.objects.using("primary").filter(published_id=ids[0]).update(gen_to=1)
    for kind in ("result", "cached"):
        assert client.get(f"/search/{kind}/{ids[0]}/").status_code == 404
        assert client.get(f"/search/{kind}/999999999/").status_code == 404


def test_the_public_follows_the_switch(client, ids):
    publish("backup", [{"title": "From backup", "text": "handover"}])
    PublicSwitch.objects.using("webcrawl").update_or_create(id=1, defaults={"serving": "backup"})
    assert "From backup" in page(client, "/search/?q=handover")


def test_public_pages_never_ask_the_doc_library(client, ids):
    def refuse(execute, sql, *rest):
        raise AssertionError(f"a public page asked content development: {sql}")

    with connections["default"].execute_wrapper(refuse):
        page(client, "/search/?q=handover")
        page(client, f"/search/result/{ids[0]}/")
        assert client.get(f"/search/cached/{ids[0]}/").status_code == 200


def queries_of(client: Client, address: str) -> dict[str, int]:
    with ExitStack() as looking:
        seen = {alias: looking.enter_context(CaptureQueriesContext(connections[alias])) for alias in connections}
        page(client, address)
    return {alias: len(found) for alias, found in seen.items()}


def test_who_is_signed_in_keeps_the_navigation(client, ids, signed_in, administrator):
    """It costs no question more than knowing who asks; the public has none, and gets no cookie."""
    staff = signed_in(administrator)
    nav = 'aria-label="Main"'
    page(client, "/search/?q=handover")  # what is kept is kept
    public = queries_of(client, "/search/?q=handover")
    assert public["default"] == 0
    assert queries_of(staff, "/search/?q=handover") == public | {"default": 2}  # the session, the person
    for path in ("/search/", "/search/advanced/", f"/search/result/{ids[0]}/"):
        text = page(staff, path)
        assert nav in text and 'href="/crawls/"' in text and text.count('role="search"') <= 1
        assert nav not in page(client, path) and not client.cookies


def test_a_search_costs_the_same_queries_for_twice_the_pages(client, db, django_assert_max_num_queries):
    publish("primary", [{"title": f"Page {n}", "text": "same words"} for n in range(40)])
    limits = 2 if connections["primary"].vendor == "postgresql" else 0  # it is told how long a question may take
    with django_assert_max_num_queries(10 + limits, connection=connections["primary"]):
        page(client, "/search/?q=words")


def test_before_anything_is_published_it_says_so(client, db):
    LiveGeneration.objects.using("primary").all().delete()
    assert "Nothing has been published yet." in page(client, "/search/?q=anything")


def test_browsers_can_add_this_search(client, db):
    response = client.get("/search/opensearch.xml")
    assert response.headers["Content-Type"] == "application/opensearchdescription+xml"
    assert re.search(r'template="http://testserver/search/\?q=\{searchTerms\}"', response.content.decode())
    assert "opensearch.xml" in page(client, "/search/")


def test_searching_changes_nothing(client, ids):
    assert client.post("/search/").status_code == 405
