"""The other tabs of a run: Pages, URLs (the decision ledger), Errors, Log, Settings used."""

from typing import Any

from django.core.paginator import Page, Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from crawlpoints.models import AuthType

from ..models import Run
from ..queries.counts import Docs, Tallies, excursions_of
from ..queries.ledger import PAGE_OUTCOMES, Filter, Row, outcomes, rows_of, with_parents
from ..queries.pages import titles_of
from ..queries.runs import events_of, kinds_of_events
from ..values import FAILED, REASONS
from . import charts
from .run import COUNTED_DOCUMENTS, PAGE_SIZE, tab_frame
from .scope import number_in
from .shown import shown
from .why import why_of

OUTCOME_LABELS = {
    "crawled": "New or changed",
    "unchanged": "Unchanged",
    "redirected": "Redirected",
    "skipped": "Skipped",
    "failed": "Failed",
    "queued": "Queued",
}
_SWATCHES = {"crawled": "k-ok", "unchanged": "k-done", "redirected": "k-off", "skipped": "k-wait", "failed": "k-err"}


@require_safe
def tab(request: HttpRequest, run_id: int, tab: str) -> HttpResponse:
    if tab not in _TABS:
        raise Http404("No such tab")
    run, docs, context = tab_frame(request, run_id, tab)
    template, fill = _TABS[tab]
    return render(request, template, context | fill(request, run, docs, context))


def asked_of(request: HttpRequest) -> Filter:
    """The filter in the address; nonsense is ignored."""
    return Filter(
        outcomes=outcomes(request.GET.getlist("outcome")),
        reasons=tuple(code for code in REASONS if code in request.GET.getlist("reason")),
        doc_id=number_in(request, "doc"),
        text=request.GET.get("q", "").strip()[:2048],
        depth=number_in(request, "depth"),
        status=number_in(request, "status"),
        taken=request.GET.get("taken") == "1",
        sort=request.GET.get("sort", ""),
    )


def _list(request: HttpRequest, run: Run, docs: Docs, asked: Filter) -> tuple[Page[Row], list[Row]]:
    found: Any = rows_of(run, docs, asked)  # counts and slices like the QuerySet a Paginator expects
    page: Page[Row] = Paginator(found, PAGE_SIZE).get_page(request.GET.get("page"))
    rows = with_parents(list(page.object_list))
    shown(rows, request.GET.get("why", ""))
    page.object_list = rows
    return page, rows


