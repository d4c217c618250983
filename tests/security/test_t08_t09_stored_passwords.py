"""Threats T8 and T9: whoever edits a crawl point cannot have its stored password sent to a server of their own."""

import base64
from collections.abc import Callable, Iterator
from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client
from django.urls import reverse

from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawler.models import LedgerEntry, Run
from crawlpoints import services
from crawlpoints.models import CrawlPoint
from crawlpoints.queries import password_of, points_of
from tests.crawler.conftest import crawl
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
ENTRIES = {"depth": "1", "auth_type": "1", "login": "reader", "active": "on", "excludes": "", "excludes_opened": "[]"}
NO_PASSWORD = "Basic " + base64.b64encode(b"reader:").decode()  # the user ID as somebody typed it, and nothing else


@pytest.fixture
def theirs() -> Iterator[Site]:
    """The server of somebody who wants the password; it asks for one."""
    asks = Page(status=401, headers={"WWW-Authenticate": 'Basic realm="give it to me"'})
    with serve({"/": asks, "/sign-in": asks}) as site:
        yield site


@pytest.fixture
def point(document: Document) -> CrawlPoint:
    url = "https://quality.example.gov/private/"
    values = {"url": url, "root": url, "auth_type": 1, "login": "reader", "password": "swordfish"}
    return services.add_crawl_point(document, values)[0]


def sent(site: Site) -> list[str]:
    return [headers["authorization"] for _, headers in site.seen if headers.get("authorization")]


def save(browser: Client, document: Document, point: CrawlPoint, **entries: Any) -> Any:
    given = ENTRIES | {"version": str(point.version), "do": "save"} | entries
    return browser.post(reverse("crawl-point-edit", args=[document.pk, point.pk]), given)


def test_t8_another_address_loses_the_password_and_the_crawl_sends_none(
    signed_in: Callable[[Any], Client], editor: Any, document: Document, point: CrawlPoint, theirs: Site
) -> None:
    assert save(signed_in(editor), document, point, url=theirs.url("/"), root=theirs.url("/")).status_code == 302
    point.refresh_from_db()
    assert point.url == theirs.url("/") and password_of(point) == ""
    run: Run = crawl(document)
    assert theirs.requests["/"] and set(sent(theirs)) <= {NO_PASSWORD}
    assert LedgerEntry.objects.get(excursion__run=run, url=theirs.url("/")).reason in ("auth_required", "auth_failed")


def test_t8_nor_does_a_program_or_a_copy_or_a_row_edited_in_the_database_take_it_there(
    program: Any, editor: Any, document: Document, point: CrawlPoint, theirs: Site
) -> None:
    second = library.add_document("Second", project=document.sheet.project.name)
    library.assign(second, editor)
    address = f"documents/{document.pk}/crawl-points/"
    program(editor).ask("POST", f"{address}copy/", {"crawl_points": [point.pk], "document": second.pk})
    copied = points_of(second).get()
    assert password_of(copied) == ""
    change = {"version": point.version, "url": theirs.url("/"), "root": theirs.url("/")}
    assert program(editor).ask("PATCH", f"{address}{point.pk}/", change)[0] == 200
    point.refresh_from_db()
    assert password_of(point) == ""
    services.update_crawl_point(point, {"url": "https://a.example/", "root": "https://a.example/", "password": "x"})
    CrawlPoint.objects.filter(pk=point.pk).update(url=theirs.url("/"), root=theirs.url("/"))
    crawl(document)
    assert set(sent(theirs)) <= {NO_PASSWORD}


def test_t9_test_sign_in_sends_the_saved_password_only_where_it_was_saved_for(
    signed_in: Callable[[Any], Client], editor: Any, document: Document, point: CrawlPoint, theirs: Site
) -> None:
    entries = {"url": theirs.url("/"), "root": theirs.url("/"), "do": "sign_in"}
    response = save(signed_in(editor), document, point, **entries)
    assert "save first" in response.content.decode() and not theirs.seen
    form = {"auth_type": "4", "sign_in_url": theirs.url("/sign-in"), "sign_in_user_field": "u"}
    entries = {"url": point.url, "root": point.root, "sign_in_password_field": "p", **form, "do": "sign_in"}
    assert "save first" in save(signed_in(editor), document, point, **entries).content.decode()
    assert not theirs.seen


def test_t9_sign_ins_are_tried_a_few_times_only(
    signed_in: Callable[[Any], Client], editor: Any, document: Document, point: CrawlPoint, theirs: Site
) -> None:
    """Nobody guesses passwords of a site through us, and nobody is locked out there because of us."""
    cache.clear()
    browser = signed_in(editor)
    entries = {"url": theirs.url("/"), "root": theirs.url("/"), "do": "sign_in"}
    for number in range(10):
        page = save(browser, document, point, password=f"guess {number}", **entries).content.decode()
        assert "Too many tries" not in page
    asked = len(theirs.seen)
    assert "Too many tries" in save(browser, document, point, password="one more", **entries).content.decode()
    assert len(theirs.seen) == asked >= 10
    cache.clear()
