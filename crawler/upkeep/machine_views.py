"""Settings for administrators: workers and queue, system status, the error log. Shows; changes nothing."""

from datetime import timedelta

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, require
from clearinghouse.operations import work_queues
from clearinghouse.operations.queue_pages import may_see_queues
from clearinghouse.web.base_context import address_named

from . import machines

_PER_PAGE = 20
_OTHERS = 50
PERIODS = (("", "All time"), ("1", "The last day"), ("7", "7 days"), ("30", "30 days"))


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    page = Paginator(machines.instances(), _PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "workers": work_queues.workers(),
        "reachable": work_queues.reachable(),
        "queues": [(name, work_queues.waiting(name), work_queues.idle_workers(name)) for name in work_queues.NAMES],
        "waiting": machines.waiting_excursions(),
        "silent": machines.live_without_beat(),
        "dashboard": address_named("django_rq:home") if may_see_queues(request.user) else "",
    }
    return render(request, "upkeep/workers.html", context)


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    facts = [
        *machines.databases(), machines.schema(), machines.redis_fact(), machines.workers_fact(), machines.tick_fact(),
        machines.disk(), machines.clock(),
    ]  # fmt: skip
    context = {"facts": facts, "versions": machines.versions(), "bad": sum(not fact.good for fact in facts)}
    return render(request, "upkeep/status.html", context)


@require_safe
def error_log(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    text = request.GET.get("q", "").replace("\x00", "").strip()[:200]
    days = request.GET.get("days", "")
    days = days if days in dict(PERIODS) else ""
    since = timezone.now() - timedelta(days=int(days)) if days else None
    page = Paginator(machines.faults(text, since), _PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "others": list(machines.other_faults(text, since)[:_OTHERS]),
        "rows": [(fault, machines.last_line(fault)) for fault in page.object_list],
        "text": text,
        "days": days,
        "periods": PERIODS,
    }
    return render(request, "upkeep/error_log.html", context)
