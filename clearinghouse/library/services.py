"""Owns: every change to documents, their fields, projects, statuses and assignments, each with its audit entry.

Does not: ask who may (policies), know crawl points. Called by: screens, admin, commands, the demo.
"""

from typing import Any

from django.db import transaction

from clearinghouse.audit import services as audit

from .models import CRAWL_POINTS, Assignment, Document, DocumentStatus, Field, FieldType, Project, Sheet


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
    kind = FieldType.objects.filter(name=CRAWL_POINTS).order_by("pk").first()
    kind = kind or FieldType.objects.create(name=CRAWL_POINTS)
    field = Field.objects.filter(document=document, type=kind).order_by("pk").first()
    return field or Field.objects.create(document=document, type=kind)


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
