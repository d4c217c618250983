"""Hosts: where pages, blocks and errors come from; of one site, every crawl that met it."""

from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from clearinghouse.web.templatetags.formats import plural, size
from crawler.findings.ledger_figures import EXCLUDED, OUTSIDE, WAITING
from crawler.models import HostFigure
from crawler.runs.report_queries import figures_of_host, hosts_since

from ..report_base import Bar, Chart, Column, Report, ReportCell, ReportFilter, ReportRequest

_NUMBERS = (
    Column("pages_", "Pages", num=True),
    Column("new_", "New", num=True),
    Column("changed_", "Changed", num=True),
    Column("unchanged_", "Unchanged", num=True),
    Column("bytes_", "Data", num=True),
    Column("robots_", "robots.txt", num=True),
    Column("outside_", "Out of scope", num=True),
    Column("excluded_", "Excluded", num=True),
    Column("failed_", "Errors", num=True),
    Column("waiting_", "Left waiting", num=True),
)
COLUMNS = (Column("host", "Host"), Column("runs_", "Runs", num=True), *_NUMBERS, Column("slowest_", "ms", num=True))
OF_ONE = (
    Column("run", "Run", sorts=False),
    Column("document", "Document", sorts=False),
    *(Column(column.key, column.label, num=True, sorts=False) for column in _NUMBERS),
    Column("median_ms", "ms", num=True, sorts=False),
)
_TOP = 12
# What each number opens in the run.
_LISTS: dict[str, tuple[str, dict[str, Any]]] = {
    "pages": ("pages", {}),
    "new": ("pages", {"outcome": "crawled", "fresh": "new"}),
    "changed": ("pages", {"outcome": "crawled", "fresh": "changed"}),
    "unchanged": ("pages", {"outcome": "unchanged"}),
    "robots": ("urls", {"reason": "robots_disallowed"}),
    "outside": ("urls", {"reason": OUTSIDE}),
    "excluded": ("urls", {"reason": EXCLUDED}),
    "failed": ("errors", {}),
    "waiting": ("urls", {"reason": WAITING}),
}


def report(asked: ReportRequest) -> Report:
    since, period = asked.since()
    host = asked.text("host")
    if host:
        return _of_one(asked, since, period, host)
    words, by_words = asked.words("Host contains")
    rows = hosts_since(asked.docs, since, words)
    sort = asked.sort(COLUMNS, "-pages_")
    found = rows.order_by(sort, "host")
    top = list(rows.order_by("-pages_", "host")[:_TOP])
    return Report(
        COLUMNS, found, lambda part: [_line(row, period.value) for row in part], "host", sort=sort,
        filters=(by_words, period), chart=_chart(top),
        sentence=f"{plural(rows.count(), 'site was,sites were')} found in this period.",
    )  # fmt: skip


def _line(row: dict[str, Any], days: str) -> list[ReportCell]:
    here = "?" + urlencode({"host": row["host"], "days": days})
    numbers = [_number(column.key, row[column.key], here) for column in _NUMBERS]
    return [ReportCell(row["host"], here), ReportCell(row["runs_"], here), *numbers, ReportCell(row["slowest_"])]


def _number(key: str, value: int, href: str) -> ReportCell:
    if key == "bytes_":
        return ReportCell(size(value), value=value)
    return ReportCell(value, href, bad=key == "failed_")


def _of_one(asked: ReportRequest, since: Any, period: ReportFilter, host: str) -> Report:
    rows = figures_of_host(asked.docs, since, host).order_by("-ended_at", "-id")
    return Report(
        OF_ONE, rows, lambda part: [_crawl(row) for row in part], "crawl",
        filters=(ReportFilter("host", "Host", host), period), sentence=f"Crawls that found {host}, newest first.",
    )  # fmt: skip


def _crawl(row: HostFigure) -> list[ReportCell]:
    run = row.excursion.run_id
    cells = [
        ReportCell(f"Run {run}", reverse("run", args=[run]), value=run),
        ReportCell(row.excursion.title, reverse("crawl-points", args=[row.doc_id])),
    ]
    for column in _NUMBERS:
        name = column.key.removesuffix("_")
        value = row.new + row.changed + row.unchanged if name == "pages" else getattr(row, name)
        cells.append(_number(column.key, value, "" if name == "bytes" else _list(row, name)))
    return [*cells, ReportCell(row.median_ms or None, value=row.median_ms)]


def _list(row: HostFigure, name: str) -> str:
    tab, query = _LISTS[name]
    return f"{reverse('run-tab', args=[row.excursion.run_id, tab])}?" + urlencode(
        {"doc": row.doc_id, "q": f"//{row.host}/", **query}, doseq=True
    )


def _chart(top: list[dict[str, Any]]) -> Chart | None:
    if not top:
        return None
    bars = [Bar(row["host"], _parts(row), "?" + urlencode({"host": row["host"]})) for row in top]
    most = f"{top[0]['host']}, {top[0]['pages_']:,}"
    title = f"Pages and errors of the {plural(len(top), 'site')} with most pages; most: {most}"
    key = (("k-ok", "new or changed"), ("k-done", "unchanged"), ("k-err", "errors"))
    return Chart("Sites with most pages", title, bars, key, listed=True)


def _parts(row: dict[str, Any]) -> tuple[tuple[str, int], ...]:
    return ("k-ok", row["new_"] + row["changed_"]), ("k-done", row["unchanged_"]), ("k-err", row["failed_"])
