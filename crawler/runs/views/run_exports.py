"""Downloads of a run: pages.csv, urls.csv, log.jsonl, run.json; written row by row, of what the person may see."""

import json
from collections.abc import Callable, Iterator
from itertools import islice
from typing import Any

from django.http import Http404, HttpRequest, HttpResponse, HttpResponseBase, JsonResponse, StreamingHttpResponse
from django.views.decorators.http import require_safe

from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.web.csv_output import csv_answer
from crawler.ledger.queries import PAGE_OUTCOMES, Filter, Row, found_urls, iterated
from crawler.models import PageVersion, Run

from ..queries import events_of
from ..run_counts import Docs, excursions_of, left_behind, tallies, totals
from ..run_json import seconds_of
from .run_access import run_or_404

_AT_ONCE = 500
URLS_HEAD = ("address", "decision", "reason", "detail", "status", "depth", "document_id", "document", "found_on",
             "redirects_to", "size", "milliseconds", "decided_at", "reason_in_words")  # fmt: skip
PAGES_HEAD = ("address", "title", "type", "size", "depth", "status", "changed", "document_id", "document", "found_on",
              "fetched_at")  # fmt: skip


@require_safe
def export(request: HttpRequest, run_id: int, name: str) -> HttpResponseBase:
    """The filters of the list in the address count for its download too."""
    run, docs = run_or_404(request, run_id)
    if name not in _EXPORTS:
        raise Http404("No such download")
    return _EXPORTS[name](run, docs, Filter.read(request.GET))


def _urls(run: Run, docs: Docs, asked: Filter) -> HttpResponseBase:
    titles = _titles(run, docs)
    lines = (
        (row.url, row.outcome, row.reason, row.detail, row.status or "", row.depth, row.doc_id,
         titles.get(row.doc_id, ""), found_on, row.redirect_url, row.size, row.milliseconds, _time(row.at), row.label)
        for row, found_on in _with_found_on(run, docs, asked)
    )  # fmt: skip
    return csv_answer(f"run-{run.pk}-urls.csv", URLS_HEAD, lines)


def _pages(run: Run, docs: Docs, asked: Filter) -> HttpResponseBase:
    chosen = tuple(one for one in asked.outcomes if one in PAGE_OUTCOMES)
    titles = _titles(run, docs)
    lines = _page_lines(_with_found_on(run, docs, asked.but(outcomes=chosen or PAGE_OUTCOMES)), titles)
    return csv_answer(f"run-{run.pk}-pages.csv", PAGES_HEAD, lines)


def _page_lines(rows: Iterator[tuple[Row, str]], titles: dict[int, str]) -> Iterator[tuple[Any, ...]]:
    while part := list(islice(rows, _AT_ONCE)):
        ids = [row.version_id for row, _ in part if row.version_id]
        stored = PageVersion.objects.filter(pk__in=ids).values_list("pk", "title", "type_id")
        known = {pk: (title, PAGE_TYPES.get(type_id, "")) for pk, title, type_id in stored}
        for row, found_on in part:
            title, kind = known.get(row.version_id or 0, ("", ""))
            yield (row.url, title, kind, row.size, row.depth, row.status, _changed(row), row.doc_id,
                   titles.get(row.doc_id, ""), found_on, _time(row.at))  # fmt: skip


def _changed(row: Row) -> str:
    if row.outcome == "unchanged":
        return "unchanged"
    return "changed" if row.previous_version_id else "new"


def _with_found_on(run: Run, docs: Docs, asked: Filter) -> Iterator[tuple[Row, str]]:
    """Each row with the address of the page it was found on, some hundred at a time."""
    rows = iterated(run, docs, asked)
    while part := list(islice(rows, _AT_ONCE)):
        urls = found_urls(part)
        for row in part:
            yield row, urls.get((row.excursion_id, bytes(row.found_on)), "") if row.found_on else ""


def _titles(run: Run, docs: Docs) -> dict[int, str]:
    return dict(excursions_of(run, docs).values_list("doc_id", "title"))


def _time(moment: Any) -> str:
    return moment.isoformat(timespec="seconds") if moment else ""


def _log(run: Run, docs: Docs, asked: Filter) -> HttpResponseBase:
    def lines() -> Iterator[str]:
        for event in events_of(run, docs, text=asked.text).order_by("id").iterator(_AT_ONCE):
            told = {"at": event.at.isoformat(), "kind": event.kind, "document": event.doc_id, "text": event.text}
            yield json.dumps(told, ensure_ascii=False) + "\n"

    answer = StreamingHttpResponse(lines(), content_type="application/x-ndjson")
    answer["Content-Disposition"] = f'attachment; filename="run-{run.pk}-log.jsonl"'
    return answer


def _json(run: Run, docs: Docs, asked: Filter) -> HttpResponse:
    """The figures as the command `run --json` gives them, with one object for each document."""
    sums, divided = totals(run, docs), tallies(run, docs)
    rows = excursions_of(run, docs).annotate(left=left_behind())
    documents = rows.order_by("title", "id").defer("snapshot", "tallies", "error")
    answer = JsonResponse(
        {
            "run": run.pk, "state": run.state, "speed": run.speed, "requested_by": run.requested_by, "note": run.note,
            "label": run.label,
            "created_at": _time(run.created_at), "started_at": _time(run.started_at),
            "finished_at": _time(run.finished_at), "seconds": seconds_of(run), "found": sums.found,
            "queued": sums.queued, "crawled": sums.crawled, "unchanged": sums.unchanged,
            "redirected": sums.redirected, "left": sums.left, "skipped": divided.skipped, "failed": divided.failed,
            "bytes": sums.bytes,
            "documents": [
                {"doc_id": one.doc_id, "title": one.title, "state": one.state, "found": one.found,
                 "queued": one.queued, "crawled": one.crawled, "unchanged": one.unchanged,
                 "redirected": one.redirected, "left": one.left, "skipped": one.skipped, "failed": one.failed,
                 "bytes": one.bytes}
                for one in documents
            ],
        },
        json_dumps_params={"ensure_ascii": False, "indent": 1},
    )  # fmt: skip
    answer["Content-Disposition"] = f'attachment; filename="run-{run.pk}.json"'
    return answer


_EXPORTS: dict[str, Callable[[Run, Docs, Filter], HttpResponseBase]] = {
    "pages.csv": _pages,
    "urls.csv": _urls,
    "log.jsonl": _log,
    "run.json": _json,
}
