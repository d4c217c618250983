"""Changing crawl points and exclude URLs: nothing is lost, nobody is overwritten, no password gets out."""

from typing import Any

import pytest
from django.db import connection

from clearinghouse.audit.models import Entry
from clearinghouse.database.records import StaleRecord, acting_as
from clearinghouse.library.models import Document
from clearinghouse.vault.sealing import CannotUnseal
from crawlpoints import queries, services
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl
from crawlpoints.point_checks import Invalid
from crawlpoints.point_warnings import Caution
from tests.proves import proves

pytestmark = pytest.mark.django_db
URL = "https://example.gov/measures/"
VALUES: dict[str, Any] = {"url": URL, "root": URL, "depth": 3, "max_pages": 500}
BASIC = VALUES | {"auth_type": 1, "login": "me", "password": "canary-7Q"}


def codes(cautions: list[Caution]) -> list[str]:
    return [caution.code for caution in cautions]


def row(point: CrawlPoint) -> dict[str, Any]:
    """The stored row, less what every change touches."""
    values = CrawlPoint.everything.filter(pk=point.pk).values().get()
    return {name: value for name, value in values.items() if name not in {"version", "updated_at", "updated_by"}}


def test_a_crawl_point_hangs_on_the_crawl_points_field_of_its_document(document: Document) -> None:
    point, cautions = services.add_crawl_point(document, VALUES)
    link = CrawlPointLink.objects.get(crawl_point=point)
    assert (link.document, link.field.document, link.field.type.name) == (document, document, "crawl points")
    assert list(queries.points_of(document)) == [point]
    assert queries.document_of(point) == document
    assert cautions == []


def test_what_is_not_said_takes_the_defaults_of_the_seed(document: Document) -> None:
    point, _ = services.add_crawl_point(document, {"url": URL, "root": URL})
    stored = CrawlPoint.objects.get(pk=point.pk)
    assert (stored.depth, stored.max_pages, stored.active, stored.auth_type) == (0, 0, 1, 0)
    assert (stored.drop_sessions, stored.stop_traps, stored.ignore_query) == (1, 1, 0)


@proves("J3")
def test_a_second_add_of_the_same_crawl_point_changes_nothing(document: Document) -> None:
    services.add_crawl_point(document, VALUES)
    with pytest.raises(Invalid, match="already has this crawl point"):
        services.add_crawl_point(document, VALUES)
    assert CrawlPoint.everything.count() == 1


@proves("J3")
def test_two_people_adding_at_once_are_told_apart_by_the_database(document: Document, monkeypatch: Any) -> None:
    services.add_crawl_point(document, VALUES)
    monkeypatch.setattr(services, "neighbours_of", lambda *args, **kwargs: [])  # read before the other one saved
    with pytest.raises(Invalid, match="already has this crawl point"):
        services.add_crawl_point(document, VALUES)
    assert CrawlPoint.everything.count() == CrawlPointLink.everything.count() == 1


def test_the_same_crawl_point_may_stand_in_two_documents(document: Document, other_document: Document) -> None:
    services.add_crawl_point(document, VALUES)
    services.add_crawl_point(other_document, VALUES)
    assert CrawlPoint.objects.count() == 2


def test_each_change_is_signed_and_kept_with_before_and_after(document: Document) -> None:
    with acting_as("ann"):
        point, _ = services.add_crawl_point(document, VALUES | {"url": "HTTPS://Example.gov/measures/#top"})
        services.update_crawl_point(point, {"depth": "5"}, point.version)
    added, changed = Entry.objects.filter(kind="crawlpoint").order_by("id")
    assert added.after["typed"] == "HTTPS://Example.gov/measures/#top"
    assert (changed.actor, changed.before["depth"], changed.after["depth"]) == ("ann", 3, 5)
    assert changed.document_id == document.pk


def test_an_update_of_one_value_leaves_the_others(document: Document) -> None:
    point, _ = services.add_crawl_point(document, BASIC | {"note": "why", "append": "?print=1"})
    services.update_crawl_point(point, {"depth": 9})
    stored = CrawlPoint.objects.get(pk=point.pk)
    assert (stored.depth, stored.note, stored.append, stored.login) == (9, "why", "?print=1", "me")
    assert queries.password_of(stored) == "canary-7Q"


@proves("J2")
def test_saving_from_an_old_copy_raises_instead_of_overwriting(document: Document) -> None:
    point, _ = services.add_crawl_point(document, VALUES)
    seen = point.version
    services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 4}, seen)
    with pytest.raises(StaleRecord):
        services.update_crawl_point(CrawlPoint.objects.get(pk=point.pk), {"depth": 8}, seen)
    assert CrawlPoint.objects.get(pk=point.pk).depth == 4


def test_delete_and_restore_bring_back_the_same_row(document: Document) -> None:
    point, _ = services.add_crawl_point(document, BASIC)
    before = row(point)
    services.delete_crawl_point(point)
    assert not queries.points_of(document).exists()
    assert CrawlPoint.everything.get(pk=point.pk).key is None
    services.restore_crawl_point(CrawlPoint.everything.get(pk=point.pk))
    assert row(point) == before
    assert list(queries.points_of(document)) == [point]


def test_a_deleted_crawl_point_makes_room_for_a_new_one_and_then_stays_deleted(document: Document) -> None:
    old, _ = services.add_crawl_point(document, VALUES)
    services.delete_crawl_point(old)
    new, _ = services.add_crawl_point(document, VALUES)
    with pytest.raises(Invalid, match="already has this crawl point") as caught:
        services.restore_crawl_point(CrawlPoint.everything.get(pk=old.pk))
    assert caught.value.duplicate == new.pk


