"""The tabs Pages (what was stored) and URLs (the decision ledger: every address seen, and why)."""

from typing import Any

from django.http import HttpRequest

from ..models import Run
from ..queries.counts import Docs, Tallies, Totals
from ..queries.ledger import CHANGED, NEW, PAGE_OUTCOMES, Filter
from ..queries.pages import titles_of
from ..queries.sites import new_pages
from . import charts
from .lists import asked_of, chips_of, choices_of, listed, tallies_for
from .why import why_of

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
    asked = asked_of(request)
    chosen = tuple(one for one in asked.outcomes if one in PAGE_OUTCOMES)
    page, rows = listed(request, run, docs, asked.but(outcomes=chosen or PAGE_OUTCOMES))
    titles_of(rows)
    return (
        {
            "page": page,
            "asked": asked,
            "kinds": _kinds(run, docs, context["sums"]),
            "chosen": asked.fresh or (chosen[0] if len(chosen) == 1 else ""),
        }
        | why_of(request, run, docs, rows)
        | choices_of(run, docs, context)
    )


def _kinds(run: Run, docs: Docs, sums: Totals) -> list[tuple[str, str, str, int]]:
    """Chips: name, query, label, count."""
    new = new_pages(run, docs)
    return [
        ("", "", "All", sums.pages),
        (NEW, "fresh=new", "New", new),
        (CHANGED, "fresh=changed", "Changed", sums.crawled - new),
        ("unchanged", "outcome=unchanged", "Unchanged", sums.unchanged),
    ]


def urls(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    asked = asked_of(request)
    page, rows = listed(request, run, docs, asked)
    sums, divided = context["sums"], tallies_for(run, docs, asked, context)
    return (
        {
            "page": page,
            "asked": asked,
            "noun": "address,addresses",
            "terms": [
                (name, label, _SWATCHES.get(name, ""), getattr(sums, name)) for name, label in OUTCOME_LABELS.items()
            ],
            "parts": charts.ledger_parts(sums),
            "parts_title": charts.ledger_title(sums),
            "chip_rows": _chip_rows(request, asked, divided),
        }
        | why_of(request, run, docs, rows)
        | choices_of(run, docs, context)
    )


def _chip_rows(request: HttpRequest, asked: Filter, divided: Tallies) -> list[tuple[str, str, list[dict[str, Any]]]]:
    rows = [
        ("skip-h", "Skipped because", chips_of(request, asked, divided.skipped)),
        ("fail-h", "Failed because", chips_of(request, asked, divided.failed)),
    ]
    return [row for row in rows if row[2]]
