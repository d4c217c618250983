"""Links of one crawl in both directions: what a page links to, which pages link to an address, and the dead ones.

Links are stored once, packed, with the page that has them; the other direction is found by reading the pages.
"""

from array import array
from collections.abc import Collection, Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from ..bulk_sql import chunks
from ..extract import unpack_links
from ..models import Excursion, LedgerEntry, PageVersion, State
from ..policy.backlinks import ALL, KeyOf, link_keys
from ..policy.judge import CrawlRules
from ..runs.run_counts import Docs
from ..values import CRAWLED, FAILED, REDIRECTED, UNCHANGED, Link, Snapshot
from .queries import Row, by_key

# A link with one of these is dead for every visitor; the other failures are a closed door, or a trouble of ours.
DEAD = (
    "http_4xx", "http_5xx", "dns_failed", "connect_failed", "tls_failed", "timeout", "too_slow", "cut_short",
    "bad_response", "decode_failed", "redirect_loop", "too_many_redirects",
)  # fmt: skip
READ_AT_ONCE = 500
MAX_HOPS = 10


class LinkedPage(NamedTuple):
    link: Link
    key: bytes
    decision: Row | None  # None: the crawl has not decided about it yet


@dataclass(slots=True)
class LinkingPage:
    """A page that links to an address: every anchor text it uses, in order, each once."""

    key: bytes
    url: str = ""
    anchors: list[str] = field(default_factory=list)
    via: str = ""  # the address it links to, when that one redirects here


@dataclass(slots=True)
class BrokenLink:
    """A dead address and the pages that send their visitors there."""

    entry: LedgerEntry
    parents: list[LinkingPage] = field(default_factory=list)
    pages: int = 0  # how many there are; not all need to be listed


def keys_of(excursion: Excursion) -> KeyOf:
    """A function that gives the ledger's key of a stored link of this excursion."""
    return link_keys(CrawlRules(Snapshot.from_json(excursion.snapshot)))


def versions_of(excursion_id: int) -> "array[int]":
    """The versions of the pages of an excursion, oldest first; eight bytes each."""
    rows = LedgerEntry.objects.filter(excursion=excursion_id, outcome__in=(CRAWLED, UNCHANGED))
    ids = rows.exclude(version_id=None).order_by().values_list("version_id", flat=True)
    return array("q", sorted(version for version in ids if version is not None))


def packed_pages(versions: "array[int]") -> Iterator[list[tuple[bytes, bytes]]]:
    """Own key and packed links of these versions, some hundred at a time."""
    for start in range(0, len(versions), READ_AT_ONCE):
        rows = PageVersion.objects.filter(id__in=list(versions[start : start + READ_AT_ONCE])).order_by()
        yield [(bytes(key), bytes(packed)) for key, packed in rows.values_list("url_key", "links")]


# -- one address ------------------------------------------------------------------------------------------------


def children(excursion: Excursion, version_id: int) -> list[LinkedPage]:
    """The links of a page in their order, with what the excursion decided about each; two queries."""
    packed = PageVersion.objects.filter(pk=version_id).values_list("links", flat=True).first()
    key_of = keys_of(excursion)
    links = [(link, key_of(link.url) or b"") for link in unpack_links(bytes(packed or b""))]
    known: dict[tuple[int, bytes], Row] = {}
    for part in chunks(sorted({key for _, key in links})):
        known |= by_key([excursion.pk], part)
    return [LinkedPage(link, key, known.get((excursion.pk, key))) for link, key in links]


def backlinks(excursion_id: int, key: bytes) -> int:
    """How many pages link to an address, as counted at the end of the excursion."""
    rows = LedgerEntry.objects.filter(excursion=excursion_id, url_key=key)
    return rows.values_list("backlinks", flat=True).first() or 0


def parents(excursion: Excursion, keys: Collection[bytes]) -> dict[bytes, list[LinkingPage]]:
    """For each of these addresses, the pages of the excursion that link to it, by address, with their anchor texts."""
    key_of = keys_of(excursion)
    missing = _expected(excursion, keys)
    found: dict[bytes, list[LinkingPage]] = {key: [] for key in keys}
    for pages in packed_pages(versions_of(excursion.pk)):
        for own, packed in pages:
            for key, anchors in _mentions(own, packed, found, key_of).items():
                found[key].append(LinkingPage(own, anchors=anchors))
                missing -= 1
        if not missing:
            break
    _name(excursion, found)
    return found


def _expected(excursion: Excursion, keys: Collection[bytes]) -> int:
    """How many pages are to be found, where they were counted: then reading can end with the last of them."""
    if excursion.derived_to < ALL:
        return -1
    total = 0
    for part in chunks(list(keys)):
        counted = LedgerEntry.objects.filter(excursion=excursion, url_key__in=part).values_list("backlinks", flat=True)
        total += sum(counted)
    return total


