"""Operations on the notes of people on a document."""

from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404
from crawlpoints.documents import document_notes
from crawlpoints.models import DocumentNote

from . import documents
from .contract import PAGING, ApiAddress, ApiRequest, ApiResponse, Operation, Schema, text, thing
from .door import page_of
from .paths import DOCUMENT, NOTE
from .shapes import FLAG, INT, MOMENT, TEXT, moment, shape_of

NEW = thing(("text",), text=text("What colleagues should know", document_notes.LONGEST))
SCHEMAS: dict[str, Schema] = {"Note": shape_of(id=INT, text=TEXT, author=TEXT, written_at=MOMENT, deleted=FLAG)}


def listed(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """Newest first; the deleted ones are for who may restore them."""
    deleted = bool(asked.query.get("deleted"))
    document = document_or_404(asked.user, doc_id, Action.EDIT if deleted else Action.VIEW)
    rows = document_notes.deleted_notes_of(document) if deleted else document_notes.notes_of(document)
    return page_of(rows, asked, lambda page: [_shape(row) for row in page])


def add(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    return ApiResponse(_shape(document_notes.add_note(document, asked.body["text"])), 201)


def delete(asked: ApiRequest, doc_id: int, note_id: int) -> ApiResponse:
    row = _found(document_notes.notes_of(document_or_404(asked.user, doc_id, Action.EDIT)), note_id)
    document_notes.delete_note(row)
    return ApiResponse(_shape(row))


def restore(asked: ApiRequest, doc_id: int, note_id: int) -> ApiResponse:
    row = _found(document_notes.deleted_notes_of(document_or_404(asked.user, doc_id, Action.EDIT)), note_id)
    document_notes.restore_note(row)
    return ApiResponse(_shape(row))


def _found(rows: Any, note_id: int) -> DocumentNote:
    row: DocumentNote | None = rows.filter(pk=note_id).first()
    if row is None:
        raise Http404("No such note")
    return row


def _shape(row: DocumentNote) -> dict[str, Any]:
    found = {"id": row.pk, "text": row.text, "author": row.author, "deleted": bool(row.deleted)}
    return found | {"written_at": moment(row.created_at)}


ADDRESSES = (
    ApiAddress(DOCUMENT + "notes/", "api-notes", {
        "GET": Operation(listed, "Notes on a document", "Note", many=True,
                         query=PAGING | {"deleted": documents.DELETED}),
        "POST": Operation(add, "Write a note", "Note", body=NEW, status=201),
    }),
    ApiAddress(NOTE, "api-note", {"DELETE": Operation(delete, "Delete a note; it can be restored", "Note")}),
    ApiAddress(NOTE + "restore/", "api-note-restore", {"POST": Operation(restore, "Restore a deleted note", "Note")}),
)  # fmt: skip
