"""Decisions of rule 16, pure: which version of each page a generation shows, and which pages have left.

Missing in an excursion: (a) its address answered 404 or 410, redirected, or was skipped for a reason of its own;
(b) a finished excursion did not reach it, and its strand knows no reason that says nothing of it (of the web: a page
that leads to it failed in passing). Missing in two runs of a strand, with none in between that stored it: gone from the
strand. A page of two strands is shown as the newer excursion has it, and leaves with both.
"""

from collections.abc import Callable, Container, Iterable, Iterator, MutableMapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from crawler.values import CRAWLED, FAILED, REDIRECTED, SKIPPED, UNCHANGED

RUNS_UNTIL_GONE = 2
_GONE = {404, 410}
_NOT_ITS_FAULT = {"too_deep", "page_limit", "run_limit", "run_stopped", "run_cancelled", "point_deactivated"}

LinksOf = Callable[[int], Iterable[bytes]]  # version -> keys of the addresses it links to
# Newest first, and the place of one: the addresses it did not meet for a reason that says nothing of them.
Shielded = Callable[[Sequence["Trip"], int], Container[bytes]]


class KeySet(Protocol):
    """A set, or what takes less memory."""

    def add(self, key: bytes, /) -> None: ...

    def __contains__(self, key: object, /) -> bool: ...

    def __iter__(self) -> Iterator[bytes]: ...


@dataclass(slots=True)
class Trip:
    """What the ledger of one excursion says, in the form needed here."""

    state: str
    named: MutableMapping[bytes, int] = field(default_factory=dict)  # URL key -> version
    missing: KeySet = field(default_factory=set)  # (a)
    failing: KeySet = field(default_factory=set)  # failed in passing
    others: KeySet = field(default_factory=set)  # met, neither stored nor missing
    strand: str = ""

    def met(self, key: bytes) -> bool:
        return key in self.named or key in self.missing or key in self.failing or key in self.others

    def note(self, key: bytes, outcome: str, verdict: tuple[str, int], version: int | None) -> None:
        """Adds one ledger row; `verdict` is its reason and status."""
        reason, status = verdict
        if outcome in (CRAWLED, UNCHANGED) and version is not None:
            self.named[key] = version
        elif self.state == "stopped":
            self.others.add(key)
        elif outcome == REDIRECTED or _left(outcome, reason, status):
            self.missing.add(key)
        elif outcome == FAILED:
            self.failing.add(key)
        else:
            self.others.add(key)


def _left(outcome: str, reason: str, status: int) -> bool:
    """Its site took it away, or a rule of ours refused it."""
    if outcome == FAILED:
        return status in _GONE
    return outcome == SKIPPED and reason not in _NOT_ITS_FAULT


def shown(trips: Sequence[Trip], shielded: Shielded, into: MutableMapping[bytes, int] | None = None) -> Any:
    """URL key -> version of every page that stays, in `into` or a dict; trips newest first."""
    versions: MutableMapping[bytes, int] = {} if into is None else into
    shields: dict[tuple[str, int], Container[bytes]] = {}
    for at, trip in enumerate(trips):
        mine = [one for one in trips if one.strand == trip.strand]
        newer = [one for one in trips[:at] if one.strand == trip.strand]
        elsewhere = len(newer) < at
        for key, version in trip.named.items():
            if any(key in one.named for one in newer) or (elsewhere and key in versions):
                continue
            if _times_missing(key, newer, mine, shielded, shields) < RUNS_UNTIL_GONE:
                versions[key] = version
    return versions


def _times_missing(
    key: bytes,
    newer: Sequence[Trip],
    trips: Sequence[Trip],
    shielded: Shielded,
    shields: dict[tuple[str, int], Container[bytes]],
) -> int:
    times = 0
    for at, trip in enumerate(newer):
        if key in trip.missing:
            times += 1
        elif trip.state == "finished" and not trip.met(key):
            if (trip.strand, at) not in shields:
                shields[trip.strand, at] = shielded(trips, at)
            times += key not in shields[trip.strand, at]
    return times


def behind_failures(trips: Sequence[Trip], at: int, links_of: LinksOf) -> set[bytes]:
    """Addresses not reached because a page that leads to them failed in passing, directly or further up."""
    trip, older = trips[at], trips[at + 1 :]
    shielded: set[bytes] = set()
    waiting = list(trip.failing)
    while waiting:
        key = waiting.pop()
        version = next((past.named[key] for past in older if key in past.named), None)
        if version is None:
            continue
        fresh = {link for link in links_of(version) if not trip.met(link)} - shielded
        shielded |= fresh
        waiting += fresh
    return shielded
