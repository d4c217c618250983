"""Crawl points, links and exclude URLs in Django's admin: the panel's checks, the panel's services."""

import base64
import re
from typing import Any
from urllib.parse import quote

import pytest
from django.db import connection
from django.test import Client

from clearinghouse.audit.models import Entry
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawlpoints import queries, services
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl

pytestmark = pytest.mark.django_db(databases="__all__")
BASE = "/settings/admin/crawlpoints/"
CANARY = "C4n4ry-päss word"


@pytest.fixture
def browser(signed_in: Any, administrator: Any) -> Client:
    return signed_in(administrator)


def entries(**changed: Any) -> dict[str, Any]:
    return {
        "url": "https://ex.gov/measures/list.html",
        "root": "https://ex.gov/measures/",
        "depth": "3",
        "max_pages": "500",
        "auth_type": "0",
        "active": "on",
        "drop_sessions": "on",
        "stop_traps": "on",
    } | changed


@pytest.fixture
def point(document: Document) -> CrawlPoint:
    values = entries(auth_type=1, login="reader", password=CANARY)
    return services.add_crawl_point(document, values)[0]


def form_of(point: CrawlPoint, **changed: Any) -> dict[str, Any]:
    point = CrawlPoint.everything.get(pk=point.pk)
    return entries(auth_type="1", login="reader", seen_version=point.version, **changed)


def change_page(point: CrawlPoint) -> str:
    return f"{BASE}crawlpoint/{point.pk}/change/"


def test_a_crawl_point_is_added_as_the_panel_adds_it(browser: Client, document: Document) -> None:
    response = browser.post(f"{BASE}crawlpoint/add/", entries(document=document.pk))
    assert response.status_code == 302
    point = queries.points_of(document).get()
    assert (point.depth, point.max_pages, point.updated_by) == (3, 500, "administrator")
    assert point.key == services.point_key(document.pk, point.url, point.root)
    assert queries.document_of(point) == document
    assert Entry.objects.filter(kind="crawlpoint", action="add", document_id=document.pk).exists()


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"url": ""}, "Enter the URL where the crawl starts"),
        ({"url": "ftp://ex.gov/"}, "ftp addresses cannot be crawled"),
        ({"url": "https://u:p@ex.gov/measures/"}, "Take the user name and password out of the URL"),
        ({"root": "https://other.gov/"}, "The URL does not begin with this root string"),
        ({"depth": "1000"}, "Depth limit must be between 0 and 999"),
        ({"auth_type": "1"}, "Enter the user ID for Basic authentication"),
        ({"document": ""}, "Choose a document"),
    ],
)
def test_the_checks_are_those_of_the_panel(
    browser: Client, document: Document, changed: dict[str, str], message: str
) -> None:
    response = browser.post(f"{BASE}crawlpoint/add/", entries(document=document.pk) | changed)
    assert response.status_code == 200
    assert message in response.content.decode()
    assert not CrawlPoint.everything.exists()


def test_the_same_crawl_point_twice_is_refused(browser: Client, document: Document, point: CrawlPoint) -> None:
    response = browser.post(f"{BASE}crawlpoint/add/", entries(document=document.pk))
    assert "already has this crawl point" in response.content.decode()
    assert CrawlPoint.everything.count() == 1


def test_the_password_is_write_only(browser: Client, point: CrawlPoint) -> None:
    seen = [browser.get(change_page(point)).content.decode()]
    assert "A password is saved" in seen[0]
    failed = browser.post(change_page(point), form_of(point, url="", new_password=CANARY))
    seen.append(failed.content.decode())
    browser.post(change_page(point), form_of(point, new_password=CANARY + "2"))
    assert queries.password_of(CrawlPoint.objects.get()) == CANARY + "2"
    conflict = browser.post(change_page(point), form_of(point, note="x", new_password=CANARY) | {"seen_version": 1})
    assert conflict.status_code == 409
    seen += [conflict.content.decode(), browser.get(f"{BASE}crawlpoint/").content.decode()]
    seen += [str(list(Entry.objects.values())), _all_rows()]
    for form in (CANARY, quote(CANARY), base64.b64encode(CANARY.encode()).decode()):
        assert not any(form in text for text in seen)


def _all_rows() -> str:
    with connection.cursor() as cursor:
        tables = connection.introspection.table_names(cursor)
        rows = []
        for table in tables:
            cursor.execute(f'SELECT * FROM "{table}"')
            rows.append(str(cursor.fetchall()))
    return "".join(rows)


def test_saving_without_a_password_keeps_the_saved_one(browser: Client, point: CrawlPoint) -> None:
    assert browser.post(change_page(point), form_of(point, note="Changed")).status_code == 302
    assert queries.password_of(CrawlPoint.objects.get()) == CANARY


