"""Planned crawls, the calendar of a month, quiet hours, and the pause of all crawls."""

from calendar import Calendar
from collections import defaultdict
from dataclasses import dataclass
from datetime import date, datetime, time, timedelta
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, may, require
from clearinghouse.web.templatetags.formats import plural
from crawler.models import Schedule
from crawler.policy.timetable import WEEKDAYS, sentence
from crawler.runs.run_counts import Docs
from crawler.runs.views.run_access import visible_docs

from .. import quiet_hours as quiet
from .. import schedules
from ..launch_subset import ONLY_FAILED, ONLY_NEW
from ..planned_pages import PlannedPages, doc_ids_among, documents_with_points, pages_of
from .plan_names import PlanNames
from .quiet_hours_form import WeekEntries

_SHADES = 4
_NEAR = 800  # days


@dataclass(frozen=True, slots=True)
class PlanShown:
    """A schedule as a list shows it; documents and pages are those the person may see."""

    schedule: Schedule
    what: str
    which: str  # the names of what is meant, where "what" does not say it
    said: str
    planned: PlannedPages

    @property
    def named(self) -> str:
        return f"{self.what}: {self.which}" if self.which else self.what

    @property
    def listed(self) -> str:
        """Where the documents stand that it would crawl."""
        return f"{reverse('report', args=['schedules'])}?schedule={self.schedule.pk}"


@dataclass(frozen=True, slots=True)
class Day:
    day: date
    starts: list[tuple[datetime, PlanShown]]
    pages: int
    shade: int  # 0 to 4
    quiet: int  # hours
    inside: bool  # of the month
    today: bool


def plans_of(docs: Docs) -> list[PlanShown]:
    """The schedules that touch a document the person may see."""
    everything = documents_with_points()
    pages = pages_of(everything)
    rows = list(Schedule.objects.order_by("next_at", "id"))
    names = PlanNames.of(rows, docs)
    plans = []
    for schedule in rows:
        chosen = doc_ids_among(schedule, everything)
        seen = chosen if docs is None else chosen & docs
        planned = PlannedPages(len(seen), sum(pages.get(doc_id, 0) for doc_id in seen))
        what = names.what(schedule) + _ONLY[schedule.only]
        plans.append(PlanShown(schedule, what, names.which(schedule), said_of(schedule), planned))
    return [plan for plan in plans if docs is None or plan.planned.documents]


_ONLY = {"": "", ONLY_FAILED: ", only pages that failed last time", ONLY_NEW: ", only what is new or changed"}


def said_of(schedule: Schedule) -> str:
    rule = schedules.rule_of(schedule)
    return sentence(rule) if rule else "Once"


@require_safe
def planned(request: HttpRequest) -> HttpResponse:
    return _page(request)


def _page(request: HttpRequest, entries: WeekEntries | None = None) -> HttpResponse:
    """With quiet hours as they are kept, or as they are being filled in."""
    docs, week = visible_docs(request), quiet.week()
    context = {
        "plans": plans_of(docs),
        "may_launch": may(request.user, Action.ADMINISTER),
        "may_pause": may(request.user, Action.ADMINISTER),
        "zone": timezone.get_default_timezone_name(),
        "silence": quiet.silence(timezone.now()),
        "week": week,
    }
    context |= (entries or WeekEntries.of(week.hours)).shown(week.hours)
    return render(request, "launching/schedules.html", context)


@require_POST
def change(request: HttpRequest, schedule_id: int) -> HttpResponse:
    """Turn off, turn on, delete."""
    require(request.user, Action.ADMINISTER)
    schedule = get_object_or_404(Schedule, pk=schedule_id)
    action = request.POST.get("action", "")
    if action in ("on", "off"):
        schedules.turn(schedule, on=action == "on", now=timezone.now())
        messages.success(request, f"{said_of(schedule)}: turned {action}.")
    elif action == "delete":
        said = said_of(schedule)
        schedules.remove(schedule)
        messages.success(request, f"Deleted the planned crawl: {said}.")
    else:
        raise Http404("No such command")
    return redirect("schedules")


@require_POST
def hours(request: HttpRequest) -> HttpResponse:
    """Saves what is ticked; the other buttons of the form only tick and untick."""
    require(request.user, Action.ADMINISTER)
    entries, wanted = WeekEntries.read(request.POST), request.POST.get("do", "save")
    if wanted != "save":
        return _page(request, entries.after(wanted))
    quiet.set_hours(entries.hours, _name(request))
    messages.success(request, f"Quiet hours saved: {plural(len(entries.ticked), 'hour')} of the week.")
    return redirect("schedules")


@require_POST
def pause(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    if request.POST.get("paused") == "1":
        quiet.pause_all(_name(request), request.POST.get("note", "")[:500])
        messages.success(request, "All crawls are paused. Running ones stop fetching within seconds; nothing is lost.")
    else:
        quiet.resume_all(_name(request))
        messages.success(request, "Crawls go on.")
    quiet.enforce(timezone.now())
    return redirect("crawls")


def _name(request: HttpRequest) -> str:
    return str(request.user.get_username())


# ---- the calendar ----


def month_of(request: HttpRequest) -> date:
    """The first day of the month in the address; this month when there is none, or it is years away."""
    this_month = timezone.localdate().replace(day=1)
    try:
        month = date.fromisoformat(f"{request.GET.get('month', '')}-01")
    except ValueError:
        return this_month
    return month if abs(month - this_month).days < _NEAR else this_month


def calendar_of(request: HttpRequest, docs: Docs) -> dict[str, Any]:
    """A month of days with what is planned on each; a day in the address opens its list."""
    month = month_of(request)
    weeks = Calendar().monthdatescalendar(month.year, month.month)
    days = _days(weeks[0][0], weeks[-1][-1], month, docs)
    asked = next((days[day] for day in days if day.isoformat() == request.GET.get("day")), None)
    return {
        "month": month,
        "before": (month - timedelta(days=1)).replace(day=1),
        "after": (month + timedelta(days=31)).replace(day=1),
        "weeks": [[days[day] for day in week] for week in weeks],
        "weekdays": WEEKDAYS,
        "asked_day": asked,
        "most": max(one.pages for one in days.values()),
        "planned_starts": sum(len(one.starts) for one in days.values() if one.inside),
    }


def _days(first: date, last: date, month: date, docs: Docs) -> dict[date, Day]:
    zone = timezone.get_current_timezone()
    begin, end = (datetime.combine(day, time(), zone) for day in (first, last + timedelta(days=1)))
    plans = {plan.schedule.pk: plan for plan in plans_of(docs)}
    starts: dict[date, list[tuple[datetime, PlanShown]]] = defaultdict(list)
    for at, schedule in schedules.upcoming(max(begin, timezone.now()), end):
        if plan := plans.get(schedule.pk):
            starts[at.astimezone(zone).date()].append((at, plan))
    pages = {day: sum(plan.planned.pages for _, plan in found) for day, found in starts.items()}
    most = max(pages.values(), default=0)
    hours = quiet.week().hours
    days = [first + timedelta(days=number) for number in range((last - first).days + 1)]
    return {
        day: Day(
            day=day,
            starts=starts.get(day, []),
            pages=pages.get(day, 0),
            shade=_shade(day in starts, pages.get(day, 0), most),
            quiet=hours[24 * day.weekday() : 24 * day.weekday() + 24].count("1"),
            inside=day.month == month.month,
            today=day == timezone.localdate(),
        )
        for day in days
    }


def _shade(planned: bool, pages: int, most: int) -> int:
    if not planned:
        return 0
    return max(1, -(-_SHADES * pages // most)) if most else 1
