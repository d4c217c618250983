"""Would this address be crawled? The crawler's own answer, for saved settings and for entries not saved yet."""

from typing import Any

from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_http_methods, require_safe

from clearinghouse.access.policies import Action, document_or_404, may
from clearinghouse.library.models import Document
from crawler.explain import explain
from crawler.intake import snapshot_of
from crawler.preview.drafts import draft_of, saved_points, with_draft
from crawler.preview.visit import visit
from crawler.values import Snapshot

from ..checks import exclude_lines
from ..models import CrawlPoint
from .answers import answer_of
from .spreadsheet import csv_answer

MAX_LINES = 200
CSV_HEAD = ("address", "canonical_address", "crawled", "reason", "sentence")


@require_http_methods(["GET", "HEAD", "POST"])
def tester(request: HttpRequest, doc_id: int) -> HttpResponse:
    """With the saved settings; one address or up to 200, one in a line. A POST fetches the one address, too."""
    document = document_or_404(request.user, doc_id, Action.TEST)
    snapshot = snapshot_of(document)
    asked = request.POST if request.method == "POST" else request.GET
    lines = _lines(asked)
    answers = _answers(document, snapshot, lines, asked)
    one = answers[0] if len(answers) == 1 else None
    seen = None
    if request.method == "POST" and one:
        seen = visit(snapshot, saved_points(document), one["url"])
    context = {
        "document": document,
        "asked": "\n".join(lines),
        "found_on": asked.get("found_on", ""),
        "answer": one,
        "answers": answers if len(answers) > 1 else [],
        "seen": seen,
        "points": len(snapshot.points),
        "may_edit": may(request.user, Action.EDIT, document),
        "cut": len(exclude_lines(asked.get("url", "")[: MAX_LINES * 2100])) > MAX_LINES,
    }
    return render(request, "crawlpoints/tester.html", context)


@require_safe
def export(request: HttpRequest, doc_id: int) -> HttpResponseBase:
    """The answers of many lines as CSV."""
    document = document_or_404(request.user, doc_id, Action.TEST)
    answers = _answers(document, snapshot_of(document), _lines(request.GET), request.GET)
    rows = ([a["line"], a["url"], a["verdict"], a["code"], a["sentence"]] for a in answers)
    return csv_answer(f"tested-urls-{document.pk}.csv", CSV_HEAD, rows)


def _lines(asked: QueryDict) -> list[str]:
    return exclude_lines(asked.get("url", "")[: MAX_LINES * 2100])[:MAX_LINES]


def _answers(document: Document, snapshot: Snapshot, lines: list[str], asked: QueryDict) -> list[dict[str, Any]]:
    found_on = asked.get("found_on", "").strip()
    known = document.pk if len(lines) == 1 else None
    return [answer_of(explain(snapshot, line, found_on), line, known) for line in lines]


def draft_snapshot(document: Document, point: CrawlPoint | None, entries: dict[str, Any]) -> Snapshot:
    """The document as it would be with the entries of the dialog, saved or not."""
    return with_draft(document, draft_of(point, entries), exclude_lines(entries.get("excludes", "")))


def answer_for_form(document: Document, point: CrawlPoint | None, entries: dict[str, Any], url: str) -> dict[str, Any]:
    """For one line the answer with its trace, for many a table."""
    snapshot = draft_snapshot(document, point, entries)
    lines = exclude_lines(url[: MAX_LINES * 2100])[:MAX_LINES]
    if len(lines) > 1:
        return {"answers": [answer_of(explain(snapshot, line), line) for line in lines]}
    line = lines[0] if lines else ""
    return {"answer": answer_of(explain(snapshot, line), line, document.pk)}


def visit_for_form(document: Document, point: CrawlPoint | None, entries: dict[str, Any], url: str) -> dict[str, Any]:
    """Fetch it now, by the entries of the dialog."""
    context = answer_for_form(document, point, entries, url)
    answer = context.get("answer")
    if answer and answer["line"]:
        context["seen"] = visit(draft_snapshot(document, point, entries), saved_points(document), answer["url"])
    return context
