"""Owns: what is counted from stored links when a document's crawl is over: how many of its pages link to each
address, which pages this crawl found again, and how it differs from the crawl before.

Counting happens in memory in one pass over the pages; what it found is written in the order of the keys, in short
transactions. `derived_to` says how far, so that a killed ending goes on there: counting again changes nothing.
Does not: decide when a crawl is over. Called by: endings.
"""

import time
from array import array
from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parse import parse
from clearinghouse.databases import WEBCRAWL
from clearinghouse.digests import digest_of

from . import sql
from .extract import packed_addresses
from .instances import fence
from .models import Excursion, Instance, LedgerEntry, PageHead, PageVersion, State
from .policy.judge import Rules
from .queries.changes import changes_of, excursion_before
from .values import CRAWLED, UNCHANGED, Snapshot

ALL = 1 << 56  # derived_to is the beginning of the last key written; this is behind all of them
COUNTED_AT_ONCE = 400_000  # addresses; a larger document is counted in several passes, so that memory stays bounded
_PREFIX = 7  # bytes of a key that derived_to holds
_WRITTEN = 1_000  # rows in one transaction
_READ = 500  # pages between two looks at the clock
_REMEMBERED = 60_000
_BEAT = 1.0

Keys = Callable[[str], bytes]


def derive(instance: Instance, excursion: Excursion) -> None:
    """Everything that is counted before an excursion becomes finished; leaves its state at stopping."""
    for _ in steps(instance, excursion):
        pass


def steps(instance: Instance, excursion: Excursion) -> Iterator[None]:
    """The same in steps of some milliseconds, for a loop that has other queues to serve meanwhile."""
    if excursion.derived_to >= ALL:
        return
    versions = _versions(excursion)
    key_of = key_of_link(Rules(Snapshot.from_json(excursion.snapshot)))
    for begin, end in _parts(_size(excursion, versions)):
        if end <= excursion.derived_to:
            continue
        counts: Counter[bytes] = Counter()
        for pages in _pages(versions):
            counts.update(count_backlinks(pages, key_of, (begin, end)))
            if _silent(instance):
                _write(instance, excursion, [], excursion.derived_to)
            yield
        yield from _store(instance, excursion, counts)
    before = excursion_before(excursion)
    if before is not None:
        yield from _mark_heads(instance, excursion)
    yield
    tallies = _with_changes(excursion, before)
    _write(instance, excursion, [], ALL, tallies=tallies)


def key_of_link(rules: Rules) -> Keys:
    """The key under which the ledger has a stored link: its identity, or the raw text of what is no address."""

    def key_of(url: str) -> bytes:
        address = parse(url)
        return digest_of(url if isinstance(address, Refusal) else rules.identity(address)[0].href)

    return key_of


# -- counting ---------------------------------------------------------------------------------------------------


class _Known(dict[str, bytes | None]):
    """The keys of links met before, because sites repeat their links; None for what another pass counts."""

    def __init__(self, key_of: Keys, part: tuple[int, int]) -> None:
        super().__init__()
        self._key_of, self._part = key_of, part

    def __missing__(self, url: str) -> bytes | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        key: bytes | None = self._key_of(url)
        if key is not None and not self._part[0] <= _prefix(key) < self._part[1]:
            key = None
        self[url] = key
        return key


def count_backlinks(
    pages: Iterable[tuple[bytes, bytes]], key_of: Keys, part: tuple[int, int] = (0, ALL)
) -> Counter[bytes]:
    """For each address how many of the pages (own key, packed links) link to it; a page's links to itself are none.

    Pure. With `part`, only addresses whose key begins in that range are counted.
    """
    known = _Known(key_of, part)
    counts: Counter[bytes] = Counter()
    for own, packed in pages:
        keys: set[bytes | None] = set(map(known.__getitem__, packed_addresses(packed)))
        keys.discard(own)
        keys.discard(None)
        counts.update(keys)  # type: ignore[arg-type]
    return counts


