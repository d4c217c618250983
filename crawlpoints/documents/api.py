"""Owns: the JSON API of documents: who asks, the documents, and of one its stored pages, crawls, notes, history.

Does not: change rows itself. Called by: crawler.api.
"""

from typing import Any

from clearinghouse.accounts.policies import (
    Action,
    doc_ids_for,
    document_or_404,
    documents_for,
    require,
    role_of,
    sees_logins,
)
from clearinghouse.audit.models import Entry
from clearinghouse.audit.queries import history_of_document, without_login
from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES
from crawler.api.contract import DELETED, OF_DOCUMENT, ApiRequest, Json, page_at_once, page_of, router, row_or_404
from crawler.api.request_fields import choice, fields, text
from crawler.api.response_fields import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, JsonObject, list_of
from crawler.ledger import stored_pages
from crawler.models import Excursion
from crawler.runs.api import COUNTERS
from crawler.runs.queries import excursions_of_document

from ..models import DocumentNote
from . import document_notes

_VALUES = {"type": "object"}  # column: value
ME = JsonObject("Me", user=TEXT, name=TEXT, role={"type": ["string", "null"]}, projects=list_of(TEXT))
DOCUMENT = JsonObject("Document", id=INT, title=TEXT, project=TEXT, status=TEXT, web_address=TEXT, may_edit=FLAG)
HISTORY_ENTRY = JsonObject(
    "HistoryEntry", id=INT, at=MOMENT, person=TEXT, action=TEXT, kind=TEXT, thing_id=INT_OR_NOTHING, sentence=TEXT,
    before=_VALUES, after=_VALUES,
)  # fmt: skip
STORED_PAGE = JsonObject(
    "StoredPage", id=INT, url=TEXT, title=TEXT, type=TEXT, size=INT, stored_at=MOMENT, run_id=INT,
    last_run_id=INT_OR_NOTHING, address_id=INT_OR_NOTHING,
)  # fmt: skip
CRAWL = JsonObject(
    "Crawl", run_id=INT, state=TEXT, requested_by=TEXT, origin=TEXT, note=TEXT, started_at=MOMENT, finished_at=MOMENT,
    left_out_reason=TEXT, left_out_by=TEXT, left_out_at=MOMENT, **dict.fromkeys((*COUNTERS, "bytes"), INT),
)  # fmt: skip
NOTE = JsonObject("Note", id=INT, text=TEXT, author=TEXT, written_at=MOMENT, deleted=FLAG)
FIND = {"text": text("Part of the title", 200), "project": text("Name of the project", 100)}
PAGES_QUERY = {
    "text": text("Part of the address or title", 200),
    "type": choice("The type of the page", *PAGE_TYPES.values()),
    "folder": text("How the address begins, letter for letter", 2048),
    "sort": choice("Order", *stored_pages.SORTS, *(f"-{name}" for name in stored_pages.SORTS)),
}
NEW_NOTE = fields(("text",), text=text("What colleagues should know", document_notes.LONGEST))
OF_NOTE = OF_DOCUMENT + "notes/<int:note_id>/"


@router.get("me/", "api-me", "Who the key belongs to", ME)
def me(asked: ApiRequest) -> Json:
    role, person = role_of(asked.user), getattr(asked.user, "person", None)
    projects = list(person.projects.values_list("name", flat=True)) if person else []
    name = asked.user.get_full_name()
    return {"user": asked.by, "name": name, "role": role.value if role else None, "projects": projects}


@router.get("documents/", "api-documents", "Documents you may see", DOCUMENT, many=True, query=FIND)
def documents(asked: ApiRequest) -> Json:
    require(asked.user, Action.VIEW)
    rows = documents_for(asked.user).order_by("pk")
    if wanted := asked.query.get("text"):
        rows = rows.filter(sheet__title__icontains=wanted)
    if project := asked.query.get("project"):
        rows = rows.filter(sheet__project__name=project)
    editable = doc_ids_for(asked.user, Action.EDIT)
    return page_of(rows, asked, lambda row: document_json(row, editable is None or row.pk in editable))


@router.get(OF_DOCUMENT, "api-document", "One document", DOCUMENT)
def document(asked: ApiRequest, doc_id: int) -> Json:
    row = document_or_404(asked.user, doc_id)
    editable = doc_ids_for(asked.user, Action.EDIT)
    return document_json(row, editable is None or row.pk in editable)