def _pages(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    asked = asked_of(request)
    chosen = tuple(one for one in asked.outcomes if one in PAGE_OUTCOMES)
    page, rows = _list(request, run, docs, asked.but(outcomes=chosen or PAGE_OUTCOMES))
    titles_of(rows)
    sums = context["sums"]
    kinds = [
        ("", "All", sums.pages),
        ("crawled", "New or changed", sums.crawled),
        ("unchanged", "Unchanged", sums.unchanged),
    ]
    return {"page": page, "asked": asked, "kinds": kinds, "chosen": chosen[0] if len(chosen) == 1 else ""} | _choices(
        run, docs, context
    )


def _urls(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    asked = asked_of(request)
    page, rows = _list(request, run, docs, asked)
    sums, divided = context["sums"], context["tallies"]
    return {
        "page": page,
        "asked": asked,
        "noun": "address,addresses",
        "terms": [
            (name, label, _SWATCHES.get(name, ""), getattr(sums, name)) for name, label in OUTCOME_LABELS.items()
        ],
        "parts": charts.ledger_parts(sums),
        "parts_title": charts.ledger_title(sums),
        "chip_rows": _chip_rows(request, asked, divided),
        "why": why_of(run, docs, rows, request.GET.get("why", "")),
    } | _choices(run, docs, context)


def _errors(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    asked = asked_of(request)
    page, rows = _list(request, run, docs, asked.but(outcomes=(FAILED,)))
    chips = _chips(request, asked, context["tallies"].failed)
    return {
        "page": page,
        "asked": asked,
        "noun": "error",
        "chip_rows": [("fail-h", "Failed because", chips)] if chips else [],
        "why": why_of(run, docs, rows, request.GET.get("why", "")),
    } | _choices(run, docs, context)


def _chip_rows(request: HttpRequest, asked: Filter, divided: Tallies) -> list[tuple[str, str, list[dict[str, Any]]]]:
    rows = [
        ("skip-h", "Skipped because", _chips(request, asked, divided.skipped)),
        ("fail-h", "Failed because", _chips(request, asked, divided.failed)),
    ]
    return [row for row in rows if row[2]]


def _chips(request: HttpRequest, asked: Filter, counts: dict[str, int]) -> list[dict[str, Any]]:
    """A chip for each reason; pressing it adds the reason to the filter, or takes it away."""
    chips = []
    for code, count in counts.items():
        chosen = code in asked.reasons
        query = request.GET.copy()
        for name in ("page", "why", "outcome", "status", "taken"):
            query.pop(name, None)
        query.setlist("reason", [r for r in asked.reasons if r != code] if chosen else [*asked.reasons, code])
        chips.append({"label": REASONS[code].label, "count": count, "chosen": chosen, "query": query.urlencode()})
    return chips


def _choices(run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    """The documents and depths to filter by; long lists of documents are left to the Summary tab."""
    few = context["sums"].documents <= COUNTED_DOCUMENTS
    documents = excursions_of(run, docs).order_by("title").values_list("doc_id", "title") if few else []
    return {"documents": list(documents), "depth_choices": sorted(context["tallies"].depths)}


def _log(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    kind, text = request.GET.get("kind", ""), request.GET.get("q", "").strip()[:200]
    page = Paginator(events_of(run, docs, kind, text), PAGE_SIZE).get_page(request.GET.get("page"))
    kinds = kinds_of_events(run, docs)
    titles = dict(
        excursions_of(run, docs)
        .filter(doc_id__in={event.doc_id for event in page.object_list if event.doc_id})
        .values_list("doc_id", "title")
    )
    events = [(event, titles.get(event.doc_id or 0, "")) for event in page.object_list]
    return {"page": page, "events": events, "kinds": kinds, "kind": kind, "text": text, "all": sum(kinds.values())}


def _settings(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    rows = excursions_of(run, docs).order_by("title", "id").only("id", "doc_id", "title", "snapshot")
    size = COUNTED_DOCUMENTS if context["sums"].documents <= COUNTED_DOCUMENTS else PAGE_SIZE
    page = Paginator(rows, size).get_page(request.GET.get("page"))
    listed = [(row, _points(row.snapshot or {}), (row.snapshot or {}).get("excludes", [])) for row in page.object_list]
    return {"page": page, "listed": listed, "no_excludes": not any(excludes for _, _, excludes in listed)}


_OPTIONS = {
    "accept_bad_certificate": "accepts a bad certificate",
    "merge_schemes": "http and https are one",
    "ignore_query": "ignores query strings",
    "obey_nofollow": "obeys nofollow",
    "ignore_robots": "ignores robots.txt",
}


def _points(snapshot: dict[str, Any]) -> list[dict[str, Any]]:
    """The crawl points as the run used them; neither user ID nor password is shown here."""
    return [
        {
            "url": point["url"],
            "root": point["root"],
            "depth": point.get("depth", 0),
            "max_pages": point.get("max_pages", 0),
            "auth": AuthType(point.get("auth_type") or 0).label,
            "active": point.get("active", True),
            "options": ", ".join(words for name, words in _OPTIONS.items() if point.get(name)),
        }
        for point in snapshot.get("points", [])
    ]


_TABS = {
    "pages": ("crawler/run_pages.html", _pages),
    "urls": ("crawler/run_urls.html", _urls),
    "errors": ("crawler/run_errors.html", _errors),
    "log": ("crawler/run_log.html", _log),
    "settings": ("crawler/run_settings.html", _settings),
}
