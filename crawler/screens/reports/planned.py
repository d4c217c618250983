"""Schedules: what will run, and how many pages each night will bring."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from clearinghouse.access.templatetags.pieces import plural, when

from ... import schedules
from ..plans import Plan, plans_of
from .activity import day_bars, max_of
from .frame import Asked, Cell, Chart, Column, Field, Report, ordered

COLUMNS = (
    Column("next", "Next start", fit=True),
    Column("what", "What"),
    Column("said", "How often", sorts=False),
    Column("documents", "Documents", num=True),
    Column("pages", "Pages last time", num=True),
    Column("last", "Last run", sorts=False),
    Column("by", "Who"),
    Column("state", "State"),
)
DAYS = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"))
_FAR = 4e10  # seconds since 1970: behind every start
_KEYS: dict[str, Any] = {
    "next": lambda plan: plan.schedule.next_at.timestamp() if plan.schedule.next_at else _FAR,
    "what": lambda plan: plan.what,
    "documents": lambda plan: plan.planned.documents,
    "pages": lambda plan: plan.planned.pages,
    "by": lambda plan: plan.schedule.created_by,
    "state": lambda plan: plan.schedule.active,
}


def report(asked: Asked) -> Report:
    days = asked.one_of("days", DAYS, "30")
    now = timezone.now()
    plans = plans_of(asked.docs)
    known = {plan.schedule.pk: plan for plan in plans}
    starts = schedules.upcoming(now, now + timedelta(days=int(days)))
    nights: dict[date, Counter[str]] = {}
    for at, schedule in starts:
        if schedule.pk in known:
            pages = known[schedule.pk].planned.pages
            nights.setdefault(timezone.localdate(at), Counter()).update({"k-done": pages})
    sort = asked.sort(COLUMNS, "next")
    count = sum(schedule.pk in known for _, schedule in starts)
    return Report(
        COLUMNS, ordered(plans, sort, _KEYS), lambda part: [_line(plan) for plan in part], "schedule", sort=sort,
        filters=(Field("days", "The next", days, DAYS),), chart=_chart(nights),
        sentence=f"{plural(count, 'start is planned,starts are planned')} in the next {days} days.",
        nothing="Nothing is planned.",
    )  # fmt: skip


def _line(plan: Plan) -> list[Cell]:
    one = plan.schedule
    coming = one.next_at if one.active else None
    run = one.last_run_id
    return [
        Cell(when(coming) if coming else None, value=coming.isoformat() if coming else ""),
        Cell(plan.what, reverse("schedules"), sub=one.note),
        Cell(plan.said),
        Cell(plan.planned.documents),
        Cell(plan.planned.pages),
        Cell(f"Run {run}", reverse("run", args=[run]), value=run) if run else Cell(one.last_said or None, value=""),
        Cell(one.created_by),
        Cell("", state="active" if one.active else "inactive", value="active" if one.active else "inactive"),
    ]


def _chart(nights: dict[date, Counter[str]]) -> Chart | None:
    if not nights:
        return None
    bars = day_bars(nights, ("k-done",))
    title = f"Planned pages by day, as many as last time: most in one column {max_of(bars):,}"
    return Chart("Planned pages by day", title, bars)
