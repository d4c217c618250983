"""Django's admin over the library: administrators only, nothing really deleted, nothing overwritten."""

import re
from typing import Any

import pytest
from django.contrib import admin
from django.contrib.auth import get_user_model
from django.db import connection
from django.test import Client
from django.test.utils import CaptureQueriesContext

from clearinghouse.audit.models import Entry
from clearinghouse.library import services
from clearinghouse.library.models import Document, DocumentStatus, Field, Project, Sheet

pytestmark = pytest.mark.django_db(databases="__all__")
BASE = "/settings/admin/"
TABLES = {
    "library.document", "library.documentstatus", "library.field", "library.fieldtype", "library.project",
    "crawlpoints.crawlpoint", "crawlpoints.crawlpointlink", "crawlpoints.excludeurl",
    "access.person", "audit.entry",
}  # fmt: skip


@pytest.fixture
def browser(signed_in: Any, administrator: Any) -> Client:
    return signed_in(administrator)


def test_the_tables_of_the_dictionary_are_there_and_nothing_that_passes_by_our_rules(browser: Client) -> None:
    assert {model._meta.label_lower for model in admin.site._registry} == TABLES
    page = browser.get(BASE).content.decode()
    assert "Crawl points" in page
    for label in TABLES:
        assert browser.get(BASE + label.replace(".", "/") + "/").status_code == 200, label


def test_only_administrators_enter(client: Client, signed_in: Any, editor: Any, reader: Any, manager: Any) -> None:
    staff = get_user_model().objects.create_user("staff", is_staff=True)
    for path in (BASE, f"{BASE}library/document/", f"{BASE}library/document/add/", f"{BASE}login/"):
        assert client.get(path).url.startswith("/sign-in/")
        for user in (editor, reader, manager):
            response = signed_in(user).get(path)
            assert response.status_code == 403, (user, path)
            assert "Who can grant it" in response.content.decode()
            assert signed_in(user).post(path, {"username": "x", "password": "y"}).status_code == 403
        assert signed_in(staff).get(path).status_code == 404


def test_there_is_no_second_door_without_a_throttle(browser: Client) -> None:
    assert browser.get(f"{BASE}login/").url == BASE
    assert browser.get(f"{BASE}password_change/").url == "/me/password/"
    assert browser.get(f"{BASE}auth/user/").status_code == 404


def entries(document: Document, **changed: Any) -> dict[str, Any]:
    document = Document.everything.get(pk=document.pk)
    return {
        "title": document.title,
        "project": document.sheet.project_id or "",
        "public": "on",
        "seen_version": document.version,
    } | changed


def change_page(thing: Any) -> str:
    return f"{BASE}{thing._meta.app_label}/{thing._meta.model_name}/{thing.pk}/change/"


def test_a_document_is_added_and_changed_through_the_services(browser: Client, project: Project) -> None:
    browser.post(f"{BASE}library/document/add/", {"title": "Stroke", "project": project.pk, "public": "on"})
    document = Document.objects.get()
    assert (document.title, document.sheet.project, document.updated_by) == ("Stroke", project, "administrator")
    assert Field.objects.filter(document=document).exists()
    response = browser.post(change_page(document), entries(document, title="Renamed"))
    assert response.status_code == 302
    assert Document.objects.get().title == "Renamed"
    assert [entry.action for entry in Entry.objects.filter(kind="document")] == ["change", "add"]


def test_a_stale_save_shows_both_versions_and_can_be_sent_again(browser: Client, document: Document) -> None:
    mine = entries(document, title="Mine")
    browser.post(change_page(document), entries(document, title="Theirs"))
    response = browser.post(change_page(document), mine)
    page = response.content.decode()
    assert response.status_code == 409
    assert "<td>Theirs</td><td>Mine</td>" in page
    assert Sheet.objects.get().title == "Theirs"
    version = Document.objects.get().version
    assert f'name="seen_version" hidden>\n{version}</textarea>' in page
    assert browser.post(change_page(document), mine | {"seen_version": version}).status_code == 302
    assert Sheet.objects.get().title == "Mine"


def test_a_stale_save_of_a_plain_table_is_a_conflict_too(browser: Client) -> None:
    status = DocumentStatus.objects.create(name="Odd")
    mine = {"name": "Mine", "seen_version": status.version}
    browser.post(change_page(status), mine | {"name": "Theirs"})
    response = browser.post(change_page(status), mine)
    assert response.status_code == 409
    assert "<td>Theirs</td><td>Mine</td>" in response.content.decode()
    assert DocumentStatus.objects.get(pk=status.pk).name == "Theirs"
    entry = Entry.objects.get(kind="documentstatus", action="change")
    assert (entry.before["name"], entry.after["name"], entry.actor) == ("Odd", "Theirs", "administrator")


