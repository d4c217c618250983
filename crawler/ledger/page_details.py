"""One stored page: its version, its links out and in with their decisions, the path that led to it."""

from collections.abc import Iterable
from dataclasses import dataclass

from django.db.models import Count, QuerySet

from clearinghouse.database.digests import digest_of
from clearinghouse.published.types import PAGE_TYPES

from ..extract import unpack_links
from ..models import LedgerEntry, PageBody, PageVersion
from ..values import CRAWLED, Link
from .queries import PAGE_OUTCOMES, Row, by_key

# A path is as long as its page is deep; longer ones are shown from their end.
_STEPS = 20
# Until links are indexed, links in are looked for in this many pages of the excursion.
_PAGES = 1_000


@dataclass(frozen=True, slots=True)
class LinkOut:
    link: Link
    decision: Row | None


@dataclass(frozen=True, slots=True)
class LinksIn:
    rows: list[tuple[Row, str]]  # the page, its anchor text
    complete: bool


def version_of(row: Row) -> PageVersion | None:
    return PageVersion.objects.filter(pk=row.version_id).first() if row.version_id else None


def titles_of(rows: Iterable[Row]) -> None:
    """Puts title, type and size of each row's version beside it, one query."""
    rows = list(rows)
    ids = {row.version_id for row in rows if row.version_id}
    stored = PageVersion.objects.filter(pk__in=ids).values_list("pk", "title", "type_id", "size") if ids else []
    known = {pk: (title, type_id, size) for pk, title, type_id, size in stored}
    for row in rows:
        title, type_id, size = known.get(row.version_id or 0, ("", 0, 0))
        row.extra |= {"title": title, "type": PAGE_TYPES.get(type_id, ""), "size": size}


def fresh_by_document(excursion_ids: Iterable[int]) -> dict[int, int]:
    """How many stored pages of each excursion are new, one query."""
    rows = LedgerEntry.objects.filter(excursion__in=list(excursion_ids), outcome=CRAWLED, previous_version_id=None)
    return dict(rows.values_list("excursion_id").annotate(n=Count("id")).order_by())


def source_of(version: PageVersion, limit: int) -> tuple[str, bool] | None:
    """The bytes as text, cut at `limit` characters, and whether they were cut; None for what is not text."""
    content = PageBody.objects.filter(pk=version.digest).values_list("content", flat=True).first()
    if content is None or b"\0" in bytes(content[:1000]):
        return None
    try:
        text = bytes(content).decode(version.charset or "utf-8", "replace")
    except LookupError:
        text = bytes(content).decode("utf-8", "replace")
    return text[:limit], len(text) > limit


def body_of(version: PageVersion) -> bytes | None:
    content = PageBody.objects.filter(pk=version.digest).values_list("content", flat=True).first()
    return None if content is None else bytes(content)


def versions_of(row: Row) -> QuerySet[PageVersion]:
    """Every content this address of the document had, newest first."""
    rows = PageVersion.objects.filter(doc_id=row.doc_id, url_key=row.url_key).order_by("-id")
    return rows.only("id", "run_id", "digest", "title", "size", "found_at", "last_modified", "url")


def two_versions(
    row: Row, version: PageVersion, new_id: int | None, old_id: int | None
) -> tuple[PageVersion | None, PageVersion]:
    """Those to compare, old and new: this one with the one before unless others are asked for."""
    found = versions_of(row)
    new = found.filter(pk=new_id or version.pk).first() or version
    return found.filter(pk=old_id or 0).first() or found.filter(pk__lt=new.pk).first(), new


def text_of(version: PageVersion) -> str:
    return PageVersion.objects.filter(pk=version.pk).values_list("text", flat=True)[0]


def links_of(version: PageVersion) -> list[Link]:
    return unpack_links(bytes(version.links)) if version.links else []


def decided(row: Row, links: Iterable[Link]) -> list[LinkOut]:
    """Each link with what this excursion decided about its address, one query."""
    links = list(links)
    keys = [digest_of(link.url) for link in links]
    known = by_key([row.excursion_id], keys) if keys else {}
    return [LinkOut(link, known.get((row.excursion_id, key))) for link, key in zip(links, keys, strict=True)]


def links_to(row: Row) -> LinksIn:
    """The pages of the same excursion that link to this address."""
    pages = LedgerEntry.objects.filter(
        excursion=row.excursion_id, outcome__in=PAGE_OUTCOMES, version_id__isnull=False
    ).order_by("id")
    listed = pages.values_list("version_id", "url_key")[: _PAGES + 1]
    versions = {version: key for version, key in listed if version is not None}
    complete = len(versions) <= _PAGES
    found: dict[bytes, str] = {}
    stored = PageVersion.objects.filter(pk__in=list(versions)[:_PAGES]).values_list("pk", "links")
    for pk, packed in stored.iterator(chunk_size=100):
        links = unpack_links(bytes(packed)) if packed else []
        anchor = next((link.anchor for link in links if link.url == row.url), None)
        if anchor is not None:
            found[bytes(versions[pk])] = anchor
    rows = by_key([row.excursion_id], found)
    linking = [(page, found[page.url_key]) for page in rows.values()]
    return LinksIn(sorted(linking, key=lambda item: item[0].url), complete)


def path_to(row: Row) -> tuple[list[Row], bool]:
    """From the crawl point to just before this row, and whether the beginning was left out."""
    steps: list[Row] = []
    seen = {row.url_key}
    here = row
    while here.found_on and here.found_on not in seen and len(steps) < _STEPS:
        seen.add(here.found_on)
        parent = by_key([row.excursion_id], [here.found_on]).get((row.excursion_id, here.found_on))
        if parent is None:
            break
        steps.append(parent)
        here = parent
    return steps[::-1], len(steps) == _STEPS and bool(here.found_on)
