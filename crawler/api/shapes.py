"""Rows as JSON, and the schema of each: what the OpenAPI document promises stands beside the code that keeps it."""

import json
from collections.abc import Iterable, Sequence
from typing import Any

from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES
from crawlpoints.models import AuthType, CrawlPoint, ExcludeUrl
from crawlpoints.point_checks import SWITCHES, TEXTS

from ..ledger.queries import Row, with_documents
from ..models import Event, Excursion, PageVersion, Propagation, Run
from ..runs.run_counts import Totals
from .contract import Schema

AUTH_WORDS = {AuthType.NONE: "none", AuthType.BASIC: "basic", AuthType.DIGEST: "digest", AuthType.NTLM: "ntlm",
              AuthType.FORM: "form"}  # fmt: skip
AUTH_CODES = {word: int(code) for code, word in AUTH_WORDS.items()}
# `left`: of the skipped, what an early end left in the queue.
COUNTERS = ("found", "queued", "crawled", "unchanged", "redirected", "skipped", "failed", "left")

INT: Schema = {"type": "integer"}
TEXT: Schema = {"type": "string"}
FLAG: Schema = {"type": "boolean"}
MOMENT: Schema = {"type": ["string", "null"], "format": "date-time"}
INT_OR_NOTHING: Schema = {"type": ["integer", "null"]}


