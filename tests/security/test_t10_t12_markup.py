"""Threats T10 and T12: whatever a site says of itself is text on our pages, and no address of it runs anything.

Stored copies (T11) are kept apart by headers; what a browser makes of all this is seen in
tests/browser/test_hostile_site.py.
"""

import re
from typing import Any

import pytest
from selectolax.lexbor import LexborHTMLParser

from clearinghouse.library.models import Document
from crawler.extract import pack_links
from crawler.findings.diagnosis import diagnose_due
from crawler.models import Event, Excursion, LedgerEntry, PageBody, PageVersion, Run
from crawler.values import Link
from crawlpoints.models import CrawlPoint
from tests.accounts.matrix import QUERIES
from tests.accounts.routes import arguments, everybody, project_one, routes
from tests.accounts.test_routes import browser, reachable

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
PAYLOADS = (
    "<script>alert(7)</script>",
    '"><img src=x onerror=alert(7)>',
    "'-alert(7)-'",
    "</title></textarea></style></script><svg onload=alert(7)>",
    "{{7*7}}{% debug %}",
    "javascript:alert(7)//",
)
ALL = "".join(PAYLOADS)
ADDRESSES = ("href", "xlink:href", "src", "action", "formaction", "hx-get", "hx-post")
SCHEMES = ("http", "https", "mailto")


@pytest.fixture
def hostile() -> tuple[dict[str, Any], dict[str, Any]]:
    """Every text that a site, or a person, can choose is a payload."""
    own, other = project_one()
    people = everybody(own, other)
    given = arguments(people, own)
    _retitle(own)
    run = Run.objects.get(pk=given["run_id"])
    excursion = Excursion.objects.get(run=run, doc_id=own.pk)
    Excursion.objects.filter(pk=excursion.pk).update(title=f"Document {ALL}", error=f"Traceback\nValueError: {ALL}")
    Run.objects.filter(pk=run.pk).update(note=ALL, requested_by=ALL[:100])
    links = pack_links([Link(f"javascript:alert(7)//{number}", ALL) for number in range(3)])
    metas = '[["author", "<script>alert(7)</script>"], ["\\"><img src=x onerror=alert(7)>", "x"]]'
    PageVersion.objects.all().update(
        title=ALL, text=ALL, metas=metas, links=links, charset=ALL[:40], content_type=ALL[:60], language=ALL[:20],
        url=f"javascript:alert(7)//{ALL}",
    )  # fmt: skip
    for entry in LedgerEntry.objects.filter(excursion=excursion):
        values = {"detail": ALL[:200], "redirect_url": f"javascript:alert(7)//{ALL}"[:2000]}
        LedgerEntry.objects.filter(pk=entry.pk).update(url=f"javascript:alert({entry.pk})//{ALL}", **values)
    Event.objects.update(text=ALL)
    CrawlPoint.objects.update(note=ALL, root=f"https://x.example/{ALL}", url=f"https://x.example/{ALL}")
    diagnose_due()
    return people, given


def _retitle(document: Document) -> None:
    sheet = document.sheet
    sheet.title, sheet.web_address = f"Document {ALL}"[:200], "javascript:alert(7)"
    sheet.save()


def test_t10_t12_no_page_holds_a_payload_as_markup_or_as_an_address(hostile: Any) -> None:
    people, given = hostile
    client = browser(people, "superuser")
    shown = 0
    for route in routes():
        if not route.name or not reachable(route):
            continue
        tabs = ("pages", "urls", "hosts", "errors", "changes", "tree", "log", "settings")
        for tab in tabs if route.name == "run-tab" else ("",):
            known = given | ({"tab": tab} if tab else {})
            response = client.get(route.path(known) + QUERIES.get(route.name, ""))
            assert response.status_code < 500, route.name
            if "html" not in response.get("Content-Type", "") or response.streaming or "sandbox" in _policy(response):
                continue
            page = response.content.decode()
            shown += "alert(7)" in page
            assert _ran(page) == [], (route.name, tab)
    assert shown > 15


def _policy(response: Any) -> str:
    return str(response.get("Content-Security-Policy", ""))


def _ran(page: str) -> list[str]:
    """What of the page came from a payload and would do something."""
    tree = LexborHTMLParser(page)
    wrong = []
    for node in tree.css("*"):
        for name, value in node.attributes.items():
            if name.startswith("on"):
                wrong.append(f"{node.tag} {name}={value}")
            if name in ADDRESSES and not _harmless(value or ""):
                wrong.append(f"{node.tag} {name}={value}")
        if node.tag in ("script", "style") and "alert" in (node.text() or ""):
            wrong.append(f"{node.tag}: {node.text()[:80]}")
    wrong += ["a template of theirs was rendered"] if re.search(r"\b49\{%|>49<", page) and "{{7*7}}" not in page else []
    return wrong


def _harmless(address: str) -> bool:
    scheme = re.match(r"\s*([a-zA-Z][a-zA-Z0-9+.-]*)\s*:", address)
    return scheme is None or scheme[1].lower() in SCHEMES


def test_the_reader_of_pages_sees_what_would_run() -> None:
    bad = ("<p onclick=alert(7)>", '<a href=" javascript:alert(7)">', "<script>alert(7)</script>", "<a href=data:x,y>")
    assert all(_ran(f"<body>{one}</body>") for one in bad)
    assert not _ran("<body><a href='/crawls/1/?q=javascript:alert(7)'>&lt;script>alert(7)</a></body>")


@pytest.mark.parametrize("kind", ["text/html", "image/svg+xml", "application/xhtml+xml", "text/xml", "text/javascript"])
def test_t11_a_stored_copy_is_shut_in_whatever_it_calls_itself(hostile: Any, kind: str) -> None:
    people, given = hostile
    polyglot = (
        b"<?xml version='1.0'?><svg xmlns='http://www.w3.org/2000/svg' onload='alert(7)'><script>alert(7)</script>"
    )
    PageVersion.objects.update(content_type=kind)
    PageBody.objects.update(content=polyglot)
    client = browser(people, "administrator")
    for name in ("run-page-copy", "search-cached"):
        route = next(one for one in routes() if one.name == name)
        response = client.get(route.path(given))
        assert response.status_code == 200, name
        policy = _policy(response)
        assert "sandbox" in policy and "default-src 'none'" in policy and "allow-" not in policy, (name, policy)
        assert "script-src" not in policy and response["X-Content-Type-Options"] == "nosniff"
        assert response["Referrer-Policy"] == "no-referrer"
        assert response["Cross-Origin-Resource-Policy"] == "same-origin"
        assert response["Content-Type"].split(";")[0] in ("text/html", "text/plain"), (name, response["Content-Type"])
