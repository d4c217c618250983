"""Rows as JSON, and the schema of each: what the OpenAPI document promises stands beside the code that keeps it."""

import json
from collections.abc import Sequence
from typing import Any

from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES
from crawlpoints.checks import SWITCHES, TEXTS
from crawlpoints.models import AuthType, CrawlPoint, ExcludeUrl

from ...models import Event, Excursion, PageVersion, Propagation, Run
from ...queries.counts import Totals
from ...queries.ledger import Row
from .contract import Schema

AUTH_WORDS = {AuthType.NONE: "none", AuthType.BASIC: "basic", AuthType.DIGEST: "digest", AuthType.NTLM: "ntlm",
              AuthType.FORM: "form"}  # fmt: skip
AUTH_CODES = {word: int(code) for code, word in AUTH_WORDS.items()}
COUNTERS = ("found", "queued", "crawled", "unchanged", "redirected", "skipped", "failed")

_N: Schema = {"type": "integer"}
_T: Schema = {"type": "string"}
_B: Schema = {"type": "boolean"}
_AT: Schema = {"type": ["string", "null"], "format": "date-time"}
_NONE_OR_N: Schema = {"type": ["integer", "null"]}


def _shape(**properties: Schema) -> Schema:
    return {"type": "object", "properties": properties, "required": list(properties), "additionalProperties": False}


def _list(items: Schema) -> Schema:
    return {"type": "array", "items": items}


_COUNTS = _shape(**dict.fromkeys((*COUNTERS, "documents", "bytes"), _N))
_TRACE = _shape(check=_T, result={"type": "string", "enum": ["pass", "stop", "idle"]}, detail=_T)
SCHEMAS: dict[str, Schema] = {
    "Me": _shape(user=_T, name=_T, role={"type": ["string", "null"]}, projects=_list(_T)),
    "Document": _shape(id=_N, title=_T, project=_T, status=_T, web_address=_T, may_edit=_B),
    "CrawlPoint": _shape(
        id=_N, version=_N, deleted=_B, depth=_N, max_pages=_N, authentication=_T, has_password=_B,
        **dict.fromkeys(TEXTS, _T), **dict.fromkeys(SWITCHES, _B),
    ),
    "SavedCrawlPoint": _shape(
        crawl_point={"$ref": "#/components/schemas/CrawlPoint"}, cautions=_list(_shape(code=_T, text=_T))
    ),
    "ExcludeUrl": _shape(id=_N, version=_N, pattern=_T, deleted=_B),
    "Explained": _shape(
        asked=_T, url=_T, verdict={"type": "string", "enum": ["yes", "no", "depends"]}, reason=_T,
        depth=_NONE_OR_N, trace=_list(_TRACE),
    ),
    "Run": _shape(
        id=_N, state=_T, asked=_T, speed=_T, requested_by=_T, origin=_T, note=_T, propagate_after=_B, max_seconds=_N,
        created_at=_AT, started_at=_AT, finished_at=_AT, left_out=_list(_N), counts=_COUNTS,
    ),
    "Excursion": _shape(document_id=_N, title=_T, project=_T, state=_T, **dict.fromkeys((*COUNTERS, "bytes"), _N)),
    "LedgerRow": _shape(
        id=_N, document_id=_N, url=_T, outcome=_T, reason=_T, detail=_T, status=_N, depth=_N,
        crawl_point_id=_NONE_OR_N, redirect_url=_T, size=_N, milliseconds=_N, at=_AT,
    ),
    "Page": _shape(
        id=_N, url=_T, title=_T, type=_T, language=_T, size=_N, found_at=_AT, text=_T, text_cut=_B,
        metas=_list(_list(_T)),
    ),
    "Event": _shape(id=_N, at=_AT, kind=_T, text=_T, document_id=_NONE_OR_N),
    "Propagation": _shape(
        generation=_N, state=_T, requested_by=_T, error=_T, targets=_list(_T), created_at=_AT, started_at=_AT,
        finished_at=_AT,
        steps=_list(_shape(number=_N, name=_T, target=_T, state=_T, error=_T, started_at=_AT, finished_at=_AT)),
    ),
    "Refusal": {
        "type": "object",
        "properties": {"code": _T, "error": _T, "fields": {"type": "object", "additionalProperties": _list(_T)}},
        "required": ["code", "error"],
    },
}  # fmt: skip
TEXT_LIMIT = 100_000


def _at(moment: Any) -> str | None:
    return moment.isoformat(timespec="seconds") if moment else None


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


def crawl_point(row: CrawlPoint) -> dict[str, Any]:
    """Everything but the password, of which only is said whether there is one."""
    values: dict[str, Any] = {name: getattr(row, name) or "" for name in TEXTS}
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
    names = ("state", "speed", "requested_by", "origin", "note", "propagate_after", "max_seconds", "left_out")
    return {name: getattr(row, name) for name in names} | {
        "id": row.pk,
        "asked": row.control,
        "created_at": _at(row.created_at),
        "started_at": _at(row.started_at),
        "finished_at": _at(row.finished_at),
        "counts": {name: getattr(sums, name) for name in (*COUNTERS, "documents", "bytes")},
    }


def excursion(row: Excursion) -> dict[str, Any]:
    head = {"document_id": row.doc_id, "title": row.title, "project": row.project, "state": row.state}
    return head | {name: getattr(row, name) for name in (*COUNTERS, "bytes")}


def ledger_row(row: Row) -> dict[str, Any]:
    names = ("id", "url", "outcome", "reason", "detail", "status", "depth", "crawl_point_id", "redirect_url", "size",
             "milliseconds")  # fmt: skip
    return {name: getattr(row, name) for name in names} | {"document_id": row.doc_id, "at": _at(row.at)}


def page(row: Row, version: PageVersion) -> dict[str, Any]:
    return {
        "id": row.id,
        "url": row.url,
        "title": version.title,
        "type": PAGE_TYPES.get(version.type_id, ""),
        "language": version.language,
        "size": version.size,
        "found_at": _at(version.found_at),
        "text": version.text[:TEXT_LIMIT],
        "text_cut": len(version.text) > TEXT_LIMIT,
        "metas": [[str(part) for part in meta] for meta in json.loads(version.metas or "[]")],
    }


def event(row: Event) -> dict[str, Any]:
    return {"id": row.pk, "at": _at(row.at), "kind": row.kind, "text": row.text, "document_id": row.doc_id}


def propagation(row: Propagation, steps: Sequence[Any]) -> dict[str, Any]:
    names = ("state", "requested_by", "error", "targets")
    shown = [
        {name: getattr(step, name) for name in ("number", "name", "target", "state", "error")}
        | {"started_at": _at(step.started_at), "finished_at": _at(step.finished_at)}
        for step in steps
    ]
    return {name: getattr(row, name) for name in names} | {
        "generation": row.pk,
        "created_at": _at(row.created_at),
        "started_at": _at(row.started_at),
        "finished_at": _at(row.finished_at),
        "steps": shown,
    }
