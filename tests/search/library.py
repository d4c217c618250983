"""Published pages for the tests of search: written to a target as a propagation would leave them."""

from datetime import UTC, datetime, timedelta
from typing import Any

from clearinghouse.database.digests import digest_of
from clearinghouse.published.models import (
    LiveGeneration,
    PublishedDocument,
    PublishedInterval,
    PublishedMeta,
    PublishedVersion,
)
from clearinghouse.published.types import HTML
from clearinghouse.search import backends

DAY = datetime(2026, 11, 12, 8, 0, tzinfo=UTC)


def publish(
    alias: str, pages: list[dict[str, Any]], *, generation: int = 1, titles: dict[int, tuple[str, str]] | None = None
) -> list[int]:
    """Pages (url, title, text and what else is wanted) as one live generation; their ids."""
    ids = []
    for number, page in enumerate(pages):
        row = version(number, page, crawled_at=DAY + timedelta(days=number), generation=generation)
        row.save(using=alias)
        PublishedInterval.objects.using(alias).create(published_id=row.id, doc_id=row.doc_id, gen_from=generation)
        PublishedMeta.objects.using(alias).create(published_id=row.id, name="description", content="a meta tag")
        ids.append(row.id)
    for doc_id, (title, project) in (titles or {1: ("Measures", "Quality")}).items():
        PublishedDocument.objects.using(alias).get_or_create(
            doc_id=doc_id, gen_from=generation, defaults={"title": title, "project": project}
        )
    LiveGeneration.objects.using(alias).update_or_create(id=1, defaults={"generation": generation, "switched_at": DAY})
    backends.backend(alias).ensure()
    backends.backend(alias).add(ids)
    return ids


def version(number: int, page: dict[str, Any], *, crawled_at: datetime, generation: int) -> PublishedVersion:
    """A page as a row that is not yet written."""
    url = page.get("url", f"https://quality.example.org/{number}.html")
    return PublishedVersion(
        id=page.get("id"),
        doc_id=page.get("doc_id", 1), page_id=page.get("page_id", number + 1), digest=digest_of(f"{generation} {url}"),
        url_key=digest_of(url), url=url, host=url.split("/")[2], type_id=page.get("type_id", HTML),
        title=page.get("title", ""), headings=page.get("headings", ""), metas=page.get("metas", ""),
        anchors=page.get("anchors", ""), text=page.get("text", ""), body=page.get("body"),
        language=page.get("language", ""), crawled_at=page.get("crawled_at", crawled_at), created_at=DAY,
        updated_by="test",
    )  # fmt: skip
