"""Owns: the JSON API of imports: a short one is done at once, a long one is worked on and followed at its address.

Does not: read lines or change rows itself. Called by: crawler.api.
"""

import codecs
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.http import Http404
from django.urls import reverse

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document
from crawler.api.contract import OF_DOCUMENT, ApiRequest, ApiResponse, Json, router, row_or_404
from crawler.api.request_fields import fields, switch, text
from crawler.api.response_fields import FLAG, INT, INT_OR_NOTHING, TEXT, JsonObject, list_of, one_of, shape_of

from ..bulk_changes import Changed
from ..models import Import
from ..panel.api import undo_token
from ..point_checks import Invalid
from . import import_steps, short_import
from .point_csv import UnreadablePointCsv, is_long
from .short_import import ImportPlan, PlannedLine

MOST_BYTES = 20_000_000
_SAVE = switch("Do it; otherwise only what each line would do is told")
SHEET = fields(("csv",), csv=text("The lines, with their headings first", 900_000), save=_SAVE)
_LINES = list_of(shape_of(
    number=INT, name=TEXT, message=TEXT, changes=list_of(shape_of(column=TEXT, old=TEXT, new=TEXT)),
    outcome=one_of(short_import.ADD, short_import.CHANGE, short_import.UNCHANGED, short_import.ERROR),
))  # fmt: skip
IMPORT = JsonObject(
    "Import", saved=FLAG, added=list_of(INT), changed=INT, undo=TEXT, ignored_columns=list_of(TEXT), lines=_LINES,
    import_id=INT_OR_NOTHING, status=TEXT,
)  # fmt: skip
LONG_IMPORT = JsonObject(
    "LongImport", id=INT, state=one_of(*Import.State), lines=INT, position=INT, added=INT, changed=INT, unchanged=INT,
    errors=INT, asked_by=TEXT, ignored_columns=list_of(TEXT), first_lines=_LINES, first_errors=_LINES,
)  # fmt: skip
OF_IMPORT = OF_DOCUMENT + "imports/<int:import_id>/"
Do = Callable[[Document, str], tuple[ImportPlan, Changed]]
_ORDERS = {"import": import_steps.confirm, "cancel": import_steps.cancel, "undo": import_steps.take_back}


@router.post(
    OF_DOCUMENT + "crawl-points/import/", "api-crawl-points-import",
    "Import crawl points from CSV, or see what it would do", IMPORT, body=SHEET, query={"save": _SAVE}, streams="csv",
    later=True,
)  # fmt: skip
def import_points(asked: ApiRequest, doc_id: int) -> Json | ApiResponse:
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


@router.post(
    OF_DOCUMENT + "exclude-urls/import/", "api-exclude-urls-import", "Import exclude URLs from CSV or lines", IMPORT,
    body=SHEET,
)  # fmt: skip
def import_excludes(asked: ApiRequest, doc_id: int) -> Json:
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


def _imported(asked: ApiRequest, document: Document, plan_of: Callable[[Document, str], ImportPlan], do: Do) -> Json:
    """Lines with an error are left out; the others are done together, or none of them."""
    lines, saved = asked.body["csv"], _saves(asked)
    try:
        plan, changed = do(document, lines) if saved else (plan_of(document, lines), Changed())
    except UnreadablePointCsv as wrong:
        raise Invalid({"csv": [str(wrong)]}) from None
    return {
        "saved": saved,
        "added": [*changed.added, *changed.excludes],
        "changed": len(changed.before),
        "undo": undo_token(asked, document.pk, changed),
        "ignored_columns": list(plan.ignored),
        "lines": [_line(line) for line in plan.lines],
        "import_id": None,
        "status": "",
    }


def _line(line: PlannedLine) -> dict[str, Any]:
    names = ("number", "outcome", "name", "message")
    return {name: getattr(line, name) for name in names} | {"changes": _changes(line.changes)}


def _changes(changes: Iterable[Any]) -> list[dict[str, str]]:
    return [{"column": column, "old": str(old), "new": str(new)} for column, old, new in changes]


@router.get(OF_IMPORT, "api-import", "How far a long import has come, and what it does", LONG_IMPORT)
def status(asked: ApiRequest, doc_id: int, import_id: int) -> Json:
    return _long(_found(asked, doc_id, import_id))


@router.post(
    OF_IMPORT + "<slug:order>/", "api-import-order", "Let a long import be done, cancelled, or taken back", LONG_IMPORT,
    status=202,
)  # fmt: skip
def order(asked: ApiRequest, doc_id: int, import_id: int, order: str) -> Json:
    """import: do what it would; cancel: do nothing of it; undo: as it was before."""
    row = _found(asked, doc_id, import_id)
    if order not in _ORDERS:
        raise Http404(f"No such command; there are {', '.join(_ORDERS)}")
    _ORDERS[order](row)
    row.refresh_from_db()
    return _long(row)


def _found(asked: ApiRequest, doc_id: int, import_id: int) -> Import:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    found: Import = row_or_404(Import.objects.filter(document=document), import_id, "No such import")
    return found


def _long(row: Import) -> Json:
    counts, told = row.counts, row.told

    def lines(name: str) -> list[Json]:
        return [one | {"changes": _changes(one["changes"])} for one in told.get(name, [])]

    return LONG_IMPORT.of(
        row, added=counts.get(short_import.ADD, 0), changed=counts.get(short_import.CHANGE, 0),
        unchanged=counts.get(short_import.UNCHANGED, 0), errors=counts.get(short_import.ERROR, 0),
        ignored_columns=list(told.get("ignored", [])), first_lines=lines("lines"), first_errors=lines("errors"),
    )  # fmt: skip
