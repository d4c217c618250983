"""Crawl points and exclude URLs by program: the same rules, the same words, the same conflict as on the screens."""

from typing import Any

import pytest

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint, ExcludeUrl

from .conftest import ROOT

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
SECRET = "C4n4ry-swordfish"


def points(document: Document) -> str:
    return f"documents/{document.pk}/crawl-points/"


def test_a_program_sees_the_documents_its_owner_sees(
    program: Any, editor: Any, stranger: Any, document: Document, other_document: Document
) -> None:
    status, page = program(editor).ask("GET", "documents/")
    assert (status, page["count"], page["items"][0]["title"]) == (200, 1, document.title)
    assert page["items"][0]["may_edit"] is True
    status, found = program(stranger).ask("GET", f"documents/{document.pk}/")
    assert (status, found["code"]) == (404, "not_found")


def test_a_crawl_point_is_added_updated_deleted_and_restored(program: Any, editor: Any, document: Document) -> None:
    asks = program(editor).ask
    status, made = asks("POST", points(document), {"url": f"{ROOT}a.html", "root": ROOT, "depth": 2})
    assert status == 201, made
    point = made["crawl_point"]
    address = f"{points(document)}{point['id']}/"
    status, changed = asks("PATCH", address, {"version": point["version"], "max_pages": 50})
    assert (status, changed["crawl_point"]["max_pages"], changed["crawl_point"]["depth"]) == (200, 50, 2)
    assert asks("DELETE", address)[0] == 200
    assert asks("GET", address)[0] == 404
    assert asks("GET", f"{points(document)}?deleted=true")[1]["count"] == 1
    assert asks("POST", f"{address}restore/")[0] == 200
    assert asks("GET", address)[1]["max_pages"] == 50
    assert {entry.actor for entry in Entry.objects.filter(kind="crawlpoint")} == {"editor"}


def test_an_update_of_an_older_version_changes_nothing(
    program: Any, editor: Any, document: Document, point: Any
) -> None:
    asks = program(editor).ask
    address = f"{points(document)}{point.pk}/"
    assert asks("PATCH", address, {"version": point.version, "depth": 5})[0] == 200
    status, refusal = asks("PATCH", address, {"version": point.version, "depth": 7})
    assert (status, refusal["code"]) == (409, "changed")
    assert asks("DELETE", f"{address}?version={point.version}")[0] == 409
    assert asks("GET", address)[1]["depth"] == 5


def test_mistakes_come_back_at_their_fields(program: Any, editor: Any, document: Document) -> None:
    asks = program(editor).ask
    status, refusal = asks("POST", points(document), {"url": f"{ROOT}a.html", "root": "https://www.other.example/"})
    assert (status, list(refusal["fields"])) == (422, ["root"])
    assert asks("POST", points(document), {"url": ROOT})[1]["fields"] == {"root": ["This is needed"]}
    assert asks("POST", points(document), {"url": 7, "root": ROOT})[1]["fields"] == {"url": ["This must be text"]}


@pytest.mark.parametrize("name", ["id", "key", "deleted", "password_hash", "document_id", "updated_by", "auth_type"])
def test_no_column_is_reached_that_the_contract_does_not_name(
    program: Any, editor: Any, document: Document, other_document: Document, name: str
) -> None:
    """Threat T32."""
    sent = {"url": f"{ROOT}a.html", "root": ROOT, name: other_document.pk}
    status, refusal = program(editor).ask("POST", points(document), sent)
    assert (status, refusal["fields"]) == (422, {name: ["There is no such field"]})
    assert not CrawlPoint.objects.exists()


def test_a_password_goes_in_and_never_comes_out(
    program: Any, editor: Any, administrator: Any, document: Document
) -> None:
    sent = {"url": f"{ROOT}a.html", "root": ROOT, "authentication": "basic", "login": "reader", "password": SECRET}
    status, made = program(editor).ask("POST", points(document), sent)
    assert (status, made["crawl_point"]["has_password"]) == (201, True)
    asks = program(administrator).ask
    for path in (points(document), f"{points(document)}{made['crawl_point']['id']}/", "documents/"):
        assert SECRET not in str(asks("GET", path)[1])
    assert SECRET not in str([(entry.before, entry.after) for entry in Entry.objects.all()])


def test_who_may_only_read_is_told_who_can_grant_it(
    program: Any, reader: Any, manager: Any, document: Document
) -> None:
    status, refusal = program(reader).ask("POST", points(document), {"url": ROOT, "root": ROOT})
    assert (status, refusal["code"]) == (403, "refused")
    assert "manager" in refusal["error"]


def test_a_crawl_point_is_found_only_under_its_own_document(
    program: Any, stranger: Any, other_document: Document, point: Any
) -> None:
    asks = program(stranger).ask
    for method, body in (("GET", None), ("PATCH", {"version": 1, "depth": 9}), ("DELETE", None)):
        assert asks(method, f"{points(other_document)}{point.pk}/", body)[0] == 404
    assert CrawlPoint.objects.get(pk=point.pk).depth == 2


def test_exclude_urls_come_and_go(program: Any, editor: Any, document: Document) -> None:
    asks = program(editor).ask
    address = f"documents/{document.pk}/exclude-urls/"
    status, made = asks("POST", address, {"pattern": f"{ROOT}print/*"})
    assert (status, made["pattern"]) == (201, f"{ROOT}print/*")
    assert asks("POST", address, {"pattern": f"{ROOT}print/*"})[0] == 422
    assert asks("DELETE", f"{address}{made['id']}/")[0] == 200
    assert not ExcludeUrl.objects.exists()
    assert asks("POST", f"{address}{made['id']}/restore/")[0] == 200


def test_it_explains_whether_addresses_would_be_crawled(
    program: Any, editor: Any, document: Document, point: Any
) -> None:
    sent = {"urls": [point.url, "https://other.example/"], "found_on": point.url}
    status, found = program(editor).ask("POST", f"documents/{document.pk}/explain/", sent)
    assert status == 200
    assert [item["verdict"] for item in found["items"]] == ["yes", "no"]
    assert found["items"][1]["reason"] == "outside_root"
