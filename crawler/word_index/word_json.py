"""What the word index says about a word and about a page, as JSON: the commands print it, the API answers with it.

Called by: the commands word and page, crawler.word_index.api.
"""

from datetime import UTC, datetime
from typing import Any

from clearinghouse.published.models import PublishedVersion
from clearinghouse.published.types import PAGE_TYPES
from crawler.models import PageVersion

from ..propagation.loading.collect import VARIANTS
from . import indexed_page, lexicon, parents_children
from .postings import Posting


def posting(row: Posting) -> dict[str, Any]:
    return {
        "page_id": row.page_id, "doc_id": row.doc_id, "url": row.url, "title": row.title, "frequency": row.frequency,
        "positions": row.positions,
    }  # fmt: skip


def facts(page: PublishedVersion) -> dict[str, Any]:
    return {
        "page_id": page.page_id, "doc_id": page.doc_id, "url": page.url, "title": page.title,
        "type": PAGE_TYPES.get(page.type_id, ""), "language": page.language,
        "last_modified": moment(page.last_modified), "crawled_at": moment(page.crawled_at),
    }  # fmt: skip


def words(alias: str, found: list[indexed_page.WordOnPage]) -> list[dict[str, Any]]:
    """With the id of each word; one that was published a moment ago may have none yet."""
    ids = lexicon.ids_of(alias, {one.word for one in found})
    return [
        {"word": one.word, "word_id": ids.get(one.word), "frequency": one.frequency, "positions": one.positions}
        for one in found
    ]


def child(row: parents_children.ChildPage) -> dict[str, Any]:
    return {"url": row.url, "anchor": row.anchor, "page_id": row.page_id}


def parent(row: parents_children.ParentPage) -> dict[str, Any]:
    return {"page_id": row.page_id, "url": row.url, "title": row.title, "anchors": row.anchors}


def versions(page: PublishedVersion) -> list[dict[str, Any]]:
    """Every content this address had, newest first; `shown` is the one of this generation."""
    rows = PageVersion.objects.filter(doc_id=page.doc_id, url_key=page.url_key).order_by("-pk")
    return [
        {"version": pk, "run": run, "found_at": moment(at), "title": title, "size": size,
         "shown": pk == page.pk // VARIANTS}
        for pk, run, at, title, size in rows.values_list("pk", "run_id", "found_at", "title", "size")
    ]  # fmt: skip


def moment(at: datetime | None) -> str | None:
    return at.astimezone(UTC).isoformat() if at else None
