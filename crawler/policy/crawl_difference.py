"""Owns: how one crawl of a document differs from the one before: new, changed, unchanged, moved, gone. Pure.

An address that is neither stored nor gone was not reached this time, or failed in passing: it is none of the five.
Called by: queries.changes.
"""

from collections.abc import Mapping, Set
from dataclasses import dataclass, field
from typing import NamedTuple

MAX_HOPS = 10


class ComparedPage(NamedTuple):
    """A page of one crawl. Its digests may be left empty where they decide nothing."""

    digest: bytes
    before: bytes | None = None  # digest of the version shown before; None for a page that was not shown


@dataclass(frozen=True, slots=True)
class CrawlDifference:
    """Keys of addresses; every stored page of this crawl is in one of the first four (a moved one as destination)."""

    new: set[bytes] = field(default_factory=set)
    changed: set[bytes] = field(default_factory=set)
    unchanged: set[bytes] = field(default_factory=set)
    moved: dict[bytes, bytes] = field(default_factory=dict)  # address before -> address now
    gone: set[bytes] = field(default_factory=set)

    def counts(self) -> dict[str, int]:
        return {
            "new": len(self.new), "changed": len(self.changed), "unchanged": len(self.unchanged),
            "moved": len(self.moved), "gone": len(self.gone),
        }  # fmt: skip


def compare(
    now: Mapping[bytes, ComparedPage], before: Mapping[bytes, bytes], gone: Set[bytes], redirects: Mapping[bytes, bytes]
) -> CrawlDifference:
    """`gone`: pages of the crawl before that are missing now, by rule 16, and `before` their digests; `redirects`:
    where addresses led in this crawl."""
    changes = CrawlDifference()
    for key, page in now.items():
        if page.before is None:
            changes.new.add(key)
        else:
            (changes.unchanged if page.digest == page.before else changes.changed).add(key)
    free: dict[bytes, list[bytes]] = {}  # new pages by content, the last of the list is taken first
    for key in sorted(changes.new, reverse=True):
        free.setdefault(now[key].digest, []).append(key)
    for key in sorted(gone):
        destination = _led_to(key, redirects)
        if destination not in changes.new:
            destination = _same_content(before.get(key, b""), free, changes.new)
        if destination is None:
            changes.gone.add(key)
        else:
            changes.moved[key] = destination
    changes.new.difference_update(changes.moved.values())
    return changes


def _led_to(key: bytes, redirects: Mapping[bytes, bytes]) -> bytes | None:
    """Where a chain of redirects ends."""
    at = key
    for _ in range(MAX_HOPS):
        if at not in redirects:
            return at if at != key else None
        at = redirects[at]
    return None


def _same_content(digest: bytes, free: dict[bytes, list[bytes]], new: Set[bytes]) -> bytes | None:
    """A new page with this content that no other page has moved to."""
    candidates = free.get(digest, []) if digest else []
    while candidates:
        key = candidates.pop()
        if key in new:
            return key
    return None
