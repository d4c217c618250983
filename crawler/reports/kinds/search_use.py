"""Search use: what the public looks for, what it does not find, what it opens. Counts only, of nobody in particular."""

from collections import Counter
from typing import Any
from urllib.parse import urlencode

from django.urls import reverse
from django.utils import timezone

from clearinghouse.accounts.policies import Action, may
from clearinghouse.search.usage.queries import by_day, by_query, newest_found, rows_since
from clearinghouse.web.templatetags.formats import plural

from ..report_base import Chart, Column, Report, ReportCell, ReportRequest
from .activity import day_bars, max_of

COLUMNS = (
    Column("query", "Query"),
    Column("total", "Searches", num=True),
    Column("nothing", "Found nothing", num=True),
    Column("found", "Pages found last", num=True, sorts=False),
    Column("clicks", "Results opened", num=True),
    Column("last", "Last searched", fit=True),
)
_WHO = "Everybody who may see reports sees the same here: a search belongs to no document and to no person."
_SHOW = (("", "All queries"), ("nothing", "Found nothing"), ("unopened", "Found, but nothing opened"))


def report(asked: ReportRequest) -> Report:
    since, period = asked.since()
    words, by_words = asked.words("Query contains")
    show, by_show = asked.one_of("show", "Show", _SHOW)
    rows = rows_since(timezone.localdate(since))
    rows = rows.filter(query__contains=words.lower()) if words else rows
    found: Any = by_query(rows).filter(total__gt=0)
    if show == "nothing":
        found = found.filter(nothing__gt=0)
    elif show == "unopened":
        found = found.filter(nothing=0, clicks=0)
    sort = asked.sort(COLUMNS, "-nothing" if show == "nothing" else "-total")
    days = by_day(rows)
    searches, empty = sum(day[1] for day in days), sum(day[2] for day in days)
    found = found.order_by(sort, "-total", "query")
    return Report(
        COLUMNS, found, lambda part: _cells(part, rows), "query,queries", sort=sort,
        filters=(by_words, by_show, period), chart=_chart(days),
        sentence=f"{plural(searches, 'search,searches')} by the public; {empty:,} of them found nothing.",
        nothing="Nobody searched for this in this period.", extra={"who": _WHO},
        row_template="reports/search_use_actions.html" if may(asked.request.user, Action.CURATE) else "",
    )  # fmt: skip


def _cells(part: list[dict[str, Any]], rows: Any) -> list[list[ReportCell]]:
    pages = newest_found([row["query"] for row in part], rows)
    return [_line(row, pages.get(row["query"])) for row in part]


def _line(row: dict[str, Any], pages: int | None) -> list[ReportCell]:
    again = f"{reverse('search')}?{urlencode({'q': row['query']})}"
    return [
        ReportCell(row["query"], again),
        ReportCell(row["total"]),
        ReportCell(row["nothing"], bad=True),
        ReportCell(pages, again),
        ReportCell(row["clicks"]),
        ReportCell(f"{row['last'].day} {row['last']:%b %Y}", value=row["last"].isoformat()),
    ]


def _chart(days: list[tuple[Any, int, int]]) -> Chart | None:
    if not sum(day[1] for day in days):
        return None
    counts = {day: Counter({"k-done": n - empty, "k-err": empty}) for day, n, empty in days}
    bars = day_bars(counts, ("k-done", "k-err"))
    searches, empty = sum(day[1] for day in days), sum(day[2] for day in days)
    title = f"Searches by day: {plural(searches, 'search,searches')}, {empty:,} found nothing; most in one column "
    return Chart(
        "Searches", f"{title}{max_of(bars):,}", bars, (("k-done", "found something"), ("k-err", "found nothing"))
    )
