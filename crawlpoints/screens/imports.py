"""Import from CSV in three steps without a trace in between: the text, what each line would do, doing it."""

from collections.abc import Callable
from dataclasses import dataclass

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods, require_safe

from clearinghouse.access.policies import Action, document_or_404
from clearinghouse.access.templatetags.pieces import plural
from clearinghouse.library.models import Document
from clearinghouse.records import StaleRecord

from .. import importing
from ..bulk import Changed
from ..checks import Invalid
from ..csv_lines import Unreadable
from ..importing import Plan
from ..queries import excludes_of
from ..templatetags.ways import panel_url
from . import undo
from .spreadsheet import csv_answer

MOST_BYTES = 2_000_000


@dataclass(frozen=True, slots=True)
class Kind:
    noun: str
    title: str
    columns: tuple[str, ...]
    plan: Callable[[Document, str], Plan]
    do: Callable[[Document, str], tuple[Plan, Changed]]
    back: str


POINTS = Kind(
    "crawl point", "Import crawl points", importing.POINT_COLUMNS, importing.plan_points, importing.import_points,
    "crawl-points",
)  # fmt: skip
EXCLUDES = Kind(
    "exclude URL", "Import exclude URLs", ("exclude_url",), importing.plan_excludes, importing.import_excludes,
    "exclude-urls",
)  # fmt: skip


@require_http_methods(["GET", "HEAD", "POST"])
def points(request: HttpRequest, doc_id: int) -> HttpResponse:
    return _import(request, document_or_404(request.user, doc_id, Action.EDIT), POINTS)


@require_http_methods(["GET", "HEAD", "POST"])
def excludes(request: HttpRequest, doc_id: int) -> HttpResponse:
    return _import(request, document_or_404(request.user, doc_id, Action.EDIT), EXCLUDES)


def _import(request: HttpRequest, document: Document, kind: Kind) -> HttpResponse:
    if request.method != "POST":
        return _ask(request, document, kind)
    if request.POST.get("do") == "back":
        return _ask(request, document, kind, text=request.POST.get("text", ""))
    try:
        text = _text(request)
        plan = kind.plan(document, text)
        if request.POST.get("do") != "import":
            return _lines(request, document, kind, plan, text)
        if request.POST.get("seen", plan.seen) == plan.seen:
            return _done(request, document, kind, text)
    except (Unreadable, Invalid) as wrong:
        return _ask(request, document, kind, f"{wrong}", request.POST.get("text", ""))
    except StaleRecord:  # between the plan and its doing
        plan = kind.plan(document, text)
    return _lines(request, document, kind, plan, text, stale=True)


def _lines(
    request: HttpRequest, document: Document, kind: Kind, plan: Plan, text: str, stale: bool = False
) -> HttpResponse:
    """What each line would do; `stale`: once more, because somebody changed something since it was shown."""
    context = {
        "document": document, "kind": kind, "plan": plan, "text": text, "skipped": plan.count(importing.ERROR),
        "stale": stale,
    }  # fmt: skip
    return render(request, "crawlpoints/import_lines.html", context, status=409 if stale else 200)


def _text(request: HttpRequest) -> str:
    """The file, or else what was pasted."""
    upload = request.FILES.get("file")
    if upload is None:
        text = request.POST.get("text", "")
    elif upload.size and upload.size > MOST_BYTES:
        raise Unreadable("The file is larger than 2 MB")
    else:
        data = upload.read()
        try:
            text = data.decode("utf-8-sig")
        except UnicodeDecodeError:
            text = data.decode("cp1252", "replace")  # what spreadsheets of Windows write
    if not text.strip():
        raise Unreadable("Choose a file, or paste its lines")
    return text


def _ask(request: HttpRequest, document: Document, kind: Kind, wrong: str = "", text: str = "") -> HttpResponse:
    problems = [("id_text", wrong)] if wrong else []
    context = {"document": document, "kind": kind, "wrong": wrong, "problems": problems, "text": text}
    return render(request, "crawlpoints/import.html", context, status=422 if wrong else 200)


def _done(request: HttpRequest, document: Document, kind: Kind, text: str) -> HttpResponse:
    undo.forget(request)
    plan, changed = kind.do(document, text)
    skipped = plan.count(importing.ERROR)
    if plan.effective:
        left = f" {plural(skipped, 'line')} skipped." if skipped else ""
        added, altered = plan.count(importing.ADD), plan.count(importing.CHANGE)
        sentence = f"Imported {plural(plan.effective, kind.noun)}: {added} added, {altered} changed.{left}"
        undo.offer_change(request, document.pk, changed, sentence)
    else:
        messages.info(request, f"Nothing was imported: 0 changes, {plural(skipped, 'line')} skipped.")
    return redirect(panel_url(request, document.pk) if kind is POINTS else reverse(kind.back, args=[document.pk]))


@require_safe
def export_excludes(request: HttpRequest, doc_id: int) -> HttpResponseBase:
    document = document_or_404(request.user, doc_id)
    rows = [[document.pk, document.title, one.pattern] for one in excludes_of(document)]
    return csv_answer(f"exclude-urls-{document.pk}.csv", ("document_id", "document_title", "exclude_url"), rows)
