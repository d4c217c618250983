"""One document: what is known of it at a glance, and all its runs."""

from collections.abc import Sequence
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, document_or_404, may
from clearinghouse.accounts.views import page_size
from clearinghouse.audit.queries import history_of_document
from clearinghouse.library.models import Assignment, Document
from clearinghouse.web.templatetags.formats import STATES
from crawler.ledger.stored_pages import count_of
from crawler.models import Excursion
from crawler.runs.latest_crawls import trends
from crawler.runs.queries import crawls_before, excursions_of_document, states_of_document

from ..queries import excludes_of, points_of
from ..templatetags.panel_urls import list_url
from .crawl_facts import mark_of, running_of
from .document_notes import notes_of

ROWS = 50
FIRST = 5  # runs and notes on the overview


@require_safe
def document(request: HttpRequest, doc_id: int) -> HttpResponse:
    """What is known of one document, its people, its last runs and notes; each list has a page of its own."""
    found = document_or_404(request.user, doc_id)
    people = Assignment.objects.filter(document=found).order_by("person__username")
    runs_seen = may(request.user, Action.VIEW_RUNS, found)
    points = list(points_of(found).values_list("active", flat=True))
    notes = list(notes_of(found))
    running = running_of(found.pk)
    context = {
        "document": found,
        "people": list(people.values_list("person__username", flat=True)),
        "points": len(points),
        "active_points": sum(1 for active in points if active),
        "excludes": excludes_of(found).count(),
        "pages": count_of(found.pk),
        "runs_seen": runs_seen,
        "notes": notes[:FIRST],
        "notes_count": len(notes),
        "running": running,
        "mark": mark_of(running),
        "trend": trends([found.pk]).get(found.pk),
        "history": history_of_document(found.pk)[:10],
        "may_edit": may(request.user, Action.EDIT, found),
        "may_assign": may(request.user, Action.ASSIGN, found),
        "may_launch": may(request.user, Action.LAUNCH, found),
        "list_url": list_url(request, found.pk),
    }
    return render(request, "documents/document.html", context | last_runs(found))


def last_runs(found: Document) -> dict[str, Any]:
    """For its overview, and for what follows a crawl there."""
    excursions = excursions_of_document(found.pk)
    return {"runs": _lines(list(excursions[:FIRST])), "runs_count": excursions.count()}


@require_safe
def runs(request: HttpRequest, doc_id: int) -> HttpResponse:
    """Every run of the document, newest first."""
    found: Document = document_or_404(request.user, doc_id, Action.VIEW_RUNS)
    counts = states_of_document(found.pk)
    state = request.GET.get("state", "") if request.GET.get("state") in counts else ""
    excursions = excursions_of_document(found.pk, state)
    page = Paginator(excursions, page_size(request, ROWS)).get_page(request.GET.get("page"))
    context = {
        "document": found,
        "page": page,
        "runs": _lines(list(page.object_list)),
        "state": state,
        "states": [(code, STATES[code][2], count) for code, count in counts.items()],
        "total": sum(counts.values()),
        "list_url": list_url(request, found.pk),
    }
    return render(request, "documents/document_runs.html", context)


def _lines(excursions: Sequence[Excursion]) -> list[dict[str, Any]]:
    """Each with the crawl it is compared with."""
    return [
        {"one": one, "pages": one.crawled + one.unchanged, "seconds": _seconds(one), "before": other}
        for one, other in zip(excursions, crawls_before(excursions), strict=True)
    ]


def _seconds(one: Excursion) -> float | None:
    return (one.finished_at - one.started_at).total_seconds() if one.started_at and one.finished_at else None
