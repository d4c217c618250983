"""Owns: the notes of people on a document: written, deleted, restored, each with its audit entry.

Does not: ask who may. Called by: the page Notes of a document.
"""

from django.db import transaction
from django.db.models import QuerySet

from clearinghouse.audit import services as audit
from clearinghouse.database.records import actor
from clearinghouse.library.models import Document

from ..models import CrawlPoint, DocumentNote
from ..point_checks import Invalid
from ..queries import points_of

LONGEST = 2000


def notes_of(document: Document) -> QuerySet[DocumentNote]:
    return DocumentNote.objects.filter(document=document).order_by("-created_at", "-pk")


def deleted_notes_of(document: Document) -> QuerySet[DocumentNote]:
    return DocumentNote.everything.filter(document=document, deleted=1).order_by("-updated_at", "-pk")


def points_with_notes(document: Document) -> QuerySet[CrawlPoint]:
    return points_of(document).exclude(note="")


@transaction.atomic
def add_note(document: Document, text: str) -> DocumentNote:
    text = text.replace("\x00", "").replace("\r\n", "\n").strip()
    if not text:
        raise Invalid({"text": ["Enter the note"]})
    if len(text) > LONGEST:
        raise Invalid({"text": [f"The note must be {LONGEST:,} characters or fewer. It is {len(text):,}"]})
    note = DocumentNote.objects.create(document=document, text=text, author=actor())
    audit.record("add", note, "Added a note", document_id=document.pk, after={"text": text})
    return note


@transaction.atomic
def delete_note(note: DocumentNote) -> None:
    note.delete()
    audit.record("delete", note, "Deleted a note", document_id=note.document_id, before={"text": note.text})


@transaction.atomic
def restore_note(note: DocumentNote) -> None:
    note.restore()
    audit.record("restore", note, "Restored a note", document_id=note.document_id)
