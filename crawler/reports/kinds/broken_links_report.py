"""Broken links: dead addresses of the newest finished crawls, with the pages that send their visitors there."""

from collections.abc import Iterator
from typing import Any

from django.urls import reverse

from clearinghouse.web.listing import number_in
from clearinghouse.web.templatetags.formats import plural
from crawler.ledger.links_between_pages import DEAD, broken_links, newest_finished, parents
from crawler.models import LedgerEntry
from crawler.reasons import reason_of
from crawler.runs.report_queries import dead_links
from crawler.values import REASONS

from ..report_base import Column, Report, ReportCell, ReportRequest

COLUMNS = (
    Column("url", "Dead address"),
    Column("excursion__title", "Document"),
    Column("reason", "Why"),
    Column("backlinks", "Linked from", num=True),
    Column("depth", "Depth", num=True),
)
MOST_SHOWN = 200  # referring pages of one address


def report(asked: ReportRequest) -> Report:
    project, by_project = asked.project()
    words, by_words = asked.words("Address contains")
    choices = [("", "Any reason"), *((code, REASONS[code].label) for code in DEAD)]
    reason, by_reason = asked.one_of("reason", "Why", choices)
    rows = dead_links(asked.docs)
    rows = rows.filter(excursion__project=project) if project else rows
    rows = rows.filter(reason=reason) if reason else rows
    rows = rows.filter(url__icontains=words) if words else rows
    sort = asked.sort(COLUMNS, "-backlinks")
    found = rows.order_by(sort, "-backlinks", "id")
    return Report(
        COLUMNS, found, lambda part: [_line(row, asked) for row in part], "address,addresses", sort=sort,
        filters=(by_words, by_project, by_reason),
        sentence=f"{plural(rows.count(), 'dead address,dead addresses')} in the newest finished crawls.",
        nothing="No link is broken.", extra={"referrers": referrers(asked, rows)},
    )  # fmt: skip


def _line(row: LedgerEntry, asked: ReportRequest) -> list[ReportCell]:
    reason = reason_of(row.reason, row.status)
    query = asked.request.GET.copy()
    query["show"] = str(row.pk)
    return [
        ReportCell(row.url, url=True),
        ReportCell(row.excursion.title, reverse("run", args=[row.excursion.run_id]), sub=f"run {row.excursion.run_id}"),
        ReportCell(reason.label, reverse("run-page", args=[row.excursion.run_id, row.pk]), sub=reason.advice),
        ReportCell(row.backlinks, f"?{query.urlencode()}#referrers"),
        ReportCell(row.depth),
    ]


def referrers(asked: ReportRequest, rows: Any) -> dict[str, Any] | None:
    """The pages that link to the address somebody asked about."""
    number = number_in(asked.request.GET, "show")
    entry = rows.filter(pk=number).first() if number is not None else None
    if entry is None:
        return None
    entry.excursion.refresh_from_db()
    found = parents(entry.excursion, [entry.url_key])[entry.url_key]
    return {"entry": entry, "pages": found[:MOST_SHOWN], "more": max(len(found) - MOST_SHOWN, 0)}


CSV_HEAD = ("document", "run", "dead_address", "reason", "status", "linked_from", "anchor_text", "through_redirect",
            "reason_in_words")  # fmt: skip


def csv_lines(asked: ReportRequest) -> Iterator[list[Any]]:
    """A line for each page that links to a dead address, also through redirects."""
    project, _ = asked.project()
    for excursion in newest_finished(asked.docs):
        if project in ("", excursion.project):
            for one in broken_links(excursion):
                entry = one.entry
                known = [excursion.title, excursion.run_id, entry.url, entry.reason, entry.status or ""]
                words = reason_of(entry.reason, entry.status).label
                for parent in one.parents:
                    yield [*known, parent.url, " | ".join(parent.anchors), parent.via, words]
                if not one.parents:
                    yield [*known, "", "", "", words]
