"""Owns: the desired generation, document by document: which versions, with which anchor texts, under which digest.

Does not: read heads to decide (only for the id a page has had), write. Called by: load, verify, services.
A version never changes, so its id stands for its content; the digest covers that id and everything else published.
"""

import json
from collections.abc import Callable, Container, Iterable, Iterator, Sequence
from datetime import datetime
from heapq import merge
from itertools import islice
from typing import Any, NamedTuple

from clearinghouse.addresses.address import Refusal
from clearinghouse.addresses.patterns import Exclude, compile_exclude
from clearinghouse.addresses.roots import begins_with
from clearinghouse.database.digests import digest_of
from crawler import extract
from crawler.models import LedgerEntry, PageBody, PageHead, PageVersion

from ...engine.strands import STRANDS
from ..pinned_scope import DocumentScope, Pinned, PinnedExcursion, PointRoot
from ..plan import VARIANTS
from .anchors import Anchors
from .missing_pages import Trip, shown
from .packed_keys import Numbers, PackedKeys
from .packed_pages import DesiredPage, Pages, WantedPages, published_id

__all__ = ["VARIANTS", "Beat", "Collector", "Content", "Pages", "contents", "removable"]
HEADLESS = 1 << 40  # ids of pages whose head is gone: above all heads
CACHED_PAGES = 200_000
_CHUNK = 500
_DIGESTED = (
    "id", "doc_id", "url", "digest", "type_id", "extension", "title", "metas", "language", "last_modified",
    "found_at", "size", "extractor",
)  # fmt: skip


class PublishableVersion(NamedTuple):
    """What is published of a version; a row of the model costs twice as much to make."""

    id: int
    doc_id: int
    url: str
    digest: bytes
    type_id: int
    extension: str
    title: str
    metas: str
    headings: str
    text: str
    language: str
    last_modified: str
    found_at: datetime


class Content(NamedTuple):
    """A page ready to be published."""

    page: DesiredPage
    url_key: bytes
    version: PublishableVersion
    body: bytes | None
    pages: Pages


Beat = Callable[[], None]


class Collector:
    """Reads desired pages; what it has read it keeps, up to a bound, because three targets want the same."""

    def __init__(self, beat: Beat = lambda: None) -> None:
        self.beat = beat  # called every few hundred rows: reading a large document takes longer than silence may last
        self._kept: dict[int, tuple[DocumentScope, Pinned, Pages]] = {}
        self._size = 0

    def pages(self, document: DocumentScope, target: str) -> Pages:
        pinned = document.on(target)
        kept = self._kept.get(document.doc_id)
        if kept is not None and kept[:2] == (document, pinned):
            return kept[2]
        pages = _collect(document, pinned, self.beat)
        if self._size + len(pages) <= CACHED_PAGES:
            self._kept[document.doc_id] = (document, pinned, pages)
            self._size += len(pages)
        return pages

    def wanted(self, document: DocumentScope, target: str) -> WantedPages:
        return WantedPages(self.pages(document, target))


