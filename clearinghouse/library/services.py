"""Owns: every change to documents, their fields, projects, statuses and assignments, each with its audit entry.

Does not: ask who may (policies), know crawl points. Called by: screens, admin, commands, the demo.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, TypeVar

from django.db import connections, router, transaction

from clearinghouse.audit import services as audit
from clearinghouse.audit.services import AuditLine

from ..database.records import actor
from .models import CRAWL_POINTS, Assignment, Document, DocumentStatus, Field, FieldType, Project, Sheet

T = TypeVar("T")
_BATCH = 500


@transaction.atomic
def add_document(
    title: str, *, project: str = "", public: bool = True, status: str = "", web_address: str = ""
) -> Document:
    """A document with its cover sheet and its "crawl points" field; the project and status are made when new."""
    document = Document.objects.create(status=status_named(status))
    Sheet.objects.create(
        document=document,
        title=title,
        project=project_named(project),
        public=int(public),
        web_address=web_address,
    )
    crawl_point_field(document)
    audit.record("add", document, f"Added document {title}", document_id=document.pk, after=facts(document))
    return document


@dataclass(frozen=True, slots=True)
class NewDocument:
    title: str
    project: str = ""
    public: bool = True
    status: str = ""
    web_address: str = ""
    people: tuple[Any, ...] = ()


@transaction.atomic
def add_documents(new: Sequence[NewDocument]) -> list[Document]:
    """The same as add_document and assign for each, in a few statements: others wait for it as for one."""
    by, statuses, projects = actor(), _each_once(status_named), _each_once(project_named)
    documents = [Document(status=statuses(one.status), updated_by=by) for one in new]
    if connections[router.db_for_write(Document)].features.can_return_rows_from_bulk_insert:
        Document.objects.bulk_create(documents, _BATCH)
    else:
        for document in documents:
            document.save(force_insert=True)
    pairs = list(zip(documents, new, strict=True))
    sheets = [
        Sheet(document=document, title=one.title, project=projects(one.project), public=int(one.public),
              web_address=one.web_address, updated_by=by)
        for document, one in pairs
    ]  # fmt: skip
    Sheet.objects.bulk_create(sheets, _BATCH)
    kind = _crawl_points_type()
    Field.objects.bulk_create([Field(document=document, type=kind, updated_by=by) for document in documents], _BATCH)
    given = [(document, person) for document, one in pairs for person in one.people]
    Assignment.objects.bulk_create([Assignment(document=document, person=person) for document, person in given], _BATCH)
    audit.record_many(
        AuditLine("add", document, f"Added document {document.title}", document.pk, after=facts(document))
        for document in documents
    )
    audit.record_many(
        AuditLine("assign", document, f"Assigned {document.title} to {person.get_username()}", document.pk)
        for document, person in given
    )
    return documents


def _each_once(make: Callable[[str], T]) -> Callable[[str], T]:
    return lru_cache(maxsize=None)(make)


@transaction.atomic
def update_document(document: Document, values: dict[str, Any]) -> Document:
    """Values: title, project (Project or None), status (or None), public, web_address. Raises StaleRecord."""
    before = facts(document)
    document.status = values["status"]
    document.save()  # always: its version stands for the whole document
    sheet = getattr(document, "sheet", None) or Sheet(document=document)
    for name in ("title", "project", "web_address"):
        setattr(sheet, name, values[name])
    sheet.public = int(values["public"])
    sheet.save()
    after = facts(document)
    if after != before:
        sentence = f"Changed document {document.title}"
        audit.record("change", document, sentence, document_id=document.pk, before=before, after=after)
    return document


@transaction.atomic
def delete_document(document: Document) -> None:
    document.delete()
    audit.record("delete", document, f"Deleted document {document.title}", document_id=document.pk)


@transaction.atomic
def restore_document(document: Document) -> Document:
    document.restore()
    audit.record("restore", document, f"Restored document {document.title}", document_id=document.pk)
    return document


def crawl_point_field(document: Document) -> Field:
    """The document's field row of type "crawl points", the master of its crawl points; made when missing."""
    kind = _crawl_points_type()
    field = Field.objects.filter(document=document, type=kind).order_by("pk").first()
    return field or Field.objects.create(document=document, type=kind)


def _crawl_points_type() -> FieldType:
    kind = FieldType.objects.filter(name=CRAWL_POINTS).order_by("pk").first()
    return kind or FieldType.objects.create(name=CRAWL_POINTS)


@transaction.atomic
def assign(document: Document, user: Any) -> None:
    _, new = Assignment.objects.get_or_create(document=document, person=user)
    if new:
        sentence = f"Assigned {document.title} to {user.get_username()}"
        audit.record("assign", document, sentence, document_id=document.pk)


@transaction.atomic
def unassign(document: Document, user: Any) -> None:
    gone, _ = Assignment.objects.filter(document=document, person=user).delete()
    if gone:
        sentence = f"{user.get_username()} is no longer assigned to {document.title}"
        audit.record("unassign", document, sentence, document_id=document.pk)


def assign_exactly(document: Document, users: list[Any]) -> None:
    """These people and nobody else."""
    wanted = {user.pk for user in users}
    for assignment in Assignment.objects.filter(document=document).select_related("person"):
        if assignment.person_id not in wanted:
            unassign(document, assignment.person)
    for user in users:
        assign(document, user)


def project_named(name: str) -> Project | None:
    """The project of this name, made when new, brought back when deleted; None for no name."""
    name = name.strip()
    if not name:
        return None
    project = Project.everything.filter(name=name).first()
    if project is None:
        project = Project.objects.create(name=name)
        audit.record("add", project, f"Added project {name}", after={"name": name})
    elif project.deleted:
        project.restore()
        audit.record("restore", project, f"Restored project {name}")
    return project


@transaction.atomic
def rename_project(project: Project, name: str) -> None:
    before = project.name
    if before == name:
        return
    # A deleted project of this name would keep it for ever.
    Project.everything.filter(name=name, deleted=1).update(name=f"{name} (deleted)"[:100])
    project.name = name
    project.save(update_fields=["name"])
    audit.record(
        "change", project, f"Renamed project {before} to {name}", before={"name": before}, after={"name": name}
    )


@transaction.atomic
def delete_project(project: Project) -> None:
    project.delete()
    audit.record("delete", project, f"Deleted project {project.name}")


def status_named(name: str) -> DocumentStatus | None:
    name = name.strip()
    if not name:
        return None
    status = DocumentStatus.objects.filter(name=name).order_by("pk").first()
    if status is None:
        status = DocumentStatus.objects.create(name=name)
        audit.record("add", status, f"Added document status {name}", after={"name": name})
    return status


def facts(document: Document) -> dict[str, Any]:
    """What the audit keeps of a document."""
    sheet = getattr(document, "sheet", None)
    return {
        "title": document.title,
        "project": sheet.project.name if sheet and sheet.project else "",
        "status": str(document.status or ""),
        "public": bool(sheet.public) if sheet else True,
        "web_address": sheet.web_address if sheet else "",
    }