def document_json(row: Document, may_edit: bool) -> Json:
    sheet = getattr(row, "sheet", None)
    return DOCUMENT.of(
        row, project=sheet.project.name if sheet and sheet.project else "", may_edit=may_edit,
        status=str(row.status) if row.status else "", web_address=sheet.web_address if sheet else "",
    )  # fmt: skip


@router.get(OF_DOCUMENT + "history/", "api-history", "Who changed what, newest first", HISTORY_ENTRY, many=True)
def history(asked: ApiRequest, doc_id: int) -> Json:
    """Who changed what of a document, newest first; a password is masked."""
    rows = history_of_document(document_or_404(asked.user, doc_id).pk)
    shown = sees_logins(asked.user)

    def shape(row: Entry) -> Json:
        hidden = {} if shown else {name: without_login(getattr(row, name)) for name in ("before", "after")}
        return HISTORY_ENTRY.of(row, person=row.actor, **hidden)

    return page_of(rows, asked, shape)


@router.get(
    OF_DOCUMENT + "pages/", "api-document-pages", "The stored pages of a document", STORED_PAGE, many=True,
    query=PAGES_QUERY,
)  # fmt: skip
def pages(asked: ApiRequest, doc_id: int) -> Json:
    """What the document shows now, whatever run stored it; `run_id` and `address_id` lead to the address in a run."""
    document = document_or_404(asked.user, doc_id, Action.VIEW_RUNS)
    kinds = {name: kind for kind, name in PAGE_TYPES.items()}
    named = {name: asked.query[name] for name in ("text", "folder", "sort") if name in asked.query}
    wanted = stored_pages.StoredPageFilter(type_id=kinds.get(asked.query.get("type", "")), **named)

    def shape(rows: Any) -> list[Json]:
        met = stored_pages.entries_of(document.pk, rows)
        return [_page(row, *met.get(row.pk, (None, None))) for row in rows]

    return page_at_once(stored_pages.pages_of(document.pk, wanted), asked, shape)


def _page(row: Any, last_run: int | None, entry: int | None) -> Json:
    kind = PAGE_TYPES.get(row.type_id, "")
    return STORED_PAGE.of(row, type=kind, stored_at=row.found_at, last_run_id=last_run, address_id=entry)


@router.get(OF_DOCUMENT + "runs/", "api-document-runs", "The crawls of a document, newest first", CRAWL, many=True)
def crawls(asked: ApiRequest, doc_id: int) -> Json:
    """Every crawl of the document, newest first."""
    document = document_or_404(asked.user, doc_id, Action.VIEW_RUNS)
    return page_of(excursions_of_document(document.pk), asked, _crawl)


def _crawl(row: Excursion) -> Json:
    return CRAWL.of(row, requested_by=row.run.requested_by, origin=row.run.origin, note=row.run.note)


@router.get(OF_DOCUMENT + "notes/", "api-notes", "Notes on a document", NOTE, many=True, query=DELETED)
def notes(asked: ApiRequest, doc_id: int) -> Json:
    """Newest first; the deleted ones are for who may restore them."""
    deleted = bool(asked.query.get("deleted"))
    document = document_or_404(asked.user, doc_id, Action.EDIT if deleted else Action.VIEW)
    rows = document_notes.deleted_notes_of(document) if deleted else document_notes.notes_of(document)
    return page_of(rows, asked, _note)


@router.post(OF_DOCUMENT + "notes/", "api-notes", "Write a note", NOTE, body=NEW_NOTE, status=201)
def add_note(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    return _note(document_notes.add_note(document, asked.body["text"]))


@router.delete(OF_NOTE, "api-note", "Delete a note; it can be restored", NOTE)
def delete_note(asked: ApiRequest, doc_id: int, note_id: int) -> Json:
    notes = document_notes.notes_of(document_or_404(asked.user, doc_id, Action.EDIT))
    row = row_or_404(notes, note_id, "No such note")
    document_notes.delete_note(row)
    return _note(row)


@router.post(OF_NOTE + "restore/", "api-note-restore", "Restore a deleted note", NOTE)
def restore_note(asked: ApiRequest, doc_id: int, note_id: int) -> Json:
    notes = document_notes.deleted_notes_of(document_or_404(asked.user, doc_id, Action.EDIT))
    row = row_or_404(notes, note_id, "No such note")
    document_notes.restore_note(row)
    return _note(row)


def _note(row: DocumentNote) -> Json:
    return NOTE.of(row, written_at=row.created_at)
