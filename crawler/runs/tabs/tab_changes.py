"""The tab Changes: how the pages of a document differ from its crawl before, and why pages are gone."""

from typing import Any

from django.http import HttpRequest

from clearinghouse.web.listing import choice_in, number_in, page_of
from crawler.ledger.page_details import fresh_by_document, titles_of
from crawler.ledger.queries import Row, by_key
from crawler.models import Excursion, Run
from crawler.policy.crawl_difference import CrawlDifference
from crawler.values import FAILED, REDIRECTED, SKIPPED

from ..crawl_changes import changes_of, excursion_before
from ..run_counts import Docs, excursions_of

KINDS = {"new": "Added", "changed": "Changed", "gone": "Removed", "moved": "Moved", "unchanged": "Unchanged"}


def changes(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    """One document is compared at a time; a run of several lists them first."""
    excursions = excursions_of(run, docs)
    doc_id = number_in(request.GET, "doc")
    if doc_id is None and context["sums"].documents != 1:
        return _documents(request, excursions)
    excursion = excursions.filter(doc_id=doc_id).first() if doc_id is not None else excursions.first()
    return _compared(request, excursion) if excursion else _documents(request, excursions)


def _documents(request: HttpRequest, excursions: Any) -> dict[str, Any]:
    rows = excursions.defer("snapshot", "error").order_by("title", "id")
    page = page_of(request, rows)
    # Counted when a crawl ends, against the last complete one before it; until then, what it stored is told.
    counted = {row.pk: (row.tallies or {}).get("change") for row in page.object_list}
    fresh = fresh_by_document([pk for pk, change in counted.items() if change is None])
    listed = [(row, counted[row.pk], new := fresh.get(row.pk, 0), row.crawled - new) for row in page.object_list]
    return {"page": page, "documents": listed, "excursion": None}


def _compared(request: HttpRequest, excursion: Excursion) -> dict[str, Any]:
    before = excursion_before(excursion)
    found = changes_of(excursion, before)
    counts = found.counts()
    kind = choice_in(request.GET, "kind", KINDS) or next((name for name in KINDS if counts[name]), "new")
    page = page_of(request, _keys(found, kind))
    return {
        "excursion": excursion,
        "before": before,
        "kinds": [(name, label, counts[name]) for name, label in KINDS.items()],
        "kind": kind,
        "page": page,
        "rows": _rows(excursion, before, found, kind, list(page.object_list)),
    }


def _keys(found: CrawlDifference, kind: str) -> list[bytes]:
    return sorted(getattr(found, kind))


def _rows(
    excursion: Excursion, before: Excursion | None, found: CrawlDifference, kind: str, keys: list[bytes]
) -> list[dict[str, Any]]:
    """What is shown of each address: its row in this run, the one in the run before, what became of it."""
    wanted = [*keys, *(found.moved[key] for key in keys if kind == "moved")]
    here = by_key([excursion.pk], wanted)
    there = by_key([before.pk], keys) if before and kind in ("gone", "moved") else {}
    titles_of([*here.values(), *there.values()])
    rows = []
    for key in keys:
        now = here.get((excursion.pk, found.moved[key] if kind == "moved" else key))
        then = there.get((before.pk, key)) if before else None
        told = why_gone(here.get((excursion.pk, key))) if kind in ("gone", "moved") else ""
        if shown := (then if kind == "gone" else now) or now or then:
            rows.append({"row": shown, "then": then, "now": now, "told": told, "of_before": shown is then})
    return rows


def why_gone(now: Row | None) -> str:
    """Why a page that was stored before is not stored now: "now 404", "no longer linked", "now excluded"."""
    if now is None:
        return "no longer linked"
    if now.outcome == REDIRECTED:
        return f"now redirects to {now.redirect_url}"
    if now.outcome in (FAILED, SKIPPED):
        return f"now {now.label}"
    return "stored under another address"
