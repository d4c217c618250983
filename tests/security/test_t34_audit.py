"""Threat T34: what was written into the audit stays; neither a screen nor a program changes or deletes it.

That no way of the ORM does so stands in tests/library/test_audit.py.
"""

from typing import Any

import pytest

from clearinghouse.audit.models import Entry
from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from crawlpoints import services

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def entry(document: Document) -> Entry:
    url = "https://quality.example.gov/"
    values = {"url": url, "root": url, "auth_type": 1, "login": "r", "password": "swordfish"}
    with acting_as("editor"):
        services.add_crawl_point(document, values)
    return Entry.objects.latest("id")


def test_t34_not_even_a_superuser_changes_or_deletes_an_entry_in_the_tables(
    signed_in: Any, django_user_model: Any, entry: Entry
) -> None:
    browser = signed_in(django_user_model.objects.create_superuser("root", password="correct horse battery"))
    before = list(Entry.objects.order_by("id").values())
    table = "/settings/admin/audit/entry/"
    forged = {"sentence": "Forged", "actor": "somebody", "action": "x", "kind": "x", "before": "{}", "after": "{}"}
    assert browser.get(f"{table}{entry.pk}/change/").status_code == 200
    for path, sent in (
        (f"{table}{entry.pk}/change/", forged),
        (f"{table}{entry.pk}/delete/", {"post": "yes"}),
        (f"{table}add/", forged),
        (table, {"action": "delete_selected", "_selected_action": entry.pk, "post": "yes"}),
    ):
        browser.post(path, sent)
        assert list(Entry.objects.order_by("id").values()) == before, path


def test_t34_an_entry_says_who_when_and_what_before_and_after_without_the_password(entry: Entry) -> None:
    assert entry.actor == "editor" and entry.at and entry.after["url"] == "https://quality.example.gov/"
    assert "swordfish" not in str(vars(entry))


def test_t34_the_report_shows_every_change_and_its_csv_the_same(
    signed_in: Any, administrator: Any, entry: Entry
) -> None:
    browser = signed_in(administrator)
    page = browser.get("/reports/audit/?days=all&actor=editor").content.decode()
    assert entry.sentence in page and "url:" in page.lower()
    table = b"".join(browser.get("/reports/audit/export.csv?days=all&actor=editor").streaming_content).decode()
    assert entry.sentence in table and "swordfish" not in page + table
