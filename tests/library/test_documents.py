"""Adding, changing, deleting and assigning documents, and the command."""

import json
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command

from clearinghouse.audit.models import Entry
from clearinghouse.audit.queries import history, history_of_document
from clearinghouse.database.records import StaleRecord, acting_as
from clearinghouse.library import services
from clearinghouse.library.models import CRAWL_POINTS, Document, DocumentStatus, Field, FieldType, Project
from clearinghouse.operations.command_base import Stop

pytestmark = pytest.mark.django_db(databases="__all__")


def test_a_new_document_has_a_cover_sheet_and_a_field_for_its_crawl_points() -> None:
    document = services.add_document("Asthma", project="NGC", public=False, status="In progress", web_address="")
    assert (document.title, document.sheet.project.name, document.sheet.public) == ("Asthma", "NGC", 0)
    assert document.status.name == "In progress"
    field = Field.objects.get(document=document)
    assert field.type.name == CRAWL_POINTS
    assert services.crawl_point_field(document) == field
    assert FieldType.objects.filter(name=CRAWL_POINTS).count() == 1


def test_projects_and_statuses_are_made_once_and_found_again() -> None:
    services.add_document("One", project="NGC", status="Draft")
    services.add_document("Two", project=" NGC ", status="Draft")
    assert Project.objects.count() == DocumentStatus.objects.filter(name="Draft").count() == 1


def test_a_deleted_project_comes_back_when_it_is_named_again() -> None:
    project = services.project_named("NGC")
    project.delete()
    assert services.project_named("NGC") == project
    assert not Project.objects.get().deleted


def test_a_change_is_written_down_before_and_after_with_who_did_it(document: Document) -> None:
    values = _values(document) | {"title": "Renamed", "public": False}
    with acting_as("anna"):
        services.update_document(document, values)
    entry = history("document", document.pk).first()
    assert (entry.actor, entry.action) == ("anna", "change")
    assert (entry.before["title"], entry.after["title"]) == ("Measures of hospital quality", "Renamed")
    assert (entry.before["public"], entry.after["public"]) == (True, False)
    document.refresh_from_db()
    assert document.updated_by == document.sheet.updated_by == "anna"


def test_saving_from_an_older_copy_is_refused_and_changes_nothing(document: Document) -> None:
    mine, theirs = Document.objects.get(pk=document.pk), Document.objects.get(pk=document.pk)
    services.update_document(theirs, _values(theirs) | {"title": "Theirs"})
    with pytest.raises(StaleRecord):
        services.update_document(mine, _values(mine) | {"title": "Mine"})
    assert Document.objects.get(pk=document.pk).title == "Theirs"


def test_a_document_of_another_program_gets_its_cover_sheet_with_its_first_change() -> None:
    bare = Document.objects.create()
    services.update_document(bare, _values(bare) | {"title": "Named now"})
    assert Document.objects.get(pk=bare.pk).title == "Named now"


def test_delete_is_nominal_and_restore_brings_the_document_back(document: Document) -> None:
    services.delete_document(document)
    assert not Document.objects.exists()
    services.restore_document(document)
    assert Document.objects.get() == document
    assert [entry.action for entry in history_of_document(document.pk)] == ["restore", "delete", "add"]


def test_assigning_twice_is_assigning_once(document: Document, editor: Any, stranger: Any) -> None:
    services.assign(document, editor)
    assert document.assignments.count() == 1
    services.assign_exactly(document, [stranger])
    assert [assignment.person for assignment in document.assignments.all()] == [stranger]
    services.unassign(document, stranger)
    services.unassign(document, stranger)
    assert Entry.objects.filter(action="unassign", document_id=document.pk).count() == 2


def test_the_command_prints_one_json_object() -> None:
    out = StringIO()
    call_command("add_document", "Asthma", project="NGC", json=True, stdout=out)
    document = Document.objects.get()
    assert json.loads(out.getvalue()) == {"doc_id": document.pk}
    assert document.updated_by == "command add_document"


@pytest.mark.parametrize(
    ("title", "more"),
    [(" ", {}), ("x" * 256, {}), ("Fine", {"web_address": "ftp://a"}), ("Fine", {"project": "x" * 101})],
)
def test_the_command_refuses_wrong_use_with_code_2(title: str, more: dict[str, str]) -> None:
    with pytest.raises(Stop) as stop:
        call_command("add_document", title, **more)
    assert stop.value.returncode == 2
    assert not Document.objects.exists()


def _values(document: Document) -> dict[str, Any]:
    sheet = getattr(document, "sheet", None)
    return {
        "title": document.title,
        "project": sheet.project if sheet else None,
        "status": document.status,
        "public": True,
        "web_address": "",
    }
