"""Errors: what is broken and for how long, in groups that people can call known or solved; what returns is new."""

from collections import Counter
from datetime import datetime
from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from clearinghouse.web.listing import in_order
from clearinghouse.web.templatetags.formats import ago, plural, spark
from crawler.models import ErrorGroup, ErrorMark
from crawler.reasons import reason_of
from crawler.runs.report_queries import (
    crawls_of_error,
    error_groups,
    error_trends,
    errors_by_week,
    errors_of_keys,
    marks,
)
from crawler.values import FAILED, REASONS, Reason

from ..report_base import Chart, Column, Report, ReportCell, ReportFilter, ReportRequest
from .activity import day_bars, max_of

MOST = 5_000
COLUMNS = (
    Column("reason", "Error"),
    Column("place", "Where"),
    Column("n", "Times", num=True),
    Column("runs", "Runs", num=True),
    Column("docs", "Documents", num=True),
    Column("first", "First seen", fit=True),
    Column("last", "Last seen", fit=True),
    Column("trend", "Trend", num=True, sorts=False),
    Column("state", "State"),
)
STATES = (("open", "New and known"), ("new", "New"), ("known", "Known"), ("solved", "Solved"), ("all", "All"))
_KEYS: dict[str, Any] = {
    "reason": lambda row: (_reason(row).label, row["reason"]),
    "place": lambda row: (row["site"], row["pattern"]),
    "state": lambda row: ("new", "known", "solved").index(row["state"]),
} | {name: (lambda row, name=name: row[name]) for name in ("n", "runs", "docs", "first", "last")}
_PILLS = {"new": ("bad", "stop"), "known": ("warn", "warn"), "solved": ("ok", "ok")}


OF_ONE = (
    Column("run", "Run", sorts=False),
    Column("document", "Document", sorts=False),
    Column("times", "Times", num=True, sorts=False),
    Column("ended", "Ended", fit=True, sorts=False),
)


def report(asked: ReportRequest) -> Report:
    since, period = asked.since("90")
    if (key := digest_in(asked.text("group"))) is not None:
        return _of_one(asked, since, period, key)
    words, by_words = asked.words("Address contains")
    choices = [("", "Any error"), *((code, one.label) for code, one in REASONS.items() if one.outcome == FAILED)]
    reason, by_reason = asked.one_of("reason", "Error", choices)
    state, by_state = asked.one_of("state", "State", STATES, "open")
    rows = with_states(asked, list(error_groups(asked.docs, since, words, reason).order_by("-n")[:MOST]))
    shown = [row for row in rows if state == "all" or (row["state"] in ("new", "known" if state == "open" else state)
             and (state in ("open", row["state"])))]  # fmt: skip
    sort = asked.sort(COLUMNS, "-last")
    counts = Counter(row["state"] for row in rows)
    return Report(
        COLUMNS, in_order(shown, sort, _KEYS), lambda part: _cells(part, asked), "group", sort=sort,
        filters=(by_words, by_reason, by_state, period),
        chart=_chart(asked.docs, since), row_template="reports/error_actions.html",
        sentence=f"{plural(counts['new'], 'new group')}, {counts['known']:,} known, {counts['solved']:,} solved.",
    )  # fmt: skip


def with_states(asked: ReportRequest, rows: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """New until every document's part of it is marked; solved until a later run has it again."""
    marked = marks(asked.docs)
    touched = {key for _, key in marked}
    inside = errors_of_keys(asked.docs, touched) if touched else {}
    for row in rows:
        row["key"] = bytes(row["key"])
        row["name"] = row["key"].hex()
        states = [_state(marked.get((doc, row["key"])), run) for doc, (run, _) in inside.get(row["key"], {}).items()]
        row["state"] = next((one for one in ("new", "known", "solved") if one in states), "new")
    return rows


def _state(mark: ErrorMark | None, last_run: int) -> str:
    if mark is None or (mark.state == ErrorMark.State.SOLVED and last_run > mark.run_id):
        return "new"
    return str(mark.state)


def _cells(rows: list[dict[str, Any]], asked: ReportRequest) -> list[list[ReportCell]]:
    found = error_trends(asked.docs, [row["key"] for row in rows])
    days = asked.since("90")[1].value
    return [_line(row, found.get(row["key"], []), days) for row in rows]


def _line(row: dict[str, Any], trend: list[int], days: str) -> list[ReportCell]:
    reason = _reason(row)
    here = "?" + urlencode({"group": row["name"], "days": days})
    place = row["site"].rstrip("/") + row["pattern"]
    query = urlencode({"reason": row["reason"], "q": row["site"]})
    errors = f"{reverse('run-tab', args=[row['last_run'], 'errors'])}?{query}"
    return [
        ReportCell(reason.label, errors, sub=f"{reason.advice} Last in run {row['last_run']}."),
        ReportCell(place, url=True, sub="" if place == row["example"] else f"like {row['example']}"),
        ReportCell(row["n"], here, bad=True),
        ReportCell(row["runs"], here),
        ReportCell(row["docs"], here),
        _moment(row["first"]),
        _moment(row["last"]),
        ReportCell(spark(trend, "Errors"), value=" ".join(str(count) for count in trend)),
        ReportCell("", pill=(*_PILLS[row["state"]], row["state"].capitalize()), value=row["state"]),
    ]


def _reason(row: dict[str, Any]) -> Reason:
    """In words with its status, where all had the same."""
    return reason_of(row["reason"], row["least"] if row["least"] == row["most"] else 0)


def _of_one(asked: ReportRequest, since: datetime, period: ReportFilter, key: bytes) -> Report:
    """Each crawl that met this error, newest first: what the numbers of its line count."""
    rows = crawls_of_error(asked.docs, since, key)
    first = rows.first()
    return Report(
        OF_ONE, rows, lambda part: [_crawl(row) for row in part], "crawl", filters=(period,),
        hidden=(("group", key.hex()),), sentence=_named(first) if first else "",
        nothing="No crawl of this period had this error.",
    )  # fmt: skip


def _named(row: ErrorGroup) -> str:
    reason = reason_of(row.reason, row.status)
    place = f"{row.site.rstrip('/')}{row.pattern}"
    return f"{reason.label[0].upper()}{reason.label[1:]} at {place}, newest crawl first. {reason.advice}"


def _crawl(row: ErrorGroup) -> list[ReportCell]:
    # Groups have the first half of their key in the address of the tab.
    query = urlencode({"group": row.key.hex()[:16], "doc": row.doc_id})
    return [
        ReportCell(f"Run {row.run_id}", reverse("run", args=[row.run_id]), value=row.run_id),
        ReportCell(row.excursion.title, reverse("crawl-points", args=[row.doc_id])),
        ReportCell(row.count, f"{reverse('run-tab', args=[row.run_id, 'errors'])}?{query}", bad=True),
        _moment(row.ended_at),
    ]


def digest_in(text: str) -> bytes | None:
    """The key of a group in an address; None when it is no key."""
    try:
        return bytes.fromhex(text) if len(text) == 64 else None
    except ValueError:
        return None


def _moment(at: datetime) -> ReportCell:
    return ReportCell(ago(at), value=at.isoformat())


def _chart(docs: Any, since: datetime) -> Chart | None:
    found = {day: Counter({"k-err": count}) for day, count in errors_by_week(docs, since)}
    if not found:
        return None
    bars = day_bars(found, ("k-err",), weekly=True)
    whole = sum(bar.total for bar in bars)
    title = f"Errors by week: {plural(whole, 'error')}; most in one week {max_of(bars):,}"
    return Chart("Errors by week", title, bars)
