"""Owns: importing documents from CSV, all lines or none. Does not: read files, ask who may.

Called by: the import screen, commands, the demo.
"""

from collections import Counter
from dataclasses import dataclass
from typing import Any, Literal

from django.contrib.auth import get_user_model
from django.db import transaction

from clearinghouse.audit import services as audit

from ..web.plurals import plural
from . import services
from .document_csv import DocumentLine, DocumentLines, read
from .models import Document

Outcome = Literal["add", "unchanged", "error"]


@dataclass(frozen=True, slots=True)
class ImportedLine:
    number: int
    outcome: Outcome
    title: str
    message: str = ""
    document_id: int | None = None


@dataclass(frozen=True, slots=True)
class Imported:
    lines: list[ImportedLine]
    ignored_columns: list[str]
    done: bool  # False: nothing was written

    def count(self, outcome: Outcome) -> int:
        return sum(line.outcome == outcome for line in self.lines)


def preview_documents(text: str) -> Imported:
    """What an import would do. Raises csv_lines.Unreadable."""
    sheetful = read(text)
    return Imported(_judged(sheetful), sheetful.ignored_columns, done=False)


@transaction.atomic
def import_documents(text: str, *, skip_errors: bool = False) -> Imported:
    """Adds what is new. With an error in any line nothing is written, unless told to skip such lines."""
    sheetful = read(text)
    judged = _judged(sheetful)
    result = Imported(judged, sheetful.ignored_columns, done=True)
    if result.count("error") and not skip_errors:
        return Imported(judged, sheetful.ignored_columns, done=False)
    people = _people(sheetful)
    done = _added(sheetful, judged, people)
    first = next((line.document_id for line in done if line.outcome == "add"), None)
    if first is not None:
        sentence = f"Imported {plural(result.count('add'), 'document')} from CSV"
        audit.record("import", Document(pk=first), sentence)
    return Imported(done, sheetful.ignored_columns, done=True)


def _added(sheetful: DocumentLines, judged: list[ImportedLine], people: dict[str, Any]) -> list[ImportedLine]:
    both = list(zip(sheetful.lines, judged, strict=True))
    new = [_new(line, people) for line, verdict in both if verdict.outcome == "add"]
    documents = iter(services.add_documents(new))
    return [
        ImportedLine(line.number, "add", line.title, document_id=next(documents).pk)
        if verdict.outcome == "add" else verdict
        for line, verdict in both
    ]  # fmt: skip


def _new(line: DocumentLine, people: dict[str, Any]) -> services.NewDocument:
    return services.NewDocument(
        line.title, line.project, line.public, line.status, line.web_address,
        tuple(people[name] for name in line.assigned_to),
    )  # fmt: skip


def _judged(sheetful: DocumentLines) -> list[ImportedLine]:
    people = _people(sheetful)
    existing = {(found.title, _project(found)): found for found in _existing(sheetful)}
    seen: Counter[tuple[str, str]] = Counter()
    verdicts = []
    for line in sheetful.lines:
        key = (line.title, line.project)
        seen[key] += 1
        if error := line.error or _unknown(line, people):
            verdicts.append(ImportedLine(line.number, "error", line.title, error))
        elif seen[key] > 1:
            verdicts.append(ImportedLine(line.number, "error", line.title, "The same document appears twice"))
        elif key in existing:
            verdicts.append(_compared(line, existing[key]))
        else:
            verdicts.append(ImportedLine(line.number, "add", line.title))
    return verdicts


def _compared(line: DocumentLine, document: Document) -> ImportedLine:
    """An import adds; what is there already and differs is edited by a person, who sees both."""
    theirs = services.facts(document)
    differing = [name for name in ("status", "public", "web_address") if getattr(line, name) != theirs[name]]
    if not differing:
        return ImportedLine(line.number, "unchanged", line.title, document_id=document.pk)
    message = f"The document exists with another {' and '.join(differing)}; change it on its own page"
    return ImportedLine(line.number, "error", line.title, message.replace("web_address", "web address"), document.pk)


def _unknown(line: DocumentLine, people: dict[str, Any]) -> str:
    unknown = [name for name in line.assigned_to if name not in people]
    return f"There is no active user {unknown[0]}" if unknown else ""


def _people(sheetful: DocumentLines) -> dict[str, Any]:
    """One query however many lines; the number of people is small."""
    if not any(line.assigned_to for line in sheetful.lines):
        return {}
    return {user.get_username(): user for user in get_user_model().objects.filter(is_active=True)}


def _existing(sheetful: DocumentLines) -> Any:
    titles = {line.title for line in sheetful.lines}
    documents = Document.objects.select_related("sheet__project", "status").filter(sheet__isnull=False)
    return (document for document in documents if document.title in titles)


def _project(document: Document) -> str:
    project = document.sheet.project
    return project.name if project else ""
