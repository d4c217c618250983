"""Import from CSV in three steps without a trace in between: the text, what each line would do, doing it."""

import codecs
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.core.files.uploadedfile import UploadedFile
from django.http import Http404, HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_POST, require_safe

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from clearinghouse.web.templatetags.formats import plural

from .. import undo
from ..bulk_changes import Changed
from ..documents.csv_answers import csv_answer
from ..models import Import
from ..point_checks import Invalid
from ..queries import excludes_of
from ..templatetags.panel_urls import panel_url
from . import import_steps, short_import
from .point_csv import UnreadablePointCsv, is_long
from .short_import import ImportPlan

SHORT_BYTES = 100_000  # of a file that may be short enough for the request
MOST_BYTES = {"crawl point": 20_000_000, "exclude URL": 2_000_000}


@dataclass(frozen=True, slots=True)
class ImportKind:
    noun: str
    title: str
    columns: tuple[str, ...]
    plan: Callable[[Document, str], ImportPlan]
    do: Callable[[Document, str], tuple[ImportPlan, Changed]]
    back: str


POINTS = ImportKind(
    "crawl point",
    "Import crawl points",
    short_import.POINT_COLUMNS,
    short_import.plan_points,
    short_import.import_points,
    "crawl-points",
)
EXCLUDES = ImportKind(
    "exclude URL",
    "Import exclude URLs",
    ("exclude_url",),
    short_import.plan_excludes,
    short_import.import_excludes,
    "exclude-urls",
)


@require_http_methods(["GET", "HEAD", "POST"])
def points(request: HttpRequest, doc_id: int) -> HttpResponse:
    return _import(request, document_or_404(request.user, doc_id, Action.EDIT), POINTS)


@require_http_methods(["GET", "HEAD", "POST"])
def excludes(request: HttpRequest, doc_id: int) -> HttpResponse:
    return _import(request, document_or_404(request.user, doc_id, Action.EDIT), EXCLUDES)


def _import(request: HttpRequest, document: Document, kind: ImportKind) -> HttpResponse:
    if kind is POINTS and (row := import_steps.open_of(document)):
        return redirect("crawl-points-import-job", document.pk, row.pk)
    if request.method != "POST":
        return _ask(request, document, kind)
    if request.POST.get("do") == "back":
        return _ask(request, document, kind, text=request.POST.get("text", ""))
    try:
        if kind is POINTS and (pieces := _long(request)):
            row = import_steps.ask(document, pieces, request.user.get_username())
            return redirect("crawl-points-import-job", document.pk, row.pk)
        text = _text(request, kind)
        plan = kind.plan(document, text)
        if request.POST.get("do") != "import":
            return _lines(request, document, kind, plan, text)
        if request.POST.get("seen", plan.seen) == plan.seen:
            return _done(request, document, kind, text)
    except (UnreadablePointCsv, Invalid) as wrong:
        return _ask(request, document, kind, f"{wrong}", request.POST.get("text", ""))
    except StaleRecord:  # between the plan and its doing
        plan = kind.plan(document, text)
    return _lines(request, document, kind, plan, text, stale=True)


def _lines(
    request: HttpRequest, document: Document, kind: ImportKind, plan: ImportPlan, text: str, stale: bool = False
) -> HttpResponse:
    """What each line would do; `stale`: once more, because somebody changed something since it was shown."""
    context = {
        "document": document, "kind": kind, "plan": plan, "text": text, "skipped": plan.count(short_import.ERROR),
        "stale": stale,
    }  # fmt: skip
    return render(request, "imports/import_lines.html", context, status=409 if stale else 200)


def _text(request: HttpRequest, kind: ImportKind) -> str:
    """The file, or else what was pasted."""
    upload = request.FILES.get("file")
    text = "".join(_decoded(upload, MOST_BYTES[kind.noun])) if upload else request.POST.get("text", "")
    if not text.strip():
        raise UnreadablePointCsv("Choose a file, or paste its lines")
    return text.replace("\0", "")


def _decoded(upload: UploadedFile, most: int) -> Iterator[str]:
    """Piece by piece, so that a large file is never in memory as a whole."""
    if upload.size and upload.size > most:
        raise UnreadablePointCsv(
            f"The file is larger than {most // 1_000_000} MB. Split it, and import one part after the other"
        )
    how = "utf-8-sig"
    try:
        for _ in codecs.iterdecode(upload.chunks(), how):
            pass
    except UnicodeDecodeError:
        how = "cp1252"  # what spreadsheets of Windows write
    yield from codecs.iterdecode(upload.chunks(), how, "replace")