def test_how_many_are_deleted_is_counted_by_the_column(browser: Client, document: Document) -> None:
    """Not by a subquery in an aggregate, which SQL Server refuses."""
    services.add_document("Another")
    document.delete()
    with CaptureQueriesContext(connection) as asked:
        page = browser.get(f"{BASE}library/document/?_facets=True").content.decode()
    assert re.findall(r"(Only deleted|All) \((\d+)\)", page)[:2] == [("Only deleted", "1"), ("All", "2")]
    counted = [one["sql"] for one in asked.captured_queries if "__c" in one["sql"]]
    assert counted and not [sql for sql in counted if "IN (SELECT" in sql]


@pytest.mark.parametrize("way", ["page", "action"])
def test_delete_is_nominal_listed_under_deleted_and_restorable(browser: Client, document: Document, way: str) -> None:
    listing = f"{BASE}library/document/"
    if way == "page":
        assert "hospital quality" in browser.get(f"{listing}{document.pk}/delete/").content.decode()
        browser.post(f"{listing}{document.pk}/delete/", {"post": "yes"})
    else:
        chosen = {"action": "delete_selected", "_selected_action": [document.pk]}
        assert browser.post(listing, chosen).status_code == 200
        browser.post(listing, chosen | {"post": "yes"})
    assert Document.everything.get().deleted == 1
    assert f"/{document.pk}/change/" not in browser.get(listing).content.decode()
    assert f"/{document.pk}/change/" in browser.get(f"{listing}?deleted=only").content.decode()
    assert browser.get(change_page(document)).status_code == 200
    assert browser.post(change_page(document), entries(document, title="Ghost")).status_code == 403
    chosen = {"action": "restore_selected", "_selected_action": [document.pk]}
    browser.post(f"{listing}?deleted=only", chosen)
    assert not Document.objects.get().deleted
    assert {entry.action for entry in Entry.objects.filter(kind="document")} == {"add", "delete", "restore"}


def test_the_metacolumns_are_shown_and_never_taken_from_a_form(browser: Client, document: Document) -> None:
    page = browser.get(change_page(document)).content.decode()
    assert "Updated by" in page
    given = entries(document, deleted=1, updated_by="mallory", version=99, dirty=0, title="Fine")
    browser.post(change_page(document), given)
    found = Document.objects.get()
    assert (found.updated_by, found.deleted, found.dirty) == ("administrator", 0, 1)


def test_reading_changes_nothing(browser: Client, document: Document) -> None:
    before = list(Document.everything.values()), list(Sheet.everything.values()), Entry.objects.count()
    for path in ("", "add/", f"{document.pk}/change/", f"{document.pk}/delete/", f"{document.pk}/history/"):
        assert browser.get(f"{BASE}library/document/{path}").status_code == 200, path
    assert before == (list(Document.everything.values()), list(Sheet.everything.values()), Entry.objects.count())


def test_the_audit_is_only_looked_at(browser: Client, document: Document) -> None:
    entry = Entry.objects.first()
    assert browser.get(change_page(entry)).status_code == 200
    assert browser.post(change_page(entry), {"sentence": "Nothing"}).status_code == 403
    assert browser.post(f"{BASE}audit/entry/{entry.pk}/delete/", {"post": "yes"}).status_code == 403
    assert browser.get(f"{BASE}audit/entry/add/").status_code == 403
    assert Entry.objects.filter(pk=entry.pk, sentence=entry.sentence).exists()


def test_the_admin_obeys_the_strict_content_policy(browser: Client, document: Document) -> None:
    for path in (BASE, f"{BASE}library/document/", change_page(document), f"{BASE}crawlpoints/crawlpoint/add/"):
        response = browser.get(path)
        page = response.content.decode()
        assert "unsafe" not in response["Content-Security-Policy"]
        assert " onclick=" not in page
        assert "<script>" not in page


def test_the_list_costs_the_same_for_many_documents(browser: Client, django_assert_max_num_queries: Any) -> None:
    for number in range(30):
        services.add_document(f"Document {number}", project=f"P{number}")
    with django_assert_max_num_queries(12):
        browser.get(f"{BASE}library/document/")
