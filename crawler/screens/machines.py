"""Settings for administrators: workers and queue, system status, the error log. Shows; changes nothing."""

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse import queues
from clearinghouse.access.context import address_named
from clearinghouse.access.policies import Action, require

from ..queries import machines

_PER_PAGE = 20


@require_safe
def workers(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    page = Paginator(machines.instances(), _PER_PAGE).get_page(request.GET.get("page"))
    context = {
        "page": page,
        "workers": queues.workers(),
        "reachable": queues.reachable(),
        "queues": [(name, queues.waiting(name), queues.idle_workers(name)) for name in queues.NAMES],
        "waiting": machines.waiting_excursions(),
        "silent": machines.live_without_beat(),
        "dashboard": address_named("django_rq:home") if request.user.is_superuser else "",
    }
    return render(request, "settings/workers.html", context)


@require_safe
def status(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    facts = [*machines.databases(), machines.redis_fact(), machines.disk()]
    context = {"facts": facts, "versions": machines.versions(), "bad": sum(not fact.good for fact in facts)}
    return render(request, "settings/status.html", context)


@require_safe
def error_log(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    page = Paginator(machines.faults(), _PER_PAGE).get_page(request.GET.get("page"))
    rows = [(fault, machines.last_line(fault)) for fault in page.object_list]
    return render(request, "settings/error_log.html", {"page": page, "rows": rows})
