"""Owns: the desired generation, document by document: which versions, with which anchor texts, under which digest.

Does not: read heads to decide (only for the id a page has had), write. Called by: load, verify, services.
A version never changes, so its id stands for its content; the digest covers that id and everything else published.
"""

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from datetime import datetime
from itertools import islice
from typing import Any, NamedTuple

from clearinghouse.addresses.patterns import Exclude, compile_exclude
from clearinghouse.addresses.roots import begins_with
from clearinghouse.addresses.values import Refusal
from clearinghouse.digests import digest_of
from crawler import extract
from crawler.models import LedgerEntry, PageBody, PageHead, PageVersion

from .missing import Trip, shown
from .plan import Wanted
from .scope import DocumentScope, PointRoot

MAX_ANCHORS = 20
MAX_ANCHOR = 200
# Published rows one version can have, because its anchor texts may change. With 256 meta tags a page, the ids of
# published_meta stay in 63 bits up to version ids of 2^51 (versions are numbered in blocks of 2^28 an instance).
VARIANTS = 16
HEADLESS = 1 << 40  # ids of pages whose head is gone: above all heads
CACHED_PAGES = 200_000
_CHUNK = 500
_DIGESTED = (
    "id", "doc_id", "url", "digest", "type_id", "extension", "title", "metas", "language", "last_modified",
    "found_at", "size", "extractor",
)  # fmt: skip


class DesiredPage(NamedTuple):
    version_id: int
    page_id: int
    anchors: str
    published_id: int
    digest: bytes


class Stored(NamedTuple):
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
    version: Stored
    body: bytes | None


Pages = dict[bytes, DesiredPage]
Beat = Callable[[], None]


class Collector:
    """Reads desired pages; what it has read it keeps, up to a bound, because three targets want the same."""

    def __init__(self, beat: Beat = lambda: None) -> None:
        self.beat = beat  # called every few hundred rows: reading a large document takes longer than silence may last
        self._kept: dict[int, tuple[DocumentScope, Pages]] = {}
        self._size = 0

    def pages(self, document: DocumentScope) -> Pages:
        kept = self._kept.get(document.doc_id)
        if kept is not None and kept[0] == document:
            return kept[1]
        pages = _collect(document, self.beat)
        if self._size + len(pages) <= CACHED_PAGES:
            self._kept[document.doc_id] = (document, pages)
            self._size += len(pages)
        return pages

    def wanted(self, document: DocumentScope) -> dict[bytes, Wanted]:
        return {key: Wanted(page.published_id, page.digest) for key, page in self.pages(document).items()}


def contents(pages: Pages, keys: Iterable[bytes]) -> Iterator[Content]:
    """The rows behind these pages, read in chunks."""
    remaining = iter(keys)
    while chunk := list(islice(remaining, _CHUNK // 10)):
        found = PageVersion.objects.filter(id__in=[pages[key].version_id for key in chunk])
        versions = {row[0]: Stored(*row) for row in found.values_list(*Stored._fields)}
        digests = {version.digest for version in versions.values()}
        rows = PageBody.objects.filter(digest__in=digests).values_list("digest", "content")
        bodies = {bytes(digest): bytes(content) for digest, content in rows}
        for key in chunk:
            version = versions.get(pages[key].version_id)
            if version is not None:
                yield Content(pages[key], key, version, bodies.get(bytes(version.digest)))


def removable(excursions: Sequence[tuple[int, str]], most: int) -> int:
    """How many of the oldest excursions (newest first) show nothing any more, so that a generation without them is the
    same to the row; at most so many."""
    trips = [_trip(number, state, lambda: None) for number, state in excursions]
    whole = shown(trips, _link_keys)
    needed = max((next(at for at, trip in enumerate(trips) if key in trip.named) for key in whole), default=-1)
    for count in range(min(most, len(trips) - 1 - needed), 0, -1):
        if shown(trips[:-count], _link_keys) == whole:
            return count
    return 0


def _collect(document: DocumentScope, beat: Beat) -> Pages:
    trips = [_trip(number, state, beat) for number, state in document.excursions]
    versions = shown(trips, _link_keys)
    rows = _version_rows(versions.values(), beat)
    allowed = _allowed(document.roots, document.excludes)
    kept = {key: version for key, version in versions.items() if version in rows and allowed(rows[version]["url"])}
    anchors = _anchors(kept, beat)
    heads = dict(PageHead.objects.filter(doc_id=document.doc_id).values_list("url_key", "id"))
    pages: Pages = {}
    for key in sorted(kept):
        version = kept[key]
        page_id = heads.get(key, HEADLESS + version)
        text = anchors.get(key, "")
        digest = _digest(rows[version], page_id, text)
        pages[key] = DesiredPage(version, page_id, text, version * VARIANTS + digest[0] % VARIANTS, digest)
    return pages


def _trip(excursion_id: int, state: str, beat: Beat) -> Trip:
    trip = Trip(state)
    rows = LedgerEntry.objects.filter(excursion_id=excursion_id)
    fields = rows.values_list("url_key", "outcome", "reason", "status", "version_id")
    for key, outcome, reason, status, version in fields.iterator(5000):
        trip.note(bytes(key), outcome, (reason, status), version)
    beat()
    return trip


def _version_rows(ids: Iterable[int], beat: Beat) -> dict[int, dict[str, Any]]:
    found: dict[int, dict[str, Any]] = {}
    remaining = iter(sorted(ids))
    while chunk := list(islice(remaining, _CHUNK)):
        beat()
        found |= {row["id"]: row for row in PageVersion.objects.filter(id__in=chunk).values(*_DIGESTED)}
    return found


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


def _link_keys(version_id: int) -> list[bytes]:
    packed = PageVersion.objects.filter(id=version_id).values_list("links", flat=True).first()
    return [digest_of(link.url) for link in extract.unpack_links(bytes(packed))] if packed else []


def _anchors(versions: dict[bytes, int], beat: Beat) -> dict[bytes, str]:
    """For each page the texts of links to it from the document's other pages: distinct, sorted, at most twenty."""
    found: dict[bytes, set[str]] = {}
    own = {version: key for key, version in versions.items()}
    keys: dict[str, bytes] = {}
    remaining = iter(sorted(own))
    while chunk := list(islice(remaining, _CHUNK)):
        beat()
        for version_id, packed in PageVersion.objects.filter(id__in=chunk).values_list("id", "links"):
            for link in extract.unpack_links(bytes(packed)) if packed else ():
                text = " ".join(link.anchor.split())[:MAX_ANCHOR]
                key = keys.get(link.url) or keys.setdefault(link.url, digest_of(link.url))
                if text and key in versions and key != own[version_id]:
                    found.setdefault(key, set()).add(text)
    return {key: "\n".join(sorted(texts)[:MAX_ANCHORS]) for key, texts in found.items()}
