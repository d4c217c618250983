"""Operations on imports from CSV: a short one is done at once, a long one is worked on, and followed at its address."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.http import Http404
from django.urls import reverse

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document
from crawlpoints.bulk_changes import Changed
from crawlpoints.imports import import_steps, short_import
from crawlpoints.imports.point_csv import UnreadablePointCsv, is_long
from crawlpoints.imports.short_import import ImportPlan, PlannedLine
from crawlpoints.models import Import
from crawlpoints.point_checks import Invalid

from .contract import ApiAddress, ApiRequest, ApiResponse, Operation, Schema, switch, text, thing
from .paths import DOCUMENT, IMPORT
from .shapes import FLAG, INT, INT_OR_NOTHING, TEXT, list_of, shape_of
from .taking_back import token_of

MOST_BYTES = 20_000_000
_SAVE = switch("Do it; otherwise only what each line would do is told")
SHEET = thing(("csv",), csv=text("The lines, with their headings first", 900_000), save=_SAVE)
_OUTCOME: Schema = {
    "type": "string", "enum": [short_import.ADD, short_import.CHANGE, short_import.UNCHANGED, short_import.ERROR],
}  # fmt: skip
_LINES = list_of(shape_of(
    number=INT, outcome=_OUTCOME, name=TEXT, message=TEXT,
    changes=list_of(shape_of(column=TEXT, old=TEXT, new=TEXT)),
))  # fmt: skip
SCHEMAS: dict[str, Schema] = {
    "Import": shape_of(
        saved=FLAG, added=list_of(INT), changed=INT, undo=TEXT, ignored_columns=list_of(TEXT), lines=_LINES,
        import_id=INT_OR_NOTHING, status=TEXT,
    ),
    "LongImport": shape_of(
        id=INT, state={"type": "string", "enum": [str(one) for one in Import.State]}, lines=INT, position=INT,
        added=INT, changed=INT, unchanged=INT, errors=INT, asked_by=TEXT, ignored_columns=list_of(TEXT),
        first_lines=_LINES, first_errors=_LINES,
    ),
}  # fmt: skip
Do = Callable[[Document, str], tuple[ImportPlan, Changed]]
_ORDERS = {"import": import_steps.confirm, "cancel": import_steps.cancel, "undo": import_steps.take_back}


def import_points(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """More than 300 lines are worked on beside the request: 202, and the address that says how far it has come."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    sheet = asked.body["csv"]
    if isinstance(sheet, str) and not is_long(sheet):
        return _imported(asked, document, short_import.plan_points, short_import.import_points)
    pieces = [sheet] if isinstance(sheet, str) else _decoded(sheet)
    try:
        row = import_steps.ask(document, pieces, asked.by, at_once=_saves(asked))
    except UnreadablePointCsv as wrong:
        raise Invalid({"csv": [str(wrong)]}) from None
    status = reverse("api-import", args=[doc_id, row.pk])
    told = {"saved": False, "added": [], "changed": 0, "undo": "", "ignored_columns": [], "lines": []}
    return ApiResponse(told | {"import_id": row.pk, "status": status}, 202)


def import_excludes(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    return _imported(asked, document, short_import.plan_excludes, short_import.import_excludes)


def _saves(asked: ApiRequest) -> bool:
    return bool(asked.body.get("save") or asked.query.get("save"))


def _decoded(body: Any) -> Iterator[str]:
    """The request itself, read as it comes."""
    pieces = iter(lambda: body.read(64_000), b"")
    try:
        yield from codecs.iterdecode(_bounded(pieces), "utf-8-sig")
    except UnicodeDecodeError:
        raise UnreadablePointCsv("Send the CSV as UTF-8") from None


def _bounded(pieces: Iterable[bytes]) -> Iterator[bytes]:
    read = 0
    for piece in pieces:
        read += len(piece)
        if read > MOST_BYTES:
            raise UnreadablePointCsv(f"At most {MOST_BYTES // 1_000_000} MB can be imported at once")
        yield piece


def _imported(
    asked: ApiRequest, document: Document, plan_of: Callable[[Document, str], ImportPlan], do: Do
) -> ApiResponse:
    """Lines with an error are left out; the others are done together, or none of them."""
    lines, saved = asked.body["csv"], _saves(asked)
    try:
        plan, changed = do(document, lines) if saved else (plan_of(document, lines), Changed())
    except UnreadablePointCsv as wrong:
        raise Invalid({"csv": [str(wrong)]}) from None
    return ApiResponse({
        "saved": saved,
        "added": [*changed.added, *changed.excludes],
        "changed": len(changed.before),
        "undo": token_of(asked, document.pk, changed),
        "ignored_columns": list(plan.ignored),
        "lines": [_line(line) for line in plan.lines],
        "import_id": None,
        "status": "",
    })  # fmt: skip


def _line(line: PlannedLine) -> dict[str, Any]:
    names = ("number", "outcome", "name", "message")
    return {name: getattr(line, name) for name in names} | {"changes": _changes(line.changes)}


def _changes(changes: Iterable[Any]) -> list[dict[str, str]]:
    return [{"column": column, "old": str(old), "new": str(new)} for column, old, new in changes]


def status(asked: ApiRequest, doc_id: int, import_id: int) -> ApiResponse:
    return ApiResponse(_long(_found(asked, doc_id, import_id)))


def order(asked: ApiRequest, doc_id: int, import_id: int, order: str) -> ApiResponse:
    """import: do what it would; cancel: do nothing of it; undo: as it was before."""
    row = _found(asked, doc_id, import_id)
    if order not in _ORDERS:
        raise Http404(f"No such command; there are {', '.join(_ORDERS)}")
    _ORDERS[order](row)
    row.refresh_from_db()
    return ApiResponse(_long(row), 202)


def _found(asked: ApiRequest, doc_id: int, import_id: int) -> Import:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    row = Import.objects.filter(pk=import_id, document=document).first()
    if row is None:
        raise Http404("No such import")
    return row


def _long(row: Import) -> dict[str, Any]:
    counts, told = row.counts, row.told

    def lines(name: str) -> list[dict[str, Any]]:
        return [one | {"changes": _changes(one["changes"])} for one in told.get(name, [])]

    return {
        "id": row.pk, "state": row.state, "lines": row.lines, "position": row.position, "asked_by": row.asked_by,
        "added": counts.get(short_import.ADD, 0), "changed": counts.get(short_import.CHANGE, 0),
        "unchanged": counts.get(short_import.UNCHANGED, 0), "errors": counts.get(short_import.ERROR, 0),
        "ignored_columns": list(told.get("ignored", [])), "first_lines": lines("lines"),
        "first_errors": lines("errors"),
    }  # fmt: skip


ADDRESSES = (
    ApiAddress(DOCUMENT + "crawl-points/import/", "api-crawl-points-import", {
        "POST": Operation(import_points, "Import crawl points from CSV, or see what it would do", "Import", body=SHEET,
                          query={"save": _SAVE}, streams="csv", later=True),
    }),
    ApiAddress(DOCUMENT + "exclude-urls/import/", "api-exclude-urls-import", {
        "POST": Operation(import_excludes, "Import exclude URLs from CSV or lines", "Import", body=SHEET),
    }),
    ApiAddress(IMPORT, "api-import", {
        "GET": Operation(status, "How far a long import has come, and what it does", "LongImport"),
    }),
    ApiAddress(IMPORT + "<slug:order>/", "api-import-order", {
        "POST": Operation(order, "Let a long import be done, cancelled, or taken back", "LongImport", status=202),
    }),
)  # fmt: skip