def test_the_password_is_stored_sealed_and_comes_back_only_through_the_query(document: Document) -> None:
    point, _ = services.add_crawl_point(document, BASIC)
    with connection.cursor() as cursor:
        cursor.execute("SELECT crawl_pw_str FROM crawl_point")
        stored = cursor.fetchone()[0]
    assert stored.startswith("sealed:") and "canary" not in stored
    assert queries.password_of(CrawlPoint.objects.get(pk=point.pk)) == "canary-7Q"
    assert not any("canary" in f"{entry.before}{entry.after}{entry.sentence}" for entry in Entry.objects.all())


@pytest.mark.parametrize(
    "change",
    [
        {"url": "https://example.org/measures/", "root": "https://example.org/measures/"},
        {"root": "https://example.gov/"},
        {"auth_type": 2},
    ],
    ids=["origin", "root", "type"],
)
def test_a_saved_password_does_not_follow_to_another_place(document: Document, change: dict[str, Any]) -> None:
    point, _ = services.add_crawl_point(document, BASIC)
    point, cautions = services.update_crawl_point(point, change)
    assert not CrawlPoint.objects.get(pk=point.pk).password
    assert codes(cautions) == ["password_cleared", "no_password"]


def test_a_password_typed_with_the_change_is_kept(document: Document) -> None:
    point, _ = services.add_crawl_point(document, BASIC)
    services.update_crawl_point(point, {"root": "https://example.gov/", "password": "new one"})
    assert queries.password_of(CrawlPoint.objects.get(pk=point.pk)) == "new one"


def test_a_row_edited_behind_our_back_gives_no_password(document: Document) -> None:
    point, _ = services.add_crawl_point(document, BASIC)
    CrawlPoint.objects.filter(pk=point.pk).update(url="https://evil.example/")
    with pytest.raises(CannotUnseal):
        queries.password_of(CrawlPoint.objects.get(pk=point.pk))


def test_the_password_can_be_removed(document: Document) -> None:
    point, _ = services.add_crawl_point(document, BASIC)
    _, cautions = services.update_crawl_point(point, {"forget_password": True})
    assert not CrawlPoint.objects.get(pk=point.pk).password
    assert codes(cautions) == ["no_password"]


def test_activating_counts_only_what_changed(document: Document) -> None:
    one, _ = services.add_crawl_point(document, VALUES)
    two, _ = services.add_crawl_point(document, VALUES | {"root": "https://example.gov/", "active": False})
    assert services.set_active([one, two], False) == 1
    assert not CrawlPoint.objects.exclude(active=0).exists()


@pytest.mark.parametrize(
    ("change", "code"),
    [
        ({"root": "https://example.gov/meas"}, "cut_segment"),
        ({"url": "https://example.gov/", "root": "https://example.gov/", "depth": 6, "max_pages": ""}, "whole_site"),
        ({"depth": 0}, "depth_zero"),
        ({"url": "https://example.gov:9/measures/", "root": "https://example.gov:9/"}, "port"),
        (
            {
                "url": "http://example.gov/",
                "root": "http://example.gov/",
                "auth_type": 1,
                "login": "a",
                "password": "b",
            },
            "unencrypted",
        ),
    ],
)
def test_what_is_odd_is_saved_with_a_caution(document: Document, change: dict[str, Any], code: str) -> None:
    point, cautions = services.add_crawl_point(document, VALUES | change)
    assert point.pk
    assert code in codes(cautions)


def test_overlapping_crawl_points_name_each_other(document: Document) -> None:
    one, _ = services.add_crawl_point(document, VALUES)
    _, cautions = services.add_crawl_point(document, VALUES | {"root": "https://example.gov/"})
    assert [(caution.code, caution.other) for caution in cautions] == [("overlap", one.pk)]
    assert cautions[0].text.startswith("Pages under /measures/ are also covered by crawl point")


def test_exclude_urls_are_added_once_deleted_and_restored(document: Document) -> None:
    exclude = services.add_exclude_url(document, " https://example.gov/print/* ")
    with pytest.raises(Invalid, match="already in the list"):
        services.add_exclude_url(document, "https://example.gov/print/*")
    services.delete_exclude_url(exclude)
    assert not queries.excludes_of(document).exists()
    services.restore_exclude_url(ExcludeUrl.everything.get(pk=exclude.pk))
    assert queries.patterns_of(document) == ["https://example.gov/print/*"]


def test_lines_changed_in_the_dialog_leave_a_colleagues_new_line(document: Document) -> None:
    services.add_exclude_url(document, "https://example.gov/old")
    point, _ = services.add_crawl_point(document, VALUES)
    services.add_exclude_url(document, "https://example.gov/colleague")  # after the dialog was opened
    values = {"excludes_opened": "https://example.gov/old", "excludes": "https://example.gov/mine"}
    services.update_crawl_point(point, values)
    assert queries.patterns_of(document) == ["https://example.gov/colleague", "https://example.gov/mine"]


def test_counts_say_active_and_all(document: Document, other_document: Document) -> None:
    services.add_crawl_point(document, VALUES)
    services.add_crawl_point(document, VALUES | {"root": "https://example.gov/", "active": False})
    assert queries.counts_by_document() == {document.pk: (1, 2)}
    assert queries.counts_by_document([other_document.pk]) == {}