def contents(pages: Pages, keys: Iterable[bytes]) -> Iterator[Content]:
    """The rows behind these pages, read in chunks."""
    remaining = iter(keys)
    while chunk := list(islice(remaining, _CHUNK // 10)):
        desired = {key: pages[key] for key in chunk}
        found = PageVersion.objects.filter(id__in=[page.version_id for page in desired.values()])
        versions = {row[0]: PublishableVersion(*row) for row in found.values_list(*PublishableVersion._fields)}
        digests = {version.digest for version in versions.values()}
        rows = PageBody.objects.filter(digest__in=digests).values_list("digest", "content")
        bodies = {bytes(digest): bytes(content) for digest, content in rows}
        for key in chunk:
            version = versions.get(desired[key].version_id)
            if version is not None:
                yield Content(desired[key], key, version, bodies.get(bytes(version.digest)), pages)


def removable(excursions: Sequence[PinnedExcursion], most: int) -> int:
    """How many of the oldest excursions (newest first) show nothing any more, so that a generation without them is the
    same to the row; at most so many."""
    trips = [_trip(one, lambda: None) for one in excursions]
    whole = shown(trips, _shielded)
    needed = max((next(at for at, trip in enumerate(trips) if key in trip.named) for key in whole), default=-1)
    for count in range(min(most, len(trips) - 1 - needed), 0, -1):
        if shown(trips[:-count], _shielded) == whole:
            return count
    return 0


def _collect(document: DocumentScope, pinned: Pinned, beat: Beat) -> Pages:
    """In three passes over the versions, none of which keeps what it reads: which count, what links to them, all of it
    in a digest."""
    trips = [_trip(one, beat) for one in pinned]
    kept = _kept(document, _in_order(shown(trips, _shielded, Numbers())), beat)
    del trips
    anchors = Anchors(kept, kept.place_of)
    anchors.gather(beat)
    pages = Pages()
    found = zip(kept.items(), range(len(kept)), strict=True)
    for places, texts in anchors.ranges():
        part = islice(found, len(places))
        while chunk := list(islice(part, _CHUNK)):
            beat()
            _append(pages, document.doc_id, {key: (version, texts.get(at, "")) for (key, version), at in chunk})
    return pages


def _in_order(versions: Numbers) -> Iterator[tuple[bytes, int]]:
    """Most keys are in order already: what an older crawl adds is sorted among them."""
    ordered, others = versions.split()
    return merge(ordered, sorted(others))


def _kept(document: DocumentScope, versions: Iterator[tuple[bytes, int]], beat: Beat) -> Numbers:
    """Without what no crawl point of the document covers any more, and without versions that are gone."""
    allowed = _allowed(document.roots, document.excludes)
    kept = Numbers()
    while chunk := list(islice(versions, _CHUNK)):
        beat()
        rows = PageVersion.objects.filter(id__in=[version for _, version in chunk])
        urls = dict(rows.values_list("id", "url"))
        for key, version in chunk:
            if version in urls and allowed(urls[version]):
                kept[key] = version
    return kept


def _append(pages: Pages, doc_id: int, chunk: dict[bytes, tuple[int, str]]) -> None:
    found = PageVersion.objects.filter(id__in=[version for version, _ in chunk.values()]).values(*_DIGESTED)
    rows = {row["id"]: row for row in found}
    heads = dict(PageHead.objects.filter(doc_id=doc_id, url_key__in=list(chunk)).values_list("url_key", "id"))
    for key, (version, text) in chunk.items():
        page_id = heads.get(key, HEADLESS + version)
        digest = _digest(rows[version], page_id, text)
        pages.append(key, DesiredPage(version, page_id, text, published_id(version, digest), digest))


def _trip(pinned: PinnedExcursion, beat: Beat) -> Trip:
    trip = Trip(pinned.state, Numbers(), PackedKeys(), PackedKeys(), PackedKeys(), pinned.strand)
    rows = LedgerEntry.objects.filter(excursion_id=pinned.number).order_by("url_key")
    fields = rows.values_list("url_key", "outcome", "reason", "status", "version_id")
    for key, outcome, reason, status, version in fields.iterator(5000):
        trip.note(bytes(key), outcome, (reason, status), version)
    beat()
    return trip


def _digest(row: dict[str, Any], page_id: int, anchors: str) -> bytes:
    parts = [str(row[name].hex() if isinstance(row[name], bytes) else row[name]) for name in _DIGESTED]
    return digest_of(json.dumps([*parts, page_id, anchors], ensure_ascii=False))


def _allowed(roots: tuple[PointRoot, ...], excludes: tuple[str, ...]) -> Callable[[str], bool]:
    """Whether a stored address still belongs to a crawl point and no exclude forbids it."""
    compiled: list[Exclude] = []
    for pattern in excludes:
        exclude = compile_exclude(pattern)
        if not isinstance(exclude, Refusal):
            compiled.append(exclude)

    def allowed(url: str) -> bool:
        inside = any(begins_with(url, spelled) for root in roots for spelled in _spellings(root))
        return inside and not any(exclude.matches(url) for exclude in compiled)

    return allowed


def _spellings(root: PointRoot) -> tuple[str, ...]:
    scheme, separator, rest = root.root.partition("://")
    if not root.merge_schemes or not separator:
        return (root.root,)
    return (root.root, ("http" if scheme.lower() == "https" else "https") + separator + rest)


def _shielded(trips: Sequence[Trip], at: int) -> Container[bytes]:
    return STRANDS[trips[at].strand].shielded(trips, at, _link_keys)


def _link_keys(version_id: int) -> list[bytes]:
    packed = PageVersion.objects.filter(id=version_id).values_list("links", flat=True).first()
    return [digest_of(link.url) for link in extract.unpack_links(bytes(packed))] if packed else []
