"""Owns: which pages link to which addresses, counted from their stored links. Pure. Called by: derive, links.

A stored link is the address as the page has it; the ledger knows it by its identity, which depends on the crawl
points: `link_keys` translates.
"""

import heapq
from array import array
from bisect import bisect_left
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator
from functools import partial
from struct import Struct
from typing import TypeVar

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from clearinghouse.database.digests import digest_of
from crawler.extract import packed_addresses

from .judge import CrawlRules

ALL = 1 << 56  # derived_to of an excursion that is counted: behind the ids of all rows
NOWHERE = -1
_REMEMBERED = 60_000
_PREFIX = Struct(">QQ")  # what is kept of a key: with a million addresses, two alike are as likely as 1 in 10^26

KeyOf = Callable[[str], bytes]
T = TypeVar("T")


class _Known(dict[str, T]):
    """What was found of links met before, because sites repeat their links."""

    def __init__(self, find: Callable[[str], T]) -> None:
        super().__init__()
        self._find = find

    def __missing__(self, url: str) -> T:
        if len(self) >= _REMEMBERED:
            self.clear()
        found = self[url] = self._find(url)
        return found


def link_keys(rules: CrawlRules) -> KeyOf:
    """A function that gives the ledger's key of a stored link."""
    return _Known(partial(_key, rules)).__getitem__


def _key(rules: CrawlRules, url: str) -> bytes:
    address = parse(url)
    return digest_of(url if isinstance(address, Refusal) else rules.identity(address)[0].href)


def count_backlinks(
    pages: Iterable[tuple[bytes, bytes]], key_of: KeyOf, counts: Counter[bytes] | None = None
) -> Counter[bytes]:
    """For each address, how many of the pages (own key, packed links) link to it; links of a page to itself aside.

    Counts are added to `counts` when it is given.
    """
    counts = Counter() if counts is None else counts
    for own, packed in pages:
        keys = set(map(key_of, packed_addresses(packed)))
        keys.discard(own)
        counts.update(keys)
    return counts


class Addresses:
    """The rows of a ledger by their keys: 28 bytes an address, where a dictionary takes 150."""

    def __init__(self) -> None:
        self.ids = array("q")
        self._high, self._low = array("Q"), array("Q")
        self._by_id: list[array[int]] = []  # places of the rows that were added together

    def add(self, rows: Collection[tuple[bytes, int]]) -> None:
        """Some thousand more, with their ids; all in the order of the keys."""
        places = range(len(self.ids), len(self.ids) + len(rows))
        for key, number in rows:
            high, low = _PREFIX.unpack_from(key)
            self._high.append(high)
            self._low.append(low)
            self.ids.append(number)
        self._by_id.append(array("I", sorted(places, key=self.ids.__getitem__)))

    def place(self, key: bytes) -> int:
        """How many are before it, or NOWHERE."""
        high, low = _PREFIX.unpack_from(key)
        place = bisect_left(self._high, high)
        while place < len(self._high) and self._high[place] == high:
            if self._low[place] == low:
                return place
            place += 1
        return NOWHERE

    def by_id(self) -> Iterator[int]:
        """All places, in the order of the ids."""
        return heapq.merge(*self._by_id, key=self.ids.__getitem__)


class Backlinks:
    """How many pages link to each of these addresses, four bytes each; as `count_backlinks`, but only for them.

    The counts come back in the order of the ids: rows that stand beside each other are written together.
    """

    def __init__(self, rules: CrawlRules, addresses: Addresses) -> None:
        self._addresses = addresses
        self._counts = array("I", bytes(4 * len(addresses.ids)))
        self._place_of = _Known(lambda url: addresses.place(_key(rules, url))).__getitem__

    def add(self, pages: Iterable[tuple[bytes, bytes]]) -> None:
        """Own key and packed links of some pages."""
        for own, packed in pages:
            places = set(map(self._place_of, packed_addresses(packed)))
            places -= {self._addresses.place(own), NOWHERE}
            for place in places:
                self._counts[place] += 1

    def counted(self, after: int) -> Iterator[tuple[int, int]]:
        """Count and id of each address that some page links to, by id, from behind this id on."""
        ids = self._addresses.ids
        for place in self._addresses.by_id():
            if self._counts[place] and ids[place] > after:
                yield self._counts[place], ids[place]
