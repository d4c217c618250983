"""Crawl activity: what the crawler did in a period."""

from collections import Counter
from datetime import date, datetime, timedelta
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from clearinghouse.web.templatetags.formats import duration, plural, size, when
from crawler.models import Run, State
from crawler.runs.report_queries import cancelled_since, instances_by_run, pages_by_day, runs_since
from crawler.runs.run_counts import Totals, totals_of_runs
from crawler.runs.run_json import seconds_of
from crawler.runs.run_status import place_of_state
from crawler.values import LEFT_BEHIND

from ..report_base import Bar, Chart, Column, Report, ReportCell, ReportRequest

COLUMNS = (
    Column("id", "Run"),
    Column("what", "What", sorts=False),
    Column("state", "State"),
    Column("started_at", "Started", fit=True),
    Column("finished_at", "Ended", fit=True),
    Column("took", "Took", num=True, sorts=False),
    Column("pages", "Pages", num=True, sorts=False),
    Column("errors", "Errors", num=True, sorts=False),
    Column("left", "Left", num=True, sorts=False),
    Column("bytes", "Data", num=True, sorts=False),
    Column("worker", "Worked on", sorts=False),
    Column("requested_by", "Who"),
)
LEFT = urlencode({"reason": LEFT_BEHIND}, doseq=True)
MOST_DAYS = 92  # bars; longer periods are drawn by week


def report(asked: ReportRequest) -> Report:
    since, period = asked.since()
    state, by_state = asked.one_of("state", "State", [("", "Any state"), *State.choices])
    runs = runs_since(asked.docs, since).annotate(place=place_of_state())
    runs = runs.filter(state=state) if state else runs
    sort = asked.sort(COLUMNS, "-id")
    days = pages_by_day(asked.docs, since)
    pages, errors = sum(day[1] for day in days), sum(day[2] for day in days)
    return Report(
        COLUMNS, runs.order_by(sort.replace("state", "place"), "-id"), lambda rows: _cells(rows, asked), "run",
        sort=sort,
        filters=(period, by_state),
        chart=pages_chart(days, "Pages and errors by day"),
        sentence=f"{plural(runs.count(), 'run')}; {plural(pages, 'page')} and {plural(errors, 'error')} in the crawls "
        f"that ended in this period.{_cancelled(cancelled_since(asked.docs, since))}",
    )  # fmt: skip


def _cancelled(crawls: int) -> str:
    if not crawls:
        return ""
    return f" {plural(crawls, 'crawl was cancelled and is,crawls were cancelled and are')} not counted."


def _cells(runs: list[Run], asked: ReportRequest) -> list[list[ReportCell]]:
    sums = totals_of_runs(runs, asked.docs) if runs else {}
    hosts = instances_by_run(run.pk for run in runs)
    return [_line(run, sums.get(run.pk, Totals()), hosts.get(run.pk, [])) for run in runs]


def _line(run: Run, sums: Totals, hosts: list[str]) -> list[ReportCell]:
    tab = {name: reverse("run-tab", args=[run.pk, name]) for name in ("pages", "errors", "urls")}
    seconds = seconds_of(run)
    return [
        ReportCell(f"Run {run.pk}", reverse("run", args=[run.pk]), value=run.pk),
        ReportCell(sums.title if sums.documents == 1 else plural(sums.documents, "document")),
        ReportCell("", state=run.state, value=run.state),
        _moment(run.started_at),
        _moment(run.finished_at),
        ReportCell(duration(seconds) if run.started_at else None, value=seconds),
        ReportCell(sums.pages, tab["pages"]),
        ReportCell(sums.failed, tab["errors"], bad=True),
        ReportCell(sums.left, f"{tab['urls']}?{LEFT}"),
        ReportCell(size(sums.bytes), value=sums.bytes),
        ReportCell(", ".join(hosts)),
        ReportCell(run.requested_by),
    ]


def _moment(at: datetime | None) -> ReportCell:
    return ReportCell(when(at) if at else None, value=at.isoformat() if at else "")


def pages_chart(days: list[tuple[date, int, int]], heading: str) -> Chart | None:
    """A column for each day, or for each week of a long period; days without a crawl are empty columns."""
    found: dict[date, Counter[str]] = {}
    for day, good, bad in days:
        found.setdefault(day, Counter()).update({"k-done": good, "k-err": bad})
    good, bad = (sum(counts[css] for counts in found.values()) for css in ("k-done", "k-err"))
    if not good + bad:
        return None
    bars = day_bars(found, ("k-done", "k-err"))
    title = f"{heading}: {plural(good, 'page')}, {plural(bad, 'error')}; most in one column {max_of(bars):,}"
    return Chart(heading, title, bars, (("k-done", "pages"), ("k-err", "errors")))


def max_of(bars: list[Bar]) -> int:
    return max((bar.total for bar in bars), default=0)


def day_bars(found: dict[date, Counter[str]], classes: tuple[str, ...], *, weekly: bool = False) -> list[Bar]:
    """Counts by class, one bar for a day (or a week) from the first day with something until today."""
    first, last = min(found), max(max(found), timezone.localdate())
    step = 7 if weekly or (last - first).days >= MOST_DAYS else 1
    if weekly:
        first -= timedelta(first.weekday())
    bars, day = [], first
    while day <= last:
        part = [found[day + timedelta(n)] for n in range(step) if day + timedelta(n) in found]
        sums: Counter[str] = sum(part, Counter())
        bars.append(Bar(_label(day, step), tuple((css, sums[css]) for css in classes)))
        day += timedelta(step)
    return bars


def _label(day: date, step: int) -> str:
    words = f"{day.day} {day:%b %Y}"
    return words if step == 1 else f"week of {words}"