def _mentions(own: bytes, packed: bytes, wanted: Mapping[bytes, Any], key_of: KeyOf) -> dict[bytes, list[str]]:
    """The wanted addresses this page links to, with the anchor texts; a page is no parent of itself."""
    found: dict[bytes, list[str]] = {}
    for link in unpack_links(packed):
        key = key_of(link.url)
        if key in wanted and key is not None and key != own:
            anchors = found.setdefault(key, [])
            if link.anchor and link.anchor not in anchors:
                anchors.append(link.anchor)
    return found


def _name(excursion: Excursion, found: Mapping[bytes, list[LinkingPage]]) -> None:
    urls: dict[bytes, str] = {}
    for part in chunks(sorted({parent.key for some in found.values() for parent in some})):
        rows = LedgerEntry.objects.filter(excursion=excursion, url_key__in=part)
        urls.update((bytes(key), url) for key, url in rows.values_list("url_key", "url"))
    for some in found.values():
        for parent in some:
            parent.url = urls.get(parent.key, "")
        some.sort(key=lambda parent: parent.url)


# -- dead links -------------------------------------------------------------------------------------------------


def newest_finished(docs: Docs = None) -> list[Excursion]:
    """The newest excursion of each document that ran to its end."""
    rows = Excursion.objects.filter(state__in=(State.FINISHED, State.FINISHED_AT_LIMIT))
    rows = rows if docs is None else rows.filter(doc_id__in=docs)
    newest: dict[int, int] = {}
    for doc_id, number in rows.order_by("id").values_list("doc_id", "id"):
        newest[doc_id] = number
    return list(Excursion.objects.filter(pk__in=newest.values()).defer("tallies", "error").order_by("title", "doc_id"))


def broken_links(excursion: Excursion) -> list[BrokenLink]:
    """The dead addresses of an excursion, most referred to first; links through redirects are followed to them."""
    rows = LedgerEntry.objects.filter(excursion=excursion, outcome=FAILED, reason__in=DEAD)
    dead = {row.url_key: BrokenLink(row) for row in rows.order_by("id")}
    if not dead:
        return []
    through = _redirecting(excursion, dead)
    found = parents(excursion, [*dead, *through])
    for key, some in found.items():
        end, via = through.get(key, (key, ""))
        for parent in some:
            parent.via = via
        dead[end].parents += some
    for one in dead.values():
        one.parents.sort(key=lambda parent: (parent.url, parent.via))
        one.pages = len({parent.key for parent in one.parents})
    return sorted(dead.values(), key=lambda one: (-one.pages, one.entry.url))


def _redirecting(excursion: Excursion, dead: Collection[bytes]) -> dict[bytes, tuple[bytes, str]]:
    """Addresses that redirect to a dead one, at last: their key -> (key of the dead one, their own address)."""
    key_of = keys_of(excursion)
    rows = LedgerEntry.objects.filter(excursion=excursion, outcome=REDIRECTED)
    leads: dict[bytes, bytes] = {}
    urls: dict[bytes, str] = {}
    for stored, url, destination in rows.values_list("url_key", "url", "redirect_url").iterator(5000):
        key = bytes(stored)
        leads[key], urls[key] = key_of(destination) or b"", url
    ends = {key: _end(key, leads) for key in leads}
    return {key: (end, urls[key]) for key, end in ends.items() if end in dead}


def _end(key: bytes, leads: Mapping[bytes, bytes]) -> bytes:
    for _ in range(MAX_HOPS + 1):
        if key not in leads:
            return key
        key = leads[key]
    return key


def broken_result(excursions: Iterable[Excursion], most: int) -> list[dict[str, Any]]:
    """The dead links of documents as JSON; at most this many referring pages each, `pages` says how many there are."""
    return [
        {
            "doc_id": excursion.doc_id,
            "title": excursion.title,
            "run": excursion.run_id,
            "links": [_as_json(one, most) for one in broken_links(excursion)],
        }
        for excursion in excursions
    ]


def _as_json(one: BrokenLink, most: int) -> dict[str, Any]:
    entry = one.entry
    listed = [
        {"url": parent.url, "anchors": parent.anchors} | ({"via": parent.via} if parent.via else {})
        for parent in one.parents[:most]
    ]
    return {
        "url": entry.url, "reason": entry.reason, "status": entry.status, "detail": entry.detail, "depth": entry.depth,
        "pages": one.pages, "found_on": listed,
    }  # fmt: skip
