"""The In Tray: what needs somebody, what is going on, what is mine, what I was told; for each role from one set."""

import shutil
from typing import Any

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse import env
from clearinghouse.accounts.models import Role
from clearinghouse.accounts.policies import Action, doc_ids_for, documents_for, may, role_of
from clearinghouse.operations import work_queues
from clearinghouse.web import navigation_counts
from clearinghouse.web.templatetags.formats import percent

from ..launching import quiet_hours
from ..models import Excursion, Propagation
from ..runs.latest_crawls import LastCrawl, last_crawls, trends
from ..runs.queries import (
    FINISHED,
    NOW,
    WAITING,
    counts_by_tab,
    latest_crawls,
    live_instances,
    runs_in,
    waiting_documents,
)
from ..runs.run_counts import Docs
from ..runs.views.run_access import visible_docs
from ..runs.views.run_lists import last_line, run_rows
from .notice_words import for_reader
from .queries import TOLD, Task, by_day, tasks, told, unread

_RUNS = 8
_DOCUMENTS = 20
_TASKS = 10


@require_safe
def home(request: HttpRequest) -> HttpResponse:
    role = role_of(request.user)
    if role is None:
        return render(request, "inbox/no_role.html")
    docs = visible_docs(request)
    mine = _my_documents(request)
    by_tab = counts_by_tab(docs)
    context = {
        "role": role,
        "greeting": _GREETINGS[role],
        "running": run_rows(list(runs_in(NOW, docs)[:_RUNS]), docs) if by_tab[NOW] else [],
        "running_count": by_tab[NOW],
        "waiting_count": by_tab[WAITING],
        "finished": run_rows(list(runs_in(FINISHED, docs)[:_RUNS]), docs) if not mine["rows"] else [],
        "last": last_line(docs),
        "may_launch": may(request.user, Action.LAUNCH),
        "house": _house() if may(request.user, Action.ADMINISTER) else None,
        "now": timezone.now(),
        "back": request.get_full_path(),
    }
    return render(request, "inbox/home.html", context | mine | _tasks(request) | _told(request, docs))


_GREETINGS = {
    Role.DEVELOPER: "You edit the crawl points of the documents assigned to you.",
    Role.INDEXER: "You read the documents of your projects and the results of their crawls.",
    Role.MANAGER: "You look after the documents of your projects and the results of their crawls.",
    Role.ADMINISTRATOR: "You launch crawls, control them and propagate their results.",
}


def tasks_of(request: HttpRequest) -> list[Task]:
    user = request.user
    editable = doc_ids_for(user, Action.EDIT)
    return tasks(editable, doc_ids_for(user, Action.LAUNCH), may(user, Action.PROPAGATE))


def _tasks(request: HttpRequest) -> dict[str, Any]:
    every = tasks_of(request)
    navigation_counts.say("home", request.user, len(every))
    shown = every if request.GET.get("tasks") == "all" else every[:_TASKS]
    return {"tasks": shown, "all_tasks": len(every), "me": request.user.get_username()}


def _told(request: HttpRequest, docs: Docs) -> dict[str, Any]:
    """The newest notifications; with ?told=all every one of them, page by page."""
    person = request.user.pk
    everything = told(person, docs)
    if request.GET.get("told") == "all":
        page = Paginator(everything, TOLD).get_page(request.GET.get("page"))
        return {"told": by_day(for_reader(page.object_list, docs)), "unread": unread(person, docs), "told_page": page}
    deliveries = list(everything[: TOLD + 1])
    more, deliveries = len(deliveries) > TOLD, deliveries[:TOLD]
    count = unread(person, docs) if deliveries else 0
    return {"told": by_day(for_reader(deliveries, docs)), "unread": count, "more_told": more}


def _my_documents(request: HttpRequest) -> dict[str, Any]:
    """The documents assigned to this person, with their last crawl and the pages of the last twelve."""
    assigned = documents_for(request.user).filter(assignments__person=request.user.pk)
    documents = list(assigned.order_by("sheet__title", "pk")[: _DOCUMENTS + 1])
    ids = [document.pk for document in documents]
    crawls, last = (latest_crawls(ids), last_crawls(ids)) if documents else ({}, {})
    trend = trends(ids) if documents else {}
    rows = [
        _document_row(document, crawls.get(document.pk), last.get(document.pk), trend.get(document.pk, []))
        for document in documents[:_DOCUMENTS]
    ]
    return {"rows": rows, "mine_count": assigned.count() if len(documents) > _DOCUMENTS else len(documents)}


def _document_row(document: Any, crawl: Excursion | None, last: LastCrawl | None, trend: list[int]) -> dict[str, Any]:
    """The state of the newest crawl; its numbers while it goes on, those of the last one that counts afterwards."""
    if crawl and crawl.unfinished:
        last = LastCrawl(crawl.pk, crawl.run_id, crawl.state, None, crawl.crawled + crawl.unchanged, crawl.failed)
    return {"document": document, "crawl": crawl, "last": last, "trend": trend}


def _house() -> dict[str, Any]:
    """What administrators look at first: are there workers, is anything stuck, is there room."""
    now = timezone.now()
    disk = shutil.disk_usage(env.var())
    bells = work_queues.lengths()
    return {
        "waiting": waiting_documents(),
        "instances": live_instances(),
        "bells": bells,
        "disk": percent(disk.used, disk.total),
        "disk_free": disk.free,
        "propagation": Propagation.objects.order_by("-pk").first(),
        "silence": quiet_hours.silence(now),
        "next_quiet": quiet_hours.next_quiet(now),
        "workers": len(work_queues.workers()) if bells is not None else 0,
    }
