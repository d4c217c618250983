"""Owns: parent -> children and child -> parents of the pages of one generation, and how many parents a page has.

Links are stored once, packed, with the version that has them, in webcrawl; a page and its links are of one document.
Parents are found by reading the links of the document's pages. Pages of an adopted library have no stored links.
Does not: know what became of an address in a run (crawler.ledger.links_between_pages does). Called by: the commands,
the screens.
"""

from array import array
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from clearinghouse.published.models import PublishedInterval, PublishedVersion
from crawler.extract import packed_addresses, unpack_links
from crawler.models import Excursion, PageVersion
from crawler.policy.judge import CrawlRules
from crawler.values import Snapshot

from ..bulk_sql import chunks
from ..policy.backlinks import KeyOf, link_keys
from ..propagation.loading.collect import VARIANTS
from .indexed_page import shown


class ChildPage(NamedTuple):
    url: str
    anchor: str
    page_id: int | None  # None: no page of this generation


class ParentPage(NamedTuple):
    page_id: int
    url: str
    title: str
    anchors: list[str]


@dataclass(slots=True)
class Parents:
    """Which pages link to a page, by their published ids; `complete` is False when only some pages were looked at."""

    ids: "array[int]" = field(default_factory=lambda: array("q"))
    complete: bool = True


class _Packed(NamedTuple):
    published_id: int
    run_id: int
    url_key: bytes
    links: bytes


class LinkKeys:
    """The key of a stored link as the crawl that stored it reads addresses."""

    def __init__(self, doc_id: int) -> None:
        self.doc_id = doc_id
        self._of: dict[int, KeyOf] = {}

    def of(self, run_id: int) -> KeyOf:
        if run_id not in self._of:
            rows = Excursion.objects.filter(run_id=run_id, doc_id=self.doc_id)
            data = rows.values_list("snapshot", flat=True).first()
            snapshot = Snapshot.from_json(data) if data else Snapshot(self.doc_id)
            self._of[run_id] = link_keys(CrawlRules(snapshot))
        return self._of[run_id]


def children(alias: str, generation: int, page: PublishedVersion) -> list[ChildPage] | None:
    """The links of a page in their order, each address once; None where no links are stored for it."""
    packed = next(_packed(alias, page.doc_id, [page.pk]), None)
    if packed is None:
        return None
    key_of = LinkKeys(page.doc_id).of(packed.run_id)
    links: dict[bytes, tuple[str, str]] = {}
    for link in unpack_links(packed.links):
        key = key_of(link.url) or b""
        if key != page.url_key and (key not in links or not links[key][1]):
            links[key] = (link.url, link.anchor)
    known = page_ids(alias, generation, page.doc_id, links)
    return [ChildPage(url, anchor, known.get(key)) for key, (url, anchor) in links.items()]


def page_ids(alias: str, generation: int, doc_id: int, keys: Iterable[bytes]) -> dict[bytes, int]:
    """The ids of the pages a document has under these keys."""
    found: dict[bytes, int] = {}
    for part in chunks(sorted(keys)):
        rows = shown(alias, generation).filter(doc_id=doc_id, url_key__in=part)
        found.update((bytes(key), number) for key, number in rows.values_list("url_key", "page_id"))
    return found


def parents(alias: str, generation: int, page: PublishedVersion, most: int | None = None) -> Parents:
    """The pages of the same document that link to this one; with `most`, only that many pages are looked at."""
    found = Parents()
    keys = LinkKeys(page.doc_id)
    for number, (published_id, targets) in enumerate(targets_of(alias, generation, page.doc_id, keys)):
        if most is not None and number >= most:
            found.complete = False
            break
        if page.url_key in targets and published_id != page.pk:
            found.ids.append(published_id)
    return found


def targets_of(alias: str, generation: int, doc_id: int, keys: LinkKeys) -> Iterator[tuple[int, set[bytes | None]]]:
    """Every page of a document in the order of the ids, with the keys of the addresses it links to; itself aside."""
    for row in _packed(alias, doc_id, ids_of(alias, generation, doc_id)):
        key_of = keys.of(row.run_id)
        targets = set(map(key_of, packed_addresses(row.links)))
        targets.discard(row.url_key)
        yield row.published_id, targets


def named(alias: str, page: PublishedVersion, ids: Iterable[int]) -> list[ParentPage]:
    """Parents with their addresses and the texts of their links to this page."""
    keys = LinkKeys(page.doc_id)
    wanted = list(ids)
    anchors: dict[int, list[str]] = {}
    for row in _packed(alias, page.doc_id, wanted):
        key_of = keys.of(row.run_id)
        texts = [link.anchor for link in unpack_links(row.links) if key_of(link.url) == page.url_key]
        anchors[row.published_id] = list(dict.fromkeys(text for text in texts if text))
    rows = PublishedVersion.objects.using(alias).filter(pk__in=wanted).order_by("pk")
    return [
        ParentPage(page_id, url, title, anchors.get(number, []))
        for number, page_id, url, title in rows.values_list("pk", "page_id", "url", "title")
    ]


def ids_of(alias: str, generation: int, doc_id: int) -> list[int]:
    """The published ids of a document's pages, in order."""
    rows = PublishedInterval.objects.using(alias).filter(doc_id=doc_id, gen_from__lte=generation, gen_to__gt=generation)
    return list(rows.order_by("published_id").values_list("published_id", flat=True))


def _packed(alias: str, doc_id: int, published_ids: Iterable[int]) -> Iterator[_Packed]:
    """The stored links behind published pages, in their order; a page without a version of ours is left out."""
    for part in chunks(list(published_ids)):
        pages = PublishedVersion.objects.using(alias).filter(pk__in=part).values_list("pk", "url_key")
        known = {number // VARIANTS: (number, bytes(key)) for number, key in pages}
        versions = PageVersion.objects.filter(doc_id=doc_id, pk__in=known).order_by("pk")
        for pk, run_id, key, links in versions.values_list("pk", "run_id", "url_key", "links"):
            if known[pk][1] == bytes(key):
                yield _Packed(known[pk][0], run_id, bytes(key), bytes(links or b""))
