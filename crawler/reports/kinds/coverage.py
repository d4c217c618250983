"""Coverage: which documents are fresh, stale, never crawled."""

from collections import Counter
from datetime import datetime, timedelta
from typing import Any

from django.urls import reverse
from django.utils import timezone

from clearinghouse.accounts.policies import Action, documents_for
from clearinghouse.web.listing import in_order
from clearinghouse.web.templatetags.formats import age, plural, spark
from crawler.runs.latest_crawls import LastCrawl, last_crawls, trends
from crawler.runs.run_status import place_of
from crawlpoints.queries import counts_by_document

from ..report_base import Bar, Chart, Column, Report, ReportCell, ReportRequest

COLUMNS = (
    Column("document", "Document"),
    Column("project", "Project"),
    Column("points", "Active points", num=True),
    Column("state", "Last crawl"),
    Column("ended", "Age", fit=True),
    Column("pages", "Pages", num=True),
    Column("errors", "Errors", num=True),
    Column("trend", "Trend", num=True, sorts=False),
)
AGES = (
    ("week", "Up to 7 days", 7),
    ("month", "8 to 30 days", 30),
    ("quarter", "31 to 90 days", 90),
    ("older", "Older", 0),
    ("never", "Never crawled", 0),
)
_CSS = {"week": "k-ok", "month": "k-ok", "quarter": "k-warn", "older": "k-err", "never": "k-off"}
_KEYS: dict[str, Any] = {
    "document": lambda row: row["title"].casefold(),
    "project": lambda row: row["project"].casefold(),
    "points": lambda row: row["active"],
    "state": lambda row: place_of(row["last"].state if row["last"] else "never"),
    "ended": lambda row: row["last"].at.timestamp() if row["last"] else 0.0,
    "pages": lambda row: row["last"].pages if row["last"] else -1,
    "errors": lambda row: row["last"].errors if row["last"] else -1,
}


def report(asked: ReportRequest) -> Report:
    now = timezone.now()
    project, by_project = asked.project()
    words, by_words = asked.words("Title contains")
    wanted, by_age = asked.one_of("age", "Last crawl", [("", "Any age"), *((code, label) for code, label, _ in AGES)])
    rows = _rows(asked, now)
    rows = [row for row in rows if project in ("", row["project"]) and words.casefold() in row["title"].casefold()]
    counts = Counter(row["age"] for row in rows)
    shown = [row for row in rows if wanted in ("", row["age"])]
    sort = asked.sort(COLUMNS, "ended")
    return Report(
        COLUMNS, in_order(shown, sort, _KEYS), _cells, "document", sort=sort, chart=_chart(counts),
        filters=(by_words, by_project, by_age),
        sentence=_sentence(counts, sum(counts.values())),
    )  # fmt: skip


def _rows(asked: ReportRequest, now: datetime) -> list[dict[str, Any]]:
    documents = documents_for(asked.request.user, Action.VIEW_RUNS).order_by()
    found = documents.values_list("pk", "sheet__title", "sheet__project__name")
    points, last = counts_by_document(), last_crawls(asked.docs)
    return [_row(doc, title, project, points.get(doc, (0, 0)), last.get(doc), now) for doc, title, project in found]


def _row(*given: Any) -> dict[str, Any]:
    doc_id, title, project, (active, every), last, now = given
    return {
        "id": doc_id,
        "title": title or f"Document {doc_id}",
        "project": project or "",
        "active": active,
        "all": every,
        "last": last if last and last.at else None,
        "age": _age(last.at if last else None, now),
    }


def _age(at: datetime | None, now: datetime) -> str:
    if at is None:
        return "never"
    for code, _, days in AGES[:3]:
        if now - at <= timedelta(days=days):
            return code
    return "older"


def _cells(rows: list[dict[str, Any]]) -> list[list[ReportCell]]:
    found = trends([row["id"] for row in rows])
    return [_line(row, found.get(row["id"], [])) for row in rows]


def _line(row: dict[str, Any], trend: list[int]) -> list[ReportCell]:
    last: LastCrawl | None = row["last"]
    doc = row["id"]
    points = reverse("crawl-points", args=[doc])
    cells = [
        ReportCell(row["title"], points),
        ReportCell(row["project"]),
        ReportCell(f"{row['active']} of {row['all']}" if row["all"] else 0, points, value=row["active"]),
    ]
    if last is None:
        return [*cells, ReportCell("", state="never", value="never"), *[ReportCell(None, value="")] * 4]
    tabs = {name: f"{reverse('run-tab', args=[last.run_id, name])}?doc={doc}" for name in ("pages", "errors")}
    return [
        *cells,
        ReportCell(f"Run {last.run_id}", reverse("run", args=[last.run_id]), state=last.state, sub=_since(last)),
        ReportCell(age(last.at), value=last.at.isoformat() if last.at else ""),
        ReportCell(last.pages, tabs["pages"]),
        ReportCell(last.errors, tabs["errors"], bad=True),
        ReportCell(spark(trend), value=" ".join(str(pages) for pages in trend)),
    ]


def _since(last: LastCrawl) -> str:
    return f"run {last.since_run}: {last.since.replace('_', ' ')}" if last.since else ""


def _sentence(counts: Counter[str], whole: int) -> str:
    never = plural(counts["never"], "was never crawled,were never crawled")
    stale = plural(counts["older"], "was not crawled for 90 days,were not crawled for 90 days")
    return f"Of {plural(whole, 'document')}, {never} and {stale}."


def _chart(counts: Counter[str]) -> Chart:
    bars = [Bar(label, ((_CSS[code], counts[code]),), f"?age={code}") for code, label, _ in AGES]
    title = "Documents by the age of their last crawl: " + ", ".join(f"{bar.label} {bar.total}" for bar in bars)
    return Chart("Age of the last crawl", title, bars, listed=True)