def shape_of(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def list_of(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_COUNTS = shape_of(**dict.fromkeys((*COUNTERS, "documents", "bytes"), INT))
_TRACE = shape_of(check=TEXT, result={"type": "string", "enum": ["pass", "stop", "idle"]}, detail=TEXT)
SCHEMAS: dict[str, Schema] = {
    "Me": shape_of(user=TEXT, name=TEXT, role={"type": ["string", "null"]}, projects=list_of(TEXT)),
    "Document": shape_of(id=INT, title=TEXT, project=TEXT, status=TEXT, web_address=TEXT, may_edit=FLAG),
    "CrawlPoint": shape_of(
        id=INT, version=INT, deleted=FLAG, depth=INT, max_pages=INT, authentication=TEXT, has_password=FLAG,
        **dict.fromkeys(TEXTS, TEXT), **dict.fromkeys(SWITCHES, FLAG),
    ),
    "SavedCrawlPoint": shape_of(
        crawl_point={"$ref": "#/components/schemas/CrawlPoint"}, cautions=list_of(shape_of(code=TEXT, text=TEXT))
    ),
    "ExcludeUrl": shape_of(id=INT, version=INT, pattern=TEXT, deleted=FLAG),
    "Explained": shape_of(
        asked=TEXT, url=TEXT, verdict={"type": "string", "enum": ["yes", "no", "depends"]}, reason=TEXT,
        depth=INT_OR_NOTHING, crawl_point_id=INT_OR_NOTHING, trace=list_of(_TRACE),
    ),
    "Run": shape_of(
        id=INT, state=TEXT, asked=TEXT, speed=TEXT, requested_by=TEXT, origin=TEXT, note=TEXT, label=TEXT,
        propagate_after=FLAG, max_seconds=INT, created_at=MOMENT, started_at=MOMENT, finished_at=MOMENT,
        left_out=list_of(INT), counts=_COUNTS,
    ),
    "Excursion": shape_of(
        document_id=INT, title=TEXT, project=TEXT, state=TEXT, left_out_reason=TEXT, left_out_by=TEXT,
        left_out_at=MOMENT, **dict.fromkeys((*COUNTERS, "bytes"), INT)
    ),
    "LedgerRow": shape_of(
        id=INT, document_id=INT, document=TEXT, url=TEXT, outcome=TEXT, reason=TEXT, detail=TEXT, status=INT, depth=INT,
        crawl_point_id=INT_OR_NOTHING, redirect_url=TEXT, size=INT, milliseconds=INT, at=MOMENT,
    ),
    "Page": shape_of(
        id=INT, url=TEXT, title=TEXT, type=TEXT, language=TEXT, size=INT, found_at=MOMENT, text=TEXT, text_cut=FLAG,
        metas=list_of(list_of(TEXT)),
    ),
    "Event": shape_of(id=INT, at=MOMENT, kind=TEXT, text=TEXT, document_id=INT_OR_NOTHING),
    "Propagation": shape_of(
        generation=INT, state=TEXT, requested_by=TEXT, error=TEXT, targets=list_of(TEXT), created_at=MOMENT,
        started_at=MOMENT, finished_at=MOMENT,
        steps=list_of(shape_of(
            number=INT, name=TEXT, target=TEXT, state=TEXT, error=TEXT, started_at=MOMENT, finished_at=MOMENT
        )),
    ),
    "Refusal": {
        "type": "object",
        "properties": {
            "code": TEXT, "error": TEXT, "fields": {"type": "object", "additionalProperties": list_of(TEXT)},
        },
        "required": ["code", "error"],
    },
}  # fmt: skip
TEXT_LIMIT = 100_000


def moment(at: Any) -> str | None:
    return at.isoformat(timespec="seconds") if at else None


def document(row: Document, may_edit: bool) -> dict[str, Any]:
    sheet = getattr(row, "sheet", None)
    return {
        "id": row.pk,
        "title": row.title,
        "project": sheet.project.name if sheet and sheet.project else "",
        "status": str(row.status) if row.status else "",
        "web_address": sheet.web_address if sheet else "",
        "may_edit": may_edit,
    }


def crawl_point(row: CrawlPoint, login: bool = True) -> dict[str, Any]:
    """Everything but the password, of which only is said whether there is one; for readers without the user ID."""
    values: dict[str, Any] = {name: getattr(row, name) or "" for name in TEXTS if login or name != "login"}
    values |= {} if login else {"login": ""}
    values |= {name: bool(getattr(row, name)) for name in SWITCHES}
    return values | {
        "id": row.pk,
        "version": row.version or 0,
        "deleted": bool(row.deleted),
        "depth": row.depth,
        "max_pages": row.max_pages or 0,
        "authentication": AUTH_WORDS.get(AuthType(row.auth_type or 0), "none"),
        "has_password": bool(row.password),
    }


def exclude_url(row: ExcludeUrl) -> dict[str, Any]:
    return {"id": row.pk, "version": row.version or 0, "pattern": row.pattern, "deleted": bool(row.deleted)}


def run(row: Run, sums: Totals) -> dict[str, Any]:
    names = ("state", "speed", "requested_by", "origin", "note", "label", "propagate_after", "max_seconds", "left_out")
    return {name: getattr(row, name) for name in names} | {
        "id": row.pk,
        "asked": row.control,
        "created_at": moment(row.created_at),
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "counts": {name: getattr(sums, name) for name in (*COUNTERS, "documents", "bytes")},
    }


def excursion(row: Excursion) -> dict[str, Any]:
    head = {"document_id": row.doc_id, "left_out_at": moment(row.left_out_at)}
    head |= {name: getattr(row, name) for name in ("title", "project", "state", "left_out_reason", "left_out_by")}
    return head | {name: getattr(row, name) for name in (*COUNTERS, "bytes")}


def ledger_row(row: Row) -> dict[str, Any]:
    names = ("id", "document", "url", "outcome", "reason", "detail", "status", "depth", "crawl_point_id",
             "redirect_url", "size", "milliseconds")  # fmt: skip
    return {name: getattr(row, name) for name in names} | {"document_id": row.doc_id, "at": moment(row.at)}


def ledger_rows(rows: Iterable[Row]) -> list[dict[str, Any]]:
    return [ledger_row(row) for row in with_documents(list(rows))]


def page(row: Row, version: PageVersion) -> dict[str, Any]:
    return {
        "id": row.id,
        "url": row.url,
        "title": version.title,
        "type": PAGE_TYPES.get(version.type_id, ""),
        "language": version.language,
        "size": version.size,
        "found_at": moment(version.found_at),
        "text": version.text[:TEXT_LIMIT],
        "text_cut": len(version.text) > TEXT_LIMIT,
        "metas": [[str(part) for part in meta] for meta in json.loads(version.metas or "[]")],
    }


def event(row: Event) -> dict[str, Any]:
    return {"id": row.pk, "at": moment(row.at), "kind": row.kind, "text": row.text, "document_id": row.doc_id}


def propagation(row: Propagation, steps: Sequence[Any]) -> dict[str, Any]:
    names = ("state", "requested_by", "error", "targets")
    shown = [
        {name: getattr(step, name) for name in ("number", "name", "target", "state", "error")}
        | {"started_at": moment(step.started_at), "finished_at": moment(step.finished_at)}
        for step in steps
    ]
    return {name: getattr(row, name) for name in names} | {
        "generation": row.pk,
        "created_at": moment(row.created_at),
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "steps": shown,
    }