def _long(request: HttpRequest) -> Iterable[str] | None:
    """What was sent, when it is too much for one request."""
    upload = request.FILES.get("file")
    if upload and (upload.size or 0) > SHORT_BYTES:
        return _decoded(upload, MOST_BYTES["crawl point"])
    text = "".join(_decoded(upload, SHORT_BYTES)) if upload else request.POST.get("text", "")
    return [text] if is_long(text) else None


def _ask(request: HttpRequest, document: Document, kind: ImportKind, wrong: str = "", text: str = "") -> HttpResponse:
    problems = [("id_text", wrong)] if wrong else []
    context = {"document": document, "kind": kind, "wrong": wrong, "problems": problems, "text": text}
    return render(request, "imports/import.html", context, status=422 if wrong else 200)


def _done(request: HttpRequest, document: Document, kind: ImportKind, text: str) -> HttpResponse:
    undo.forget(request)
    plan, changed = kind.do(document, text)
    skipped = plan.count(short_import.ERROR)
    if plan.effective:
        left = f" {plural(skipped, 'line')} skipped." if skipped else ""
        added, altered = plan.count(short_import.ADD), plan.count(short_import.CHANGE)
        sentence = f"Imported {plural(plan.effective, kind.noun)}: {added} added, {altered} changed.{left}"
        undo.offer_change(request, document.pk, changed, sentence)
    else:
        messages.info(request, f"Nothing was imported: 0 changes, {plural(skipped, 'line')} skipped.")
    return redirect(panel_url(request, document.pk) if kind is POINTS else reverse(kind.back, args=[document.pk]))


# ---- a long one, that a worker reads ----

_ORDERS = {"import": import_steps.confirm, "cancel": import_steps.cancel, "undo": import_steps.take_back}


@require_safe
def job(request: HttpRequest, doc_id: int, import_id: int) -> HttpResponse:
    """How far it has come, what it would do, and what a person decides about it."""
    document, row = _found(request, doc_id, import_id)
    return render(request, "imports/import_job.html", _context(document, row))


@require_safe
def job_live(request: HttpRequest, doc_id: int, import_id: int) -> HttpResponse:
    """204 while nothing moved."""
    document, row = _found(request, doc_id, import_id)
    if request.GET.get("since") == _mark(row):
        return HttpResponse(status=204)
    return render(request, "imports/import_job_live.html", _context(document, row))


@require_POST
def job_order(request: HttpRequest, doc_id: int, import_id: int) -> HttpResponse:
    document, row = _found(request, doc_id, import_id)
    if order := _ORDERS.get(request.POST.get("do", "")):
        order(row)
    return redirect("crawl-points-import-job", document.pk, row.pk)


def _found(request: HttpRequest, doc_id: int, import_id: int) -> tuple[Document, Import]:
    document = document_or_404(request.user, doc_id, Action.EDIT)
    row = Import.objects.filter(pk=import_id, document=document).first()
    if row is None:
        raise Http404("No such import")
    return document, row


def _mark(row: Import) -> str:
    return f"{row.state}.{row.position}"


def _context(document: Document, row: Import) -> dict[str, Any]:
    counts = {"add": 0, "change": 0, "unchanged": 0, "error": 0} | row.counts
    lines = [*row.told.get("errors", []), *row.told.get("lines", [])]
    return {
        "document": document, "kind": POINTS, "row": row, "mark": _mark(row), "state": Import.State,
        "live": row.state in import_steps.WORKING, "counts": counts, "effective": counts["add"] + counts["change"],
        "ignored": row.told.get("ignored", []), "lines": lines, "whole": row.lines, "done": _done_of(row),
        "more_errors": counts["error"] - len(row.told.get("errors", [])), "told": row.told,
        "may_take_back": row.state == Import.State.DONE and row.rows.exists(),
    }  # fmt: skip


_BY_ROW = (Import.State.RECORDING, Import.State.REMOVING, Import.State.RECORDING_BACK)


def _done_of(row: Import) -> int:
    """Of `lines`, for the meter: rows are numbered by their lines, and the heading is line 1."""
    return min(row.position, row.lines) if row.state in (*_BY_ROW, Import.State.READING) else row.lines


@require_safe
def export_excludes(request: HttpRequest, doc_id: int) -> HttpResponseBase:
    document = document_or_404(request.user, doc_id)
    rows = [[document.pk, document.title, one.pattern] for one in excludes_of(document)]
    return csv_answer(f"exclude-urls-{document.pk}.csv", ("document_id", "document_title", "exclude_url"), rows)
