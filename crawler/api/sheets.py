"""Operations on whole lists of a document: its stored pages, its crawls."""

from typing import Any

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.published.types import PAGE_TYPES

from ..ledger import stored_pages
from ..models import Excursion
from ..runs.queries import excursions_of_document
from . import shapes
from .contract import PAGING, ApiAddress, ApiRequest, ApiResponse, Operation, Schema, choice, text
from .door import page_of
from .paths import DOCUMENT
from .shapes import COUNTERS, INT, INT_OR_NOTHING, MOMENT, TEXT, moment, shape_of

PAGES_QUERY: dict[str, Schema] = {
    "text": text("Part of the address or title", 200),
    "type": choice("The type of the page", *PAGE_TYPES.values()),
    "folder": text("How the address begins, letter for letter", 2048),
    "sort": choice("Order", *stored_pages.SORTS, *(f"-{name}" for name in stored_pages.SORTS)),
}
SCHEMAS: dict[str, Schema] = {
    "StoredPage": shape_of(
        id=INT, url=TEXT, title=TEXT, type=TEXT, size=INT, stored_at=MOMENT, run_id=INT, last_run_id=INT_OR_NOTHING,
        address_id=INT_OR_NOTHING,
    ),
    "Crawl": shape_of(
        run_id=INT, state=TEXT, requested_by=TEXT, origin=TEXT, note=TEXT, started_at=MOMENT, finished_at=MOMENT,
        left_out_reason=TEXT, left_out_by=TEXT, left_out_at=MOMENT, **dict.fromkeys((*COUNTERS, "bytes"), INT),
    ),
}  # fmt: skip


def pages(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """What the document shows now, whatever run stored it; `run_id` and `address_id` lead to the address in a run."""
    document = document_or_404(asked.user, doc_id, Action.VIEW_RUNS)
    query = asked.query
    kinds = {name: kind for kind, name in PAGE_TYPES.items()}
    wanted = stored_pages.StoredPageFilter(
        text=query.get("text", ""), type_id=kinds.get(query.get("type", "")), folder=query.get("folder", ""),
        sort=query.get("sort", "url"),
    )  # fmt: skip

    def shape(rows: Any) -> list[dict[str, Any]]:
        met = stored_pages.entries_of(document.pk, rows)
        return [_page(row, *met.get(row.pk, (None, None))) for row in rows]

    return page_of(stored_pages.pages_of(document.pk, wanted), asked, shape)


def _page(row: Any, last_run: int | None, entry: int | None) -> dict[str, Any]:
    found = {name: getattr(row, name) for name in ("id", "url", "title", "size", "run_id")}
    return found | {
        "type": PAGE_TYPES.get(row.type_id, ""),
        "stored_at": moment(row.found_at),
        "last_run_id": last_run,
        "address_id": entry,
    }


def crawls(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """Every crawl of the document, newest first."""
    document = document_or_404(asked.user, doc_id, Action.VIEW_RUNS)
    return page_of(excursions_of_document(document.pk), asked, lambda rows: [_crawl(row) for row in rows])


def _crawl(row: Excursion) -> dict[str, Any]:
    found = shapes.excursion(row)
    for name in ("document_id", "title", "project"):
        del found[name]
    told = {name: getattr(row.run, name) for name in ("requested_by", "origin", "note")}
    times = {"started_at": moment(row.started_at), "finished_at": moment(row.finished_at)}
    return found | told | times | {"run_id": row.run_id}


ADDRESSES = (
    ApiAddress(DOCUMENT + "pages/", "api-document-pages", {
        "GET": Operation(pages, "The stored pages of a document", "StoredPage", many=True, query=PAGING | PAGES_QUERY),
    }),
    ApiAddress(DOCUMENT + "runs/", "api-document-runs", {
        "GET": Operation(crawls, "The crawls of a document, newest first", "Crawl", many=True, query=PAGING),
    }),
)  # fmt: skip
