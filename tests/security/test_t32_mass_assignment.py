"""Threat T32: a form takes its own fields. Whatever else is sent changes no column, no owner, no role."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.db.models import Model

from clearinghouse.accounts.models import Person
from clearinghouse.library.models import Assignment, Sheet
from crawler.models import Finding, Run, Schedule
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl
from tests.accounts.routes import arguments, everybody, project_one, routes, undone
from tests.accounts.test_routes import browser, outcome, reachable, row, send

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
# What these forms are for, where a project manager sends them.
THEIR_OWN = {"document-edit": "Assignment", "person-active": "User"}
# What nobody below an administrator may set, whatever they may do otherwise; of each table the columns watched.
WATCHED: tuple[tuple[type[Model], tuple[str, ...]], ...] = (
    (get_user_model(), ("pk", "is_superuser", "is_staff", "is_active", "username")),
    (Person, ("user_id", "role")),
    (Person.projects.through, ("person_id", "project_id")),
    (Sheet, ("document_id", "project_id", "public")),
    (Assignment, ("document_id", "person_id")),
    (Schedule, ("pk", "created_by")),
)
EXTRA = {
    "is_superuser": "1", "is_staff": "on", "role": "administrator", "user": "1", "user_id": "1", "person": "1",
    "person_id": "1", "owner": "1", "username": "taken", "project": "2", "project_id": "2", "projects": "2",
    "document": "2", "document_id": "2", "doc_id": "2", "id": "1", "pk": "1", "deleted": "1", "deleted_fl": "1",
    "updated_by": "forged", "update_nm": "forged", "created_by": "forged", "requested_by": "forged",
    "decided_by": "forged", "asked_by": "forged", "actor": "forged", "key": "forged", "sealed": "forged",
}  # fmt: skip


def state() -> dict[str, set[Any]]:
    return {model.__name__: set(model._default_manager.values_list(*columns)) for model, columns in WATCHED}


@pytest.mark.parametrize("person", ["editor", "manager"])
def test_t32_no_form_takes_more_than_its_fields(person: str) -> None:
    own, other = project_one()
    people = everybody(own, other)
    given = arguments(people, own)
    before = state()
    asked = 0
    own_points = set(CrawlPointLink.objects.filter(document=own).values_list("crawl_point", flat=True))
    for route in routes():
        if not route.name or not reachable(route) or route.name.startswith("admin:"):
            continue
        sent = row(route)[2]
        extra = EXTRA if not route.name.startswith("person-") else {"is_superuser": "1", "is_staff": "1", "user": "1"}
        with undone():
            client = browser(people, person)
            response = send(client, route, "POST", route.path(given), extra | sent | ASKED.get(route.name, {}))
            asked += outcome(response) == "Y"
            theirs = THEIR_OWN.get(route.name, "")
            changed = {name for name, rows in state().items() if rows != before[name]}
            assert changed <= {theirs}, (route.name, changed)
            links = set(CrawlPointLink.objects.filter(document=other).values_list("crawl_point", flat=True))
            assert not links & own_points, route.name
            for model, name in ((Run, "requested_by"), (Finding, "decided_by")):
                assert not model._default_manager.filter(**{name: "forged"}).exists(), route.name
            for record in (CrawlPoint, ExcludeUrl):
                assert not record._default_manager.filter(updated_by="forged").exists(), route.name
    assert asked > 25


URL = "https://quality.example.gov/measures/"
ASKED: dict[str, dict[str, Any]] = {
    "crawl-point-new": {"url": f"{URL}x/", "root": f"{URL}x/", "depth": "1", "auth_type": "0", "active": "on"},
    "crawl-point-edit": {"url": URL, "root": URL, "depth": "2", "auth_type": "0", "active": "on", "version": "1"},
    "exclude-urls": {"pattern": f"{URL}y/*"},
    "api-crawl-points": {},
}


def test_t32_the_api_names_what_it_does_not_take(program: Any, editor: Any, document: Any) -> None:
    asks = program(editor).ask
    values = {"url": URL, "root": URL}
    for name in ("document_id", "deleted", "has_password", "id", "updated_by", "role", "is_superuser"):
        status, refusal = asks("POST", f"documents/{document.pk}/crawl-points/", values | {name: 1})
        assert (status, list(refusal["fields"])) == (422, [name])
    assert not CrawlPoint.objects.exists()
