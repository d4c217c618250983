"""The In Tray: what is going on and what is mine, for each role."""

from typing import Any

from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.access.models import Role
from clearinghouse.access.policies import Action, documents_for, may, role_of

from ..models import Excursion
from ..queries.runs import FINISHED, NOW, WAITING, latest_crawls, live_instances, runs_in, waiting_documents
from .crawls import last_line, run_rows
from .scope import visible_docs

_RUNS = 8
_DOCUMENTS = 20


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    role = role_of(request.user)
    if role is None:
        return render(request, "crawler/no_role.html")
    docs = visible_docs(request)
    mine = _my_documents(request)
    running = list(runs_in(NOW, docs)[:_RUNS]) + list(runs_in(WAITING, docs)[:_RUNS])
    context = {
        "role": role,
        "greeting": _GREETINGS[role],
        "running": run_rows(running[:_RUNS], docs),
        "finished": run_rows(list(runs_in(FINISHED, docs)[:_RUNS]), docs) if not mine["rows"] else [],
        "last": last_line(docs),
        "may_launch": may(request.user, Action.LAUNCH),
        "house": _house() if may(request.user, Action.ADMINISTER) else None,
        "now": timezone.now(),
    }
    return render(request, "crawler/home.html", context | mine)


_GREETINGS = {
    Role.DEVELOPER: "You edit the crawl points of the documents assigned to you.",
    Role.INDEXER: "You read the documents of your projects and the results of their crawls.",
    Role.MANAGER: "You look after the documents of your projects and the results of their crawls.",
    Role.ADMINISTRATOR: "You launch crawls, control them and propagate their results.",
}


def _my_documents(request: HttpRequest) -> dict[str, Any]:
    """The documents assigned to this person, with their last crawl."""
    assigned = documents_for(request.user).filter(assignments__person=request.user.pk)
    documents = list(assigned.order_by("sheet__title", "pk")[: _DOCUMENTS + 1])
    crawls = latest_crawls([document.pk for document in documents]) if documents else {}
    rows = [_document_row(document, crawls.get(document.pk)) for document in documents[:_DOCUMENTS]]
    return {"rows": rows, "more": len(documents) > _DOCUMENTS}


def _document_row(document: Any, crawl: Excursion | None) -> dict[str, Any]:
    pages = crawl.crawled + crawl.unchanged if crawl else None
    return {"document": document, "crawl": crawl, "pages": pages, "ended": crawl.finished_at if crawl else None}


def _house() -> dict[str, int]:
    return {"waiting": waiting_documents(), "instances": live_instances()}
