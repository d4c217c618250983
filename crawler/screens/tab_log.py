"""The tab Log: what happened, newest first; filtered, searched, followed, downloaded line by line."""

from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest

from ..models import Run
from ..queries.counts import Docs, excursions_of
from ..queries.runs import events_of, kinds_of_events
from .scope import page_size

# The kinds of events in the words of the filter; a new kind stands as it is called.
WORDS = {
    "launch": "Launched", "initialize": "Queues opened", "excursion": "Document ended", "run": "Run ended",
    "pause": "Paused", "resume": "Resumed", "stop": "Stopping", "cancel": "Cancelling", "speed": "Speed",
    "exclude": "Excludes applied", "limit": "Limit", "space": "Disk space", "deactivated": "Crawl point deactivated",
    "deleted": "Document deleted", "propagation": "Propagation", "asked": "Asked to stop", "interrupted": "Interrupted",
    "start": "Started", "error": "Fault of ours", "sign_in": "Signing in", "host": "Site",
}  # fmt: skip


def word_of(kind: str) -> str:
    return WORDS.get(kind) or kind.replace("_", " ").capitalize()


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
        "page": page,
        "events": events,
        "kinds": [(name, word_of(name), count) for name, count in kinds.items()],
        "kind": kind,
        "text": text,
        "all": sum(kinds.values()),
    }
