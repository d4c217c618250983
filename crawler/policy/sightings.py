"""Owns: which pages link to which addresses, counted from their stored links. Pure. Called by: derive, links.

A stored link is the address as the page has it; the ledger knows it by its identity, which depends on the crawl
points: `link_keys` translates.
"""

from collections import Counter
from collections.abc import Callable, Iterable

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parse import parse
from clearinghouse.digests import digest_of
from crawler.extract import packed_addresses

from .judge import Rules

KEYS = 1 << 56  # the range of prefixes
_PREFIX = 7  # bytes
_REMEMBERED = 60_000

KeyOf = Callable[[str], bytes | None]


class _Known(dict[str, bytes | None]):
    """The keys of links met before, because sites repeat their links."""

    def __init__(self, rules: Rules, part: tuple[int, int]) -> None:
        super().__init__()
        self._rules, self._part = rules, part

    def __missing__(self, url: str) -> bytes | None:
        if len(self) >= _REMEMBERED:
            self.clear()
        address = parse(url)
        key = digest_of(url if isinstance(address, Refusal) else self._rules.identity(address)[0].href)
        inside = self._part[0] <= prefix(key) < self._part[1]
        self[url] = key if inside else None
        return self[url]


def link_keys(rules: Rules, part: tuple[int, int] = (0, KEYS)) -> KeyOf:
    """A function that gives the ledger's key of a stored link; None for keys that begin outside of `part`."""
    return _Known(rules, part).__getitem__


def count_backlinks(
    pages: Iterable[tuple[bytes, bytes]], key_of: KeyOf, counts: Counter[bytes | None] | None = None
) -> Counter[bytes | None]:
    """For each address, how many of the pages (own key, packed links) link to it; links of a page to itself aside.

    Counts are added to `counts` when it is given.
    """
    counts = Counter() if counts is None else counts
    for own, packed in pages:
        keys = set(map(key_of, packed_addresses(packed)))
        keys.discard(own)
        keys.discard(None)
        counts.update(keys)
    return counts


def prefix(key: bytes) -> int:
    """The beginning of a key as a number: keys in order are numbers in order."""
    return int.from_bytes(key[:_PREFIX], "big")


def parts_of(addresses: int, at_once: int) -> list[tuple[int, int]]:
    """Ranges of prefixes, in order, each with about as many addresses as may be counted at once."""
    parts = addresses // at_once + 1
    return [(KEYS * part // parts, KEYS * (part + 1) // parts) for part in range(parts)]
