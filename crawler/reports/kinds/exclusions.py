"""Exclusions: which exclude URLs work."""

from typing import Any

from django.urls import reverse
from django.utils.http import urlencode

from clearinghouse.accounts.policies import Action, documents_for
from clearinghouse.web.listing import in_order
from clearinghouse.web.templatetags.formats import plural, when_row
from crawler.runs.report_queries import HitsOfRun, hits_of_last_runs
from crawlpoints.models import ExcludeUrl

from ..report_base import Column, Report, ReportCell, ReportRequest

RUNS = 3
COLUMNS = (
    Column("pattern", "Exclude URL"),
    Column("document", "Document"),
    Column("last", "Last run", num=True),
    Column("second", "Run before", num=True, sorts=False),
    Column("third", "And before", num=True, sorts=False),
    Column("added", "Added", fit=True),
)
SHOW = (("", "All"), ("idle", "Stopped nothing"), ("works", "Stopped something"))
_KEYS: dict[str, Any] = {
    "pattern": lambda row: row["pattern"],
    "document": lambda row: row["title"].casefold(),
    "last": lambda row: next((-1 if count is None else count for _, count in row["hits"]), -1),
    "added": lambda row: row["at"].timestamp() if row["at"] else 0.0,
}


def report(asked: ReportRequest) -> Report:
    project, by_project = asked.project()
    words, by_words = asked.words("Exclude URL contains")
    show, by_show = asked.one_of("show", "Show", SHOW)
    rows = _rows(asked, project, words)
    idle = [row for row in rows if {count for _, count in row["hits"]} - {None} == {0}]
    works = [row for row in rows if any(count for _, count in row["hits"])]
    sort = asked.sort(COLUMNS, "-last")
    shown = {"idle": idle, "works": works}.get(show, rows)
    return Report(
        COLUMNS, in_order(shown, sort, _KEYS), lambda part: [_line(row) for row in part], "exclude URL", sort=sort,
        filters=(by_words, by_project, by_show),
        sentence=_sentence(len(rows), len(idle)),
        nothing="No exclude URL matches these filters.",
    )  # fmt: skip


def _sentence(every: int, idle: int) -> str:
    return f"{plural(every, 'exclude URL')}; {idle:,} of them stopped nothing in the last {RUNS} runs of the document."


def _rows(asked: ReportRequest, project: str, words: str) -> list[dict[str, Any]]:
    documents = documents_for(asked.request.user, Action.VIEW_RUNS)
    documents = documents.filter(sheet__project__name=project) if project else documents
    found = ExcludeUrl.objects.filter(document__in=documents.order_by().values("pk"))
    found = found.filter(pattern__icontains=words) if words else found
    columns = ("pattern", "document_id", "document__sheet__title", "created_at", "updated_by")
    rows = [dict(row) for row in found.values(*columns)]
    hits = hits_of_last_runs({row["document_id"] for row in rows}, RUNS)
    return [_row(row, hits.get(row["document_id"], [])) for row in rows]


def _row(row: dict[str, Any], crawls: list[HitsOfRun]) -> dict[str, Any]:
    return {
        "pattern": row["pattern"],
        "doc": row["document_id"],
        "title": row["document__sheet__title"] or f"Document {row['document_id']}",
        "at": row["created_at"],
        "by": row["updated_by"] or "",
        "hits": [(one.run_id, one.of(row["pattern"], row["created_at"])) for one in crawls],
    }


def _line(row: dict[str, Any]) -> list[ReportCell]:
    hits = [_count(row, run, count) for run, count in row["hits"]]
    hits += [ReportCell(None, value="")] * (RUNS - len(hits))
    at = row["at"]
    return [
        ReportCell(row["pattern"], url=True),
        ReportCell(row["title"], reverse("exclude-urls", args=[row["doc"]])),
        *hits,
        ReportCell(
            when_row(at) if at else None, value=at.isoformat() if at else "", sub=f"by {row['by']}" if row["by"] else ""
        ),
    ]


def _count(row: dict[str, Any], run: int, count: int | None) -> ReportCell:
    return (
        ReportCell(None, value="", sub="new since")
        if count is None
        else ReportCell(count, _stopped(row, run), value=count)
    )


def _stopped(row: dict[str, Any], run: int) -> str:
    """The addresses that this exclude URL stopped; a longer one is cut where the ledger cuts it."""
    query = {"reason": "excluded", "doc": row["doc"], "rule": row["pattern"][:500]}
    return f"{reverse('run-tab', args=[run, 'urls'])}?{urlencode(query)}"