def _prefix(key: bytes) -> int:
    return int.from_bytes(key[:_PREFIX], "big")


def _parts(addresses: int) -> list[tuple[int, int]]:
    """Ranges of keys, in order, of about as many addresses as may be counted at once."""
    parts = addresses // COUNTED_AT_ONCE + 1
    return [(ALL * part // parts, ALL * (part + 1) // parts) for part in range(parts)]


# -- reading ----------------------------------------------------------------------------------------------------


def _versions(excursion: Excursion) -> "array[int]":
    """The versions of the pages of this excursion, oldest first; eight bytes each."""
    rows = LedgerEntry.objects.filter(
        excursion=excursion, outcome__in=(CRAWLED, UNCHANGED), version_id__isnull=False
    ).order_by()
    return array("q", sorted(rows.values_list("version_id", flat=True)))


def _size(excursion: Excursion, versions: "array[int]") -> int:
    if len(versions) < COUNTED_AT_ONCE // 1000:  # too few pages for many addresses, or for much trouble
        return len(versions)
    return Excursion.objects.values_list("found", flat=True).get(pk=excursion.pk)


def _pages(versions: "array[int]") -> Iterator[list[tuple[bytes, bytes]]]:
    for start in range(0, len(versions), _READ):
        ids = list(versions[start : start + _READ])
        rows = PageVersion.objects.filter(id__in=ids).order_by().values_list("url_key", "links")
        yield [(key, bytes(packed)) for key, packed in rows]


# -- writing ----------------------------------------------------------------------------------------------------


def _store(instance: Instance, excursion: Excursion, counts: Counter[bytes]) -> Iterator[None]:
    keys = sorted(key for key in counts if _prefix(key) >= excursion.derived_to)
    for part in sql.chunks(keys, _WRITTEN):
        rows = [(counts[key], excursion.pk, key) for key in part]
        _write(instance, excursion, rows, _prefix(part[-1]))
        yield


def _write(instance: Instance, excursion: Excursion, rows: list[Any], derived_to: int, **columns: Any) -> None:
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        sql.execute_many("UPDATE ledger SET backlinks = %s WHERE excursion_id = %s AND url_key = %s", rows)
        columns |= {"state": State.STOPPING, "derived_to": derived_to}
        Excursion.objects.filter(pk=excursion.pk).update(**columns)
    excursion.derived_to = derived_to
    _beats[instance.pk] = time.monotonic()


_beats: dict[int, float] = {}  # when this process last raised the beat of an instance of its own


def _silent(instance: Instance) -> bool:
    """Counting a large document takes longer than rivals wait: the beat goes on meanwhile."""
    return time.monotonic() - _beats.setdefault(instance.pk, time.monotonic()) >= _BEAT


def _mark_heads(instance: Instance, excursion: Excursion) -> Iterator[None]:
    """updated_fl, the seed's mark: found again by the newest crawl, or not."""
    named = LedgerEntry.objects.filter(
        excursion=excursion, url_key=OuterRef("url_key"), outcome__in=(CRAWLED, UNCHANGED)
    )
    last = 0
    while True:
        heads = PageHead.objects.filter(doc_id=excursion.doc_id, id__gt=last).order_by("id")
        rows = list(heads.annotate(found=Exists(named)).values_list("id", "found", "updated")[:_WRITTEN])
        wrong = [(int(found), pk) for pk, found, updated in rows if bool(updated) != found]
        if wrong:
            with transaction.atomic(using=WEBCRAWL):
                fence(instance)
                sql.execute_many("UPDATE page_head SET updated_fl = %s WHERE doc_crawl_page_id = %s", wrong)
        yield
        if len(rows) < _WRITTEN:
            return
        last = rows[-1][0]


def _with_changes(excursion: Excursion, before: Excursion | None) -> dict[str, Any]:
    """The tallies with how this crawl differs from the one before."""
    tallies: dict[str, Any] = Excursion.objects.values_list("tallies", flat=True).get(pk=excursion.pk)
    return tallies | {"change": changes_of(excursion, before).counts()}