def test_the_boxes_show_what_is_stored(browser: Client, point: CrawlPoint) -> None:
    page = browser.get(change_page(point)).content.decode()
    ticked = set(re.findall(r'name="(\w+)"[^>]* checked', page))
    assert ticked == {"active", "drop_sessions", "stop_traps"}
    assert (
        set(re.findall(r'name="(\w+)"[^>]* checked', browser.get(f"{BASE}crawlpoint/add/").content.decode())) == ticked
    )


def test_another_site_clears_the_password(browser: Client, point: CrawlPoint) -> None:
    moved = form_of(point, url="https://evil.example/", root="https://evil.example/")
    browser.post(change_page(point), moved | {"new_password": ""})
    assert not CrawlPoint.objects.get().password


def test_forgetting_the_password_leaves_none(browser: Client, point: CrawlPoint) -> None:
    browser.post(change_page(point), form_of(point, forget_password="on"))
    assert not CrawlPoint.objects.get().password


def test_a_cipher_cannot_be_written_from_a_form(browser: Client, point: CrawlPoint) -> None:
    before = point.password
    browser.post(change_page(point), form_of(point, password="sealed:AAAA", key="x", note="n"))
    found = CrawlPoint.objects.get()
    assert found.note == "n"
    assert found.password == before
    assert found.key == point.key


def test_delete_and_restore_take_the_link_along(browser: Client, document: Document, point: CrawlPoint) -> None:
    browser.post(f"{BASE}crawlpoint/{point.pk}/delete/", {"post": "yes"})
    assert not queries.points_of(document).exists()
    assert not CrawlPointLink.objects.exists()
    assert browser.get(change_page(point)).status_code == 200
    chosen = {"action": "restore_selected", "_selected_action": [point.pk]}
    browser.post(f"{BASE}crawlpoint/?deleted=only", chosen)
    assert queries.points_of(document).get() == point


def test_a_restore_that_would_make_a_twin_says_so(browser: Client, document: Document, point: CrawlPoint) -> None:
    services.delete_crawl_point(point)
    services.add_crawl_point(document, entries())
    chosen = {"action": "restore_selected", "_selected_action": [point.pk]}
    page = browser.post(f"{BASE}crawlpoint/?deleted=only", chosen, follow=True).content.decode()
    assert "added again meanwhile" in page
    assert queries.points_of(document).count() == 1


def test_deleting_a_link_deletes_its_crawl_point_and_restoring_brings_both_back(
    browser: Client, document: Document, point: CrawlPoint
) -> None:
    link = CrawlPointLink.objects.get()
    browser.post(f"{BASE}crawlpointlink/{link.pk}/delete/", {"post": "yes"})
    assert CrawlPoint.everything.get().deleted == 1
    chosen = {"action": "restore_selected", "_selected_action": [link.pk]}
    browser.post(f"{BASE}crawlpointlink/?deleted=only", chosen)
    assert queries.points_of(document).get() == point


def test_moving_a_crawl_point_to_another_document_takes_its_key_along(
    browser: Client, document: Document, other_document: Document, point: CrawlPoint
) -> None:
    link = CrawlPointLink.objects.get()
    given = {"document": other_document.pk, "field": "", "crawl_point": point.pk, "seen_version": link.version}
    assert browser.post(f"{BASE}crawlpointlink/{link.pk}/change/", given).status_code == 302
    moved = queries.points_of(other_document).get()
    assert moved.key == services.point_key(other_document.pk, moved.url, moved.root)
    link.refresh_from_db()
    assert link.field == library.crawl_point_field(other_document)


def test_a_crawl_point_of_another_program_is_linked_first(browser: Client, document: Document) -> None:
    orphan = CrawlPoint.objects.create(url="https://ex.gov/", root="https://ex.gov/")
    response = browser.post(change_page(orphan), entries(seen_version=1))
    assert "Link it to a document first" in response.content.decode()
    given = {"document": document.pk, "crawl_point": orphan.pk}
    assert browser.post(f"{BASE}crawlpointlink/add/", given).status_code == 302
    assert queries.points_of(document).get() == orphan
    again = browser.post(f"{BASE}crawlpointlink/add/", given)
    assert "belongs to a document already" in again.content.decode()


def test_exclude_urls_are_added_and_deleted_as_in_the_panel(browser: Client, document: Document) -> None:
    given = {"document": document.pk, "pattern": "https://ex.gov/measures/print/*"}
    assert browser.post(f"{BASE}excludeurl/add/", given).status_code == 302
    assert "already in the list" in browser.post(f"{BASE}excludeurl/add/", given).content.decode()
    exclude = ExcludeUrl.objects.get()
    assert browser.post(f"{BASE}excludeurl/{exclude.pk}/change/", given).status_code == 403
    browser.post(f"{BASE}excludeurl/{exclude.pk}/delete/", {"post": "yes"})
    assert not ExcludeUrl.objects.exists()
    chosen = {"action": "restore_selected", "_selected_action": [exclude.pk]}
    browser.post(f"{BASE}excludeurl/?deleted=only", chosen)
    assert ExcludeUrl.objects.get() == exclude
