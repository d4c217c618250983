"""The tab Log: what happened, newest first; filtered, searched, followed, downloaded line by line."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render

from crawler.models import OPEN_STATES, Run

from ..queries import events_of, kinds_of_events
from ..run_counts import Docs, excursions_of
from ..views.run_access import number_in, page_size
from ..views.run_page import live_wanted

# The kinds of events in the words of the filter; a new kind stands as it is called.
WORDS = {
    "launch": "Launched", "initialize": "Queues opened", "excursion": "Document ended", "run": "Run ended",
    "pause": "Paused", "resume": "Resumed", "stop": "Stopping", "cancel": "Cancelling", "speed": "Speed",
    "label": "Label", "leave_out": "Left out", "take_in": "Taken in again",
    "exclude": "Excludes applied", "limit": "Limit", "space": "Disk space", "deactivated": "Crawl point deactivated",
    "deleted": "Document deleted", "propagation": "Propagation", "asked": "Asked to stop", "interrupted": "Interrupted",
    "pruned": "Results removed",
    "start": "Started", "error": "Fault of ours", "fault": "Fault of ours", "sign_in": "Signing in", "host": "Site",
}  # fmt: skip


def word_of(kind: str) -> str:
    return WORDS.get(kind) or kind.replace("_", " ").capitalize()


def announced(request: HttpRequest, run: Run, docs: Docs) -> HttpResponse:
    """How many rows are new since the page was made; 204 while that is what it says already."""
    kind, text = request.GET.get("kind", ""), request.GET.get("q", "").strip()[:200]
    new = events_of(run, docs, kind, text).filter(pk__gt=number_in(request, "since") or 0).count()
    if new == (number_in(request, "told") or 0):
        return HttpResponse(status=204)
    query = request.GET.copy()
    query["told"] = str(new)
    fresh = request.GET.copy()
    for name in ("since", "told"):
        fresh.pop(name, None)
    return render(
        request, "runs/parts/log_new.html",
        {"new": new, "query": query.urlencode(), "fresh": fresh.urlencode(), "open": run.state in OPEN_STATES},
    )  # fmt: skip


def log(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    kind, text = request.GET.get("kind", ""), request.GET.get("q", "").strip()[:200]
    page = Paginator(events_of(run, docs, kind, text), page_size(request)).get_page(request.GET.get("page"))
    kinds = kinds_of_events(run, docs)
    titles = dict(
        excursions_of(run, docs)
        .filter(doc_id__in={event.doc_id for event in page.object_list if event.doc_id})
        .values_list("doc_id", "title")
    )
    events = [(event, titles.get(event.doc_id or 0, ""), word_of(event.kind)) for event in page.object_list]
    follow = context["open"] and request.GET.get("follow") == "1"
    return {
        "follow": follow,
        # On its first page new rows are announced: they do not push away what somebody reads.
        "announce": context["open"] and not follow and page.number == 1 and live_wanted(request),
        "last": events[0][0].pk if events else 0,
        "page": page,
        "events": events,
        "kinds": [(name, word_of(name), count) for name, count in kinds.items()],
        "kind": kind,
        "text": text,
        "all": sum(kinds.values()),
    }
