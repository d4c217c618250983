"""Changing a planned crawl, on the form with which it was planned."""

from contextlib import nullcontext, suppress
from zoneinfo import ZoneInfo

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts.policies import Action, require
from crawler.models import Schedule

from .. import schedules
from .launch_views import context_of, counted, scope_of
from .plan_form import PlanForm, entries_of, values_of
from .schedule_form import plan_of


@require_http_methods(["GET", "HEAD", "POST"])
def edit(request: HttpRequest, schedule_id: int) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    plan = get_object_or_404(Schedule, pk=schedule_id)
    with _clock_of(plan):
        return _saved(request, plan) if request.method == "POST" else _shown(request, plan)


def _clock_of(plan: Schedule) -> nullcontext[None] | timezone.override:
    """Its times stay those of the place for which it was planned, whoever changes them."""
    with suppress(*schedules.UNUSABLE):
        return timezone.override(ZoneInfo(plan.zone))
    return nullcontext()


def _shown(request: HttpRequest, plan: Schedule) -> HttpResponse:
    """As it is kept; with scripts, what the entries would do is asked for again after each change."""
    data = request.GET if "HX-Request" in request.headers else entries_of(plan)
    return counted(request, PlanForm(request.user, data, plan))


def _saved(request: HttpRequest, plan: Schedule) -> HttpResponse:
    form = PlanForm(request.user, request.POST, plan)
    if "count" in request.POST:
        return counted(request, form)
    if not form.is_valid():
        return render(request, "launching/launch.html", context_of(form, scope_of(form)), status=422)
    now = timezone.now()
    schedules.change(plan, values_of(form), now)
    messages.success(request, f"Saved. {plan_of(form.cleaned_data, now)[0]}.")
    return redirect("schedules")
