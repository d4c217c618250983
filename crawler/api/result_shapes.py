"""Findings, sites, errors, changes, comparisons and requests as JSON, with the schema of each beside it."""

from typing import Any

from clearinghouse.audit.models import Entry
from clearinghouse.audit.queries import without_login

from ..findings.types import Fix
from ..ledger.error_groups import FailureGroup as Errors
from ..ledger.site_folders import SiteFolder as Site
from ..models import CrawlRequest, Excursion, Finding, Preview
from ..runs.run_comparison import Pair, Side
from ..runs.tabs.tab_settings import used_points
from .contract import Schema
from .shapes import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, list_of, moment, shape_of

_WEIGHTS = {3: "stops", 2: "warns", 1: "informs"}
HOST_COUNTS = ("pages", "new", "changed", "unchanged", "robots", "outside", "excluded", "other", "errors", "queued",
               "left", "bytes")  # fmt: skip
_SIDE = shape_of(run_id=INT, state=TEXT, pages=INT, errors=INT) | {"type": ["object", "null"]}
_VALUES: Schema = {"type": "object"}  # column: value
SCHEMAS: dict[str, Schema] = {
    "Finding": shape_of(
        id=INT, run_id=INT, document_id=INT, title=TEXT, rule=TEXT, weight=TEXT, sentence=TEXT, state=TEXT, note=TEXT,
        decided_by=TEXT, decided_at=MOMENT, fixes=list_of(shape_of(number=INT, label=TEXT, can_be_done=FLAG)),
    ),
    "Host": shape_of(host=TEXT, milliseconds=INT_OR_NOTHING, **dict.fromkeys(HOST_COUNTS, INT)),
    "ErrorGroup": shape_of(
        key=TEXT, name=TEXT, reason=TEXT, site=TEXT, pattern=TEXT, state=TEXT, count=INT, statuses=list_of(INT),
        documents=list_of(INT), first_at=MOMENT, last_at=MOMENT,
    ),
    "Change": shape_of(kind=TEXT, url=TEXT, why=TEXT),
    "Compared": shape_of(document_id=INT, title=TEXT, first=_SIDE, second=_SIDE),
    "SettingsUsed": shape_of(
        document_id=INT, title=TEXT, excludes=list_of(TEXT),
        crawl_points=list_of(
            shape_of(url=TEXT, root=TEXT, depth=INT, max_pages=INT, authentication=TEXT, active=FLAG, options=TEXT)
        ),
    ),
    "Changed": shape_of(changed=INT, added=list_of(INT), deleted=list_of(INT), refused=list_of(TEXT), undo=TEXT),
    "CrawlRequest": shape_of(
        id=INT, document_id=INT, title=TEXT, note=TEXT, state=TEXT, asked_by=TEXT, asked_at=MOMENT, answer=TEXT,
        answered_by=TEXT, answered_at=MOMENT, run_id=INT_OR_NOTHING,
    ),
    "HistoryEntry": shape_of(
        id=INT, at=MOMENT, person=TEXT, action=TEXT, kind=TEXT, thing_id=INT_OR_NOTHING, sentence=TEXT, before=_VALUES,
        after=_VALUES,
    ),
    "Preview": shape_of(
        id=INT, document_id=INT, asked_by=TEXT, asked_at=MOMENT, started_at=MOMENT, finished_at=MOMENT, stopped=FLAG,
        ended=TEXT, pages=list_of(shape_of(url=TEXT, title=TEXT, status=INT, reason=TEXT, depth=INT)),
    ),
}  # fmt: skip


def finding(row: Finding) -> dict[str, Any]:
    fixes = [Fix.from_json(one) for one in row.fixes]
    names = ("id", "run_id", "rule", "sentence", "state", "note", "decided_by")
    return {name: getattr(row, name) for name in names} | {
        "document_id": row.doc_id,
        "title": row.excursion.title,
        "weight": _WEIGHTS.get(row.weight, "informs"),
        "decided_at": moment(row.decided_at),
        "fixes": [
            {"number": number, "label": one.label, "can_be_done": one.presses} for number, one in enumerate(fixes)
        ],
    }


def host(row: Site) -> dict[str, Any]:
    return {"host": row.start, "milliseconds": row.median} | {name: getattr(row, name) for name in HOST_COUNTS}


def error_group(row: Errors) -> dict[str, Any]:
    return {name: getattr(row, name) for name in ("key", "name", "reason", "site", "pattern", "state", "count")} | {
        "statuses": sorted(row.statuses),
        "documents": sorted(row.documents),
        "first_at": moment(row.first),
        "last_at": moment(row.last),
    }


def pair(row: Pair) -> dict[str, Any]:
    first, second = (_side(one) for one in row.sides)
    return {"document_id": row.doc_id, "title": row.title, "first": first, "second": second}


def _side(side: Side) -> dict[str, Any] | None:
    if side.excursion is None:
        return None
    return {"run_id": side.run_id, "state": side.excursion.state, "pages": side.pages, "errors": side.errors}


def settings_used(row: Excursion) -> dict[str, Any]:
    snapshot = row.snapshot or {}
    points = [
        {name: one[name] for name in ("url", "root", "depth", "max_pages", "active", "options")}
        | {"authentication": one["auth"]}
        for one in used_points(snapshot)
    ]
    excludes = list(snapshot.get("excludes", []))
    return {"document_id": row.doc_id, "title": row.title, "excludes": excludes, "crawl_points": points}


def crawl_request(row: CrawlRequest) -> dict[str, Any]:
    names = ("id", "title", "note", "state", "asked_by", "answer", "answered_by", "run_id")
    return {name: getattr(row, name) for name in names} | {
        "document_id": row.doc_id,
        "asked_at": moment(row.asked_at),
        "answered_at": moment(row.answered_at),
    }


def history_entry(row: Entry, login: bool) -> dict[str, Any]:
    found = {name: getattr(row, name) for name in ("id", "action", "kind", "thing_id", "sentence", "before", "after")}
    if not login:
        found |= {name: without_login(found[name]) for name in ("before", "after")}
    return found | {"at": moment(row.at), "person": row.actor}


def preview(row: Preview) -> dict[str, Any]:
    result = row.result or {}
    pages = [
        {"url": str(one["url"]), "title": str(one.get("title") or ""), "status": int(one.get("status") or 0),
         "reason": str(one.get("reason") or ""), "depth": int(one.get("depth") or 0)}
        for one in result.get("pages", [])
    ]  # fmt: skip
    return {
        "id": row.pk,
        "document_id": row.doc_id,
        "asked_by": row.asked_by,
        "asked_at": moment(row.asked_at),
        "started_at": moment(row.started_at),
        "finished_at": moment(row.finished_at),
        "stopped": row.stop,
        "ended": str(result.get("ended", "")),
        "pages": pages,
    }
