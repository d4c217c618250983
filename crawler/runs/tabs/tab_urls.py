"""The tabs Pages (what was stored) and URLs (the decision ledger: every address seen, and why)."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, doc_ids_for, may
from clearinghouse.published.types import PAGE_TYPES
from crawler.ledger.duplicates import same_content, without_text
from crawler.ledger.page_details import titles_of
from crawler.ledger.queries import CHANGED, NEW, PAGE_OUTCOMES, Filter, LedgerSlice, Row
from crawler.ledger.site_folders import new_pages
from crawler.ledger.views.why_views import why_of
from crawler.models import Run
from crawler.values import FAILED, SKIPPED

from ..run_counts import Docs, Tallies
from ..views import run_charts
from .address_lists import chips_of, choices_of, listed, page_of_rows, tallies_for, totals_for

OUTCOME_LABELS = {
    "crawled": "New or changed",
    "unchanged": "Unchanged",
    "redirected": "Redirected",
    "skipped": "Skipped",
    "failed": "Failed",
    "queued": "Queued",
}
_SWATCHES = {"crawled": "k-ok", "unchanged": "k-done", "redirected": "k-off", "skipped": "k-wait", "failed": "k-err"}


def pages(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    asked = Filter.read(request.GET)
    chosen = tuple(one for one in asked.outcomes if one in PAGE_OUTCOMES)
    only = _ONLY.get(request.GET.get("only", ""))
    if only:
        alike = only.read(run, docs, asked.doc_id)
        page, rows = page_of_rows(request, LedgerSlice(run, docs, alike))
        for row in rows:
            row.extra["others"] = alike[row.id] - 1
    else:
        page, rows = listed(request, run, docs, asked.but(outcomes=chosen or PAGE_OUTCOMES))
    titles_of(rows)
    _excluding(request, rows)
    return (
        {
            "page": page,
            "asked": asked,
            "only": only,
            "types": _types(context["tallies"]),
            "statuses": _statuses(context["tallies"]),
            "kinds": _kinds(run, docs, asked, context),
            "chosen": asked.fresh or (chosen[0] if len(chosen) == 1 else ""),
        }
        | why_of(request, run, docs, rows)
        | choices_of(run, docs, context, asked)
    )


@dataclass(frozen=True, slots=True)
class _Only:
    """A list that a finding opens."""

    read: Callable[[Run, Docs, int | None], dict[int, int]]
    sentence: str


_ONLY = {
    "same": _Only(same_content, "Only pages whose content another page has too, those that are alike together."),
    "no_text": _Only(without_text, "Only PDF files in which no text was found."),
}


def _types(divided: Tallies) -> list[tuple[int, str]]:
    """The types of stored pages to choose from."""
    return [(kind, PAGE_TYPES[kind]) for kind in sorted(divided.types) if kind in PAGE_TYPES]


def _statuses(divided: Tallies) -> list[int]:
    """The statuses a stored page may have."""
    return [status for status in sorted(divided.codes) if 200 <= status < 300 or status == 304]


def _excluding(request: HttpRequest, rows: list[Row]) -> None:
    """Where this person excludes each address; nowhere without the right."""
    if not may(request.user, Action.EDIT):
        return
    editable = doc_ids_for(request.user, Action.EDIT)
    for row in rows:
        if editable is None or row.doc_id in editable:
            row.extra["exclude"] = f"{reverse('exclude-urls', args=[row.doc_id])}?{urlencode({'pattern': row.url})}"


def _kinds(run: Run, docs: Docs, asked: Filter, context: dict[str, Any]) -> list[tuple[str, str, str, int]]:
    """Chips: name, query, label, count; of the document asked for."""
    sums, new = totals_for(run, docs, asked, context), new_pages(run, docs, asked.doc_id)
    kinds = [
        ("", "", "All", sums.pages),
        (NEW, "fresh=new", "New", new),
        (CHANGED, "fresh=changed", "Changed", sums.crawled - new),
        ("unchanged", "outcome=unchanged", "Unchanged", sums.unchanged),
    ]
    document = "" if asked.doc_id is None else f"doc={asked.doc_id}"
    return [(name, "&".join(filter(None, (query, document))), label, count) for name, query, label, count in kinds]


def urls(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    asked = Filter.read(request.GET)
    page, rows = listed(request, run, docs, asked)
    sums, divided = totals_for(run, docs, asked, context), tallies_for(run, docs, asked, context)
    return (
        {
            "page": page,
            "asked": asked,
            "noun": "address,addresses",
            "found": sums.found,
            "terms": [
                (name, label, _SWATCHES.get(name, ""), getattr(sums, name)) for name, label in OUTCOME_LABELS.items()
            ],
            "parts": run_charts.ledger_parts(sums),
            "parts_title": run_charts.ledger_title(sums),
            "chip_rows": _chip_rows(request, asked, divided),
        }
        | why_of(request, run, docs, rows)
        | choices_of(run, docs, context, asked)
    )


def _chip_rows(request: HttpRequest, asked: Filter, divided: Tallies) -> list[tuple[str, str, list[dict[str, Any]]]]:
    rows = [
        ("skip-h", "Skipped because", chips_of(request, asked, divided.in_words(SKIPPED))),
        ("fail-h", "Failed because", chips_of(request, asked, divided.in_words(FAILED))),
    ]
    return [row for row in rows if row[2]]
