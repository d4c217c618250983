"""Schedules: what will run, and how many pages each night will bring."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from clearinghouse.web.templatetags.formats import plural, when
from crawler.launching import schedules
from crawler.launching.planned_pages import documents_of
from crawler.launching.views.plan_views import Plan, plans_of
from crawler.runs.latest_crawls import LastCrawl, last_crawls
from crawler.runs.views.run_access import number_in

from ..report_base import Asked, Cell, Chart, Column, Field, Report, ordered
from .activity import day_bars, max_of

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
    "what": lambda plan: plan.named,
    "documents": lambda plan: plan.planned.documents,
    "pages": lambda plan: plan.planned.pages,
    "by": lambda plan: plan.schedule.created_by,
    "state": lambda plan: plan.schedule.active,
}


OF_ONE = (
    Column("document", "Document", sorts=False),
    Column("pages", "Pages last time", num=True, sorts=False),
    Column("run", "Last crawl", sorts=False),
)


def report(asked: Asked) -> Report:
    days = asked.one_of("days", DAYS, "30")
    now = timezone.now()
    plans = plans_of(asked.docs)
    wanted = number_in(asked.request, "schedule")
    if one := next((plan for plan in plans if plan.schedule.pk == wanted), None):
        return _of_one(asked, one)
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
        sentence=f"{plural(count, 'start is planned,starts are planned')} in the next {plural(int(days), 'day')}.",
        nothing="Nothing is planned.", extra={"calendar": f"{reverse('crawls')}?tab=calendar"},
    )  # fmt: skip


def _line(plan: Plan) -> list[Cell]:
    one = plan.schedule
    coming = one.next_at if one.active else None
    run = one.last_run_id
    return [
        Cell(when(coming) if coming else None, value=coming.isoformat() if coming else ""),
        Cell(plan.named, reverse("schedules"), sub=one.note),
        Cell(plan.said),
        Cell(plan.planned.documents, f"?schedule={one.pk}"),
        Cell(plan.planned.pages, f"?schedule={one.pk}"),
        Cell(f"Run {run}", reverse("run", args=[run]), value=run) if run else Cell(one.last_said or None, value=""),
        Cell(one.created_by),
        Cell("", state="active" if one.active else "inactive", value="active" if one.active else "inactive"),
    ]


def _of_one(asked: Asked, plan: Plan) -> Report:
    """The documents that the next start would crawl, of those the person may see: what the numbers count."""
    rows = documents_of(plan.schedule, asked.docs)
    return Report(
        OF_ONE, rows, _documents, "document", sentence=f"{plan.named}. {plan.said}.",
        nothing="No document with an active crawl point is meant.",
    )  # fmt: skip


def _documents(rows: list[Any]) -> list[list[Cell]]:
    ids = [row.pk for row in rows]
    last = last_crawls(ids)
    return [_document(row, last.get(row.pk)) for row in rows]


def _document(row: Any, last: LastCrawl | None) -> list[Cell]:
    name = Cell(row.title, reverse("crawl-points", args=[row.pk]))
    if last is None:
        return [name, Cell(0), Cell("never", value="")]
    listed = f"{reverse('run-tab', args=[last.run_id, 'pages'])}?doc={row.pk}"
    run = Cell(f"Run {last.run_id}", reverse("run", args=[last.run_id]), value=last.run_id)
    return [name, Cell(last.pages, listed), run]


def _chart(nights: dict[date, Counter[str]]) -> Chart | None:
    if not nights:
        return None
    bars = day_bars(nights, ("k-done",))
    title = f"Planned pages by day, as many as last time: most in one column {max_of(bars):,}"
    return Chart("Planned pages by day", title, bars)
