"""Schedules: what will run, and how many pages each night will bring."""

from collections import Counter
from datetime import date, timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from clearinghouse.web.listing import in_order, number_in
from clearinghouse.web.templatetags.formats import plural, when
from crawler.launching import schedules
from crawler.launching.planned_pages import documents_of
from crawler.launching.views.plan_views import PlanShown, plans_of
from crawler.runs.latest_crawls import LastCrawl, last_crawls

from ..report_base import Chart, Column, Report, ReportCell, ReportRequest
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


def report(asked: ReportRequest) -> Report:
    days, by_days = asked.one_of("days", "The next", DAYS, "30")
    now = timezone.now()
    plans = plans_of(asked.docs)
    wanted = number_in(asked.request.GET, "schedule")
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
        COLUMNS, in_order(plans, sort, _KEYS), lambda part: [_line(plan) for plan in part], "schedule", sort=sort,
        filters=(by_days,), chart=_chart(nights),
        sentence=f"{plural(count, 'start is planned,starts are planned')} in the next {plural(int(days), 'day')}.",
        nothing="Nothing is planned.", extra={"calendar": f"{reverse('crawls')}?tab=calendar"},
    )  # fmt: skip


def _line(plan: PlanShown) -> list[ReportCell]:
    one = plan.schedule
    coming = one.next_at if one.active else None
    run = one.last_run_id
    return [
        ReportCell(when(coming) if coming else None, value=coming.isoformat() if coming else ""),
        ReportCell(plan.named, reverse("schedules"), sub=one.note),
        ReportCell(plan.said),
        ReportCell(plan.planned.documents, f"?schedule={one.pk}"),
        ReportCell(plan.planned.pages, f"?schedule={one.pk}"),
        ReportCell(f"Run {run}", reverse("run", args=[run]), value=run)
        if run
        else ReportCell(one.last_said or None, value=""),
        ReportCell(one.created_by),
        ReportCell("", state="active" if one.active else "inactive", value="active" if one.active else "inactive"),
    ]


def _of_one(asked: ReportRequest, plan: PlanShown) -> Report:
    """The documents that the next start would crawl, of those the person may see: what the numbers count."""
    rows = documents_of(plan.schedule, asked.docs)
    return Report(
        OF_ONE, rows, _documents, "document", sentence=f"{plan.named}. {plan.said}.",
        nothing="It covers no document with an active crawl point.",
    )  # fmt: skip


def _documents(rows: list[Any]) -> list[list[ReportCell]]:
    ids = [row.pk for row in rows]
    last = last_crawls(ids)
    return [_document(row, last.get(row.pk)) for row in rows]


def _document(row: Any, last: LastCrawl | None) -> list[ReportCell]:
    name = ReportCell(row.title, reverse("crawl-points", args=[row.pk]))
    if last is None:
        return [name, ReportCell(0), ReportCell("never", value="")]
    listed = f"{reverse('run-tab', args=[last.run_id, 'pages'])}?doc={row.pk}"
    run = ReportCell(f"Run {last.run_id}", reverse("run", args=[last.run_id]), value=last.run_id)
    return [name, ReportCell(last.pages, listed), run]


def _chart(nights: dict[date, Counter[str]]) -> Chart | None:
    if not nights:
        return None
    bars = day_bars(nights, ("k-done",))
    title = f"Planned pages by day, as many as last time: most in one column {max_of(bars):,}"
    return Chart("Planned pages by day", title, bars)
