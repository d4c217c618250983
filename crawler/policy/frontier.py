"""Owns: which URLs of one document are to be crawled, for which crawl points, at which depth and hop (rules 1, 2, 5).
Does not: fetch, store, know the time: every effect is a change for the next commit. Called by: queues, initializer.

The result does not depend on order: a URL found again by a shorter way, or by a further crawl point, is expanded
again as that allows. `again` names the done URLs whose stored links must be looked at once more.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from itertools import repeat
from typing import NamedTuple

from clearinghouse.addresses import Refusal
from clearinghouse.database.digests import digest_of
from crawler.values import FAILED, REDIRECTED, SKIPPED, Snapshot

from . import path
from .address_checks import CHECK_ORDER, RANKS
from .judge import CrawlRules
from .page_limit import PageLimit

MAX_HOPS = 10
SHORT = 15  # bytes of a digest that are kept in memory: one more, and Python takes 64 bytes for it in place of 48
REMEMBERED = 60_000  # links with their verdicts, and as many with the depth at which they were looked at
_URL_STORED = 4096  # what is kept of a "link" that is no web address

_NEVER = 1_000_000
_NOFOLLOW = Refusal("nofollow")
_DEACTIVATED = Refusal("point_deactivated")

# How a done URL counts for a crawl point that reaches it later (bits of its rank).
COUNTS, COUNTS_NOT, CUT = 0, 1, 2  # CUT: skipped as page_limit, for want of a crawl point with room


class RememberedVerdict(NamedTuple):
    """What the rules say of one raw link; refusals by position of the crawl point."""

    short: bytes
    key: bytes
    href: str
    owner_id: int
    refusals: tuple[Refusal | None, ...]


@dataclass(slots=True)
class FoundUrl:
    """A URL that becomes a message."""

    key: bytes
    url: str
    owner_id: int
    found_on: bytes | None
    depth: int  # when it was found; a nearer way is a move


@dataclass(slots=True)
class Skip:
    """A URL that gets, or keeps with a better verdict, a ledger row of the outcome skipped."""

    key: bytes
    url: str
    refusal: Refusal
    point_id: int
    depth: int
    found_on: bytes | None


@dataclass(slots=True)
class FrontierChanges:
    """What the next commit must write, by short key."""

    found: dict[bytes, FoundUrl] = field(default_factory=dict)
    moved: dict[bytes, tuple[bytes, int]] = field(default_factory=dict)  # short key -> full key, depth before
    skips: dict[bytes, Skip] = field(default_factory=dict)
    upgraded: dict[bytes, tuple[Skip, str]] = field(default_factory=dict)  # the row exists with this older reason
    unskipped: list[tuple[bytes, str]] = field(default_factory=list)  # full key, reason: the row goes, a message comes
    loops: list[bytes] = field(default_factory=list)  # full keys: members of a redirect circle
    reopened: dict[bytes, bytes] = field(default_factory=dict)  # short key -> full key: page_limit, but may go now
    again: dict[bytes, bytes] = field(default_factory=dict)  # short key -> full key: expand from what is stored


GO, HOLD, NO = "go", "hold", "no"


class Frontier:
    def __init__(self, snapshot: Snapshot, rules: CrawlRules | None = None) -> None:
        self.points = snapshot.points
        self.ids = tuple(point.id for point in snapshot.points)
        self.rules = rules or CrawlRules(snapshot)
        self.known: dict[bytes, int] = {}
        self.limits = [PageLimit(point.max_pages) for point in snapshot.points]
        self.limited = any(point.max_pages for point in snapshot.points)
        # By crawl point: done URLs that could not be expanded for it while all its places were promised to others.
        self.deferred: list[dict[bytes, bytes]] = [{} for _ in self.points]
        self.redirects: dict[bytes, tuple[bytes, bytes]] = {}  # short key -> (short key it leads to, own full key)
        self.off: set[int] = set()  # positions of crawl points that were deactivated meanwhile
        self.changes = FrontierChanges()
        self.fresh: list[FoundUrl] = []  # found since the queue last looked
        self.nearer: list[bytes] = []  # short keys of queued URLs that were found nearer since then
        self.remembered = REMEMBERED  # fewer where many frontiers share the memory of a process
        self._links: dict[str, RememberedVerdict] = {}
        self._settled: dict[str, int] = {}  # raw link -> the depth at which it was looked at (one crawl point only)
        self._shared: dict[int, int] = {}
        self._welcome = (None,) * len(self.points)
        self._nofollowers = {point.id for point in snapshot.points if point.obey_nofollow}
        self._depth_limits = [point.depth for point in snapshot.points]

    # -- what is known ------------------------------------------------------------------------------------------

    def judge(self, url: str) -> RememberedVerdict:
        """The verdicts on one raw link; remembered, because sites repeat their links."""
        judged = self._links.get(url)
        if judged is None:
            if len(self._links) >= self.remembered:
                self._links.clear()
            verdicts = self.rules.verdicts(url)
            key, href = digest_of(verdicts.url), verdicts.url[:_URL_STORED]
            refusals = tuple(verdicts.refusals.get(point_id, _DEACTIVATED) for point_id in self.ids)
            # What is alike is one object: the text of most links is their identity, and nobody refuses them.
            href, refusals = url if url == href else href, refusals if any(refusals) else self._welcome
            judged = self._links[url] = RememberedVerdict(key[:SHORT], key, href, verdicts.owner, refusals)
        return judged

    def remember(self, short: bytes, state: int) -> None:
        # Few combinations exist, so the integers are shared: a known URL costs its key and a slot.
        self.known[short] = self._shared.setdefault(state, state)

    def restore_message(self, key: bytes, reach_text: str, done: bool, rank: int = COUNTS) -> None:
        state = path.from_text(reach_text, self.ids, path.DONE if done else path.QUEUED)
        self.remember(key[:SHORT], path.with_kind(state, state & 3, rank if done else COUNTS))
        if done and self.limited and rank != CUT:
            for way in self.ways(key[:SHORT]):
                if not way.granted:
                    self.deferred[way.point][key[:SHORT]] = key

    def restore_skip(self, short: bytes, reason: str) -> None:
        self.remember(short, path.with_kind(0, path.SKIPPED, RANKS.get(reason, len(RANKS))))

    def restore_redirect(self, short: bytes, key: bytes, destination: str) -> None:
        self.redirects[short] = (self.judge(destination).short, key)

    def ways(self, short: bytes) -> Sequence[path.Way]:
        return path.ways(self.known[short], len(self.points))

    def reach_text(self, short: bytes) -> str:
        return path.to_text(self.known[short], self.ids)

    def nearest(self, short: bytes) -> int:
        return path.nearest(self.known[short], len(self.points))

    def deactivate(self, point_id: int) -> None:
        """Nothing more is fetched for this crawl point; what it still finds is judged when it is taken."""
        self.off.add(self.ids.index(point_id))

    def live(self, short: bytes) -> Sequence[path.Way]:
        """The ways of crawl points that are still active."""
        return [way for way in self.ways(short) if way.point not in self.off]

    def judge_again(self, rules: CrawlRules) -> None:
        """The excludes changed: links are judged by these rules from now on."""
        self.rules = rules
        self._links.clear()
        self._settled.clear()

    def nearest_way(self, short: bytes) -> path.Way:
        """The way that stands in the ledger."""
        return min(self.ways(short), key=lambda way: (way.depth, way.hop, way.point))

    def drain(self) -> FrontierChanges:
        changes, self.changes = self.changes, FrontierChanges()
        return changes

    def forget(self) -> None:
        """Nothing more will be found: a million addresses make room for what is counted now."""
        self.known, self.redirects, self._links, self._settled = {}, {}, {}, {}

    # -- finding ------------------------------------------------------------------------------------------------

    def seed(self, again: Iterable[str] = ()) -> None:
        """The crawl points themselves, or these addresses instead of them: depth 0."""
        starts = [(position, point.url) for position, point in enumerate(self.points) if point.active]
        for position, url in [(position, url) for url in again for position, _ in starts] or starts:
            self._arrive(self.judge(url), position, 0, 0, None, None)

    def links(
        self, parent: bytes, arrivals: Sequence[path.Way], urls: Iterable[str], marks: str = "", nofollow: bool = False
    ) -> None:
        """A page was read: its links are one deeper, for every crawl point that may expand it.

        `marks` says "1" for a link with nofollow, "0" for others; empty: none. `nofollow` is the page's own word.
        """
        if not arrivals:
            return
        if nofollow or "1" in marks:
            for url, mark in zip(urls, marks or repeat("0")):  # noqa: B905 - repeat has no end
                obeyed = nofollow or (mark == "1" and self.judge(url).owner_id in self._nofollowers)
                self._link(parent, arrivals, url, _NOFOLLOW if obeyed else None)
        elif len(self.points) > 1:
            for url in urls:
                self._link(parent, arrivals, url, None)
        else:
            self._links_of_one_point(parent, arrivals, urls)

    def _links_of_one_point(self, parent: bytes, arrivals: Sequence[path.Way], urls: Iterable[str]) -> None:
        # Profiled: most links of most pages are known by a way as short; one look into one dictionary settles them.
        settled, deeper = self._settled, arrivals[0].depth + 1
        for url in urls:
            if settled.get(url, _NEVER) > deeper:
                self._link(parent, arrivals, url, None)
                if len(settled) >= self.remembered:
                    settled.clear()
                settled[url] = deeper

    def _link(self, parent: bytes, arrivals: Sequence[path.Way], url: str, refusal: Refusal | None) -> None:
        judged = self.judge(url)
        for way in arrivals:
            self._arrive(judged, way.point, way.depth + 1, 0, parent, refusal)

    def _arrive(
        self, judged: RememberedVerdict, point: int, depth: int, hop: int, parent: bytes | None, refusal: Refusal | None
    ) -> None:
        refused = judged.refusals[point] or refusal
        if refused is None and depth > self._depth_limits[point]:
            refused = Refusal("too_deep", str(depth))
        if refused is not None:
            self._skip(judged, point, depth, parent, refused)
        else:
            self._admit(judged, point, depth, hop, parent)

    def _skip(self, judged: RememberedVerdict, point: int, depth: int, parent: bytes | None, refusal: Refusal) -> None:
        state = self.known.get(judged.short)
        rank = RANKS[refusal.reason]
        if state is not None and (path.kind(state) != path.SKIPPED or path.rank(state) >= rank):
            return
        skip = Skip(judged.key, judged.href, refusal, self.ids[point], depth, parent)
        waiting = self.changes.skips.get(judged.short)
        if state is None or waiting:
            if waiting:
                skip.found_on = waiting.found_on
            self.changes.skips[judged.short] = skip
        else:
            first = self.changes.upgraded.get(judged.short)
            self.changes.upgraded[judged.short] = (skip, first[1] if first else _reason(state))
        self.remember(judged.short, path.with_kind(0, path.SKIPPED, rank))

    def _admit(self, judged: RememberedVerdict, point: int, depth: int, hop: int, parent: bytes | None) -> None:
        short = judged.short
        state = self.known.get(short)
        if state is None or path.kind(state) == path.SKIPPED:
            if state is not None and self.changes.skips.pop(short, None) is None:
                stored = self.changes.upgraded.pop(short, None)
                self.changes.unskipped.append((judged.key, stored[1] if stored else _reason(state)))
            found = self.changes.found[short] = FoundUrl(judged.key, judged.href, judged.owner_id, parent, depth)
            self.fresh.append(found)
            self.remember(short, path.with_field(path.QUEUED, point, path.pack(depth, hop)))
            return
        old = path.field_of(state, point)
        if old and path.depth_of(old) <= depth and path.hop_of(old) <= hop:
            return
        if old:
            depth, hop = min(depth, path.depth_of(old)), min(hop, path.hop_of(old))
        self.remember(short, path.with_field(state, point, path.pack(depth, hop, bool(old & path.GRANTED))))
        self.changes.moved.setdefault(short, (judged.key, path.nearest(state, len(self.points))))
        if path.kind(state) != path.DONE:
            self.nearer.append(short)
        elif path.rank(state) != CUT:
            self.changes.again[short] = judged.key
        elif not self.limits[point].full:
            self._reopen(judged, parent)

    def _reopen(self, judged: RememberedVerdict, parent: bytes | None) -> None:
        """It was behind the maximum of those who reached it; now somebody does who has room."""
        short = judged.short
        for way in self.ways(short):
            self._set(short, way._replace(granted=False))
        self.remember(short, path.with_kind(self.known[short], path.QUEUED))
        self.changes.reopened[short] = judged.key
        self.fresh.append(FoundUrl(judged.key, judged.href, judged.owner_id, parent, self.nearest(short)))

    # -- maxima -------------------------------------------------------------------------------------------------

    def may_start(self, short: bytes) -> str:
        """GO; HOLD while a place may still be given back; NO when no crawl point has room for good."""
        if not self.limited:
            return GO
        reached = self.ways(short)
        if any(not self.limits[w.point].room and not self.limits[w.point].full for w in reached):
            return HOLD
        return GO if any(self.limits[w.point].room for w in reached) else NO

    def start(self, short: bytes) -> None:
        """A request goes out: a place is taken for every crawl point that reaches it and has room."""
        for way in self.ways(short) if self.limited else ():
            if not way.granted and self.limits[way.point].room:
                self.limits[way.point].reserved += 1
                self._set(short, way._replace(granted=True))

    def release(self, short: bytes) -> None:
        """The reservation is taken back: the request was never made."""
        for way in self.ways(short) if self.limited else ():
            if way.granted:
                self.limits[way.point].reserved -= 1
                self._set(short, way._replace(granted=False))

    def _set(self, short: bytes, way: path.Way) -> None:
        field_value = path.pack(way.depth, way.hop, way.granted)
        self.remember(short, path.with_field(self.known[short], way.point, field_value))

    def finish(self, key: bytes, counts: bool, cut: bool = False) -> Sequence[path.Way]:
        """The final answer came. Returns the ways for which the page may be expanded."""
        short = key[:SHORT]
        for way in self.ways(short) if self.limited else ():
            if way.granted:
                self.limits[way.point].reserved -= 1
                self.limits[way.point].used += counts
                if not counts:  # the place is free again: whoever waits for one is looked at once more
                    self.changes.again |= self.deferred[way.point]
                    self.deferred[way.point] = {}
        rank = CUT if cut else COUNTS if counts else COUNTS_NOT
        self.remember(short, path.with_kind(self.known[short], path.DONE, rank))
        return [] if cut else self.expandable(key)

    def expandable(self, key: bytes) -> Sequence[path.Way]:
        """The ways of a done URL that may be expanded; one that came later takes its place under a maximum first."""
        short = key[:SHORT]
        if not self.limited:
            return self.ways(short)
        counts = path.rank(self.known[short]) == COUNTS
        for way in self.ways(short):
            limit = self.limits[way.point]
            if way.granted:
                continue
            if not counts or limit.room:
                limit.used += counts and bool(limit.maximum)
                self._set(short, way._replace(granted=True))
            elif not limit.full:
                self.deferred[way.point][short] = key
        return [way for way in self.ways(short) if way.granted]

    # -- redirects ----------------------------------------------------------------------------------------------

    def redirect(self, short: bytes, key: bytes, destination: str, ways: Sequence[path.Way]) -> tuple[str, Refusal]:
        """A done URL answered 3xx: (outcome, reason). The destination is reached at the same depth, one hop on."""
        judged = self.judge(destination)
        if judged.short == short:
            return FAILED, Refusal("redirect_loop", destination)
        verdicts: list[Refusal] = []
        for way in ways:
            refused = judged.refusals[way.point]
            if refused is None and way.hop < MAX_HOPS:
                self._admit(judged, way.point, way.depth, way.hop + 1, key)
            verdicts.append(refused or Refusal("" if way.hop < MAX_HOPS else "too_many_redirects", destination))
        if all(verdict.reason in RANKS for verdict in verdicts):
            return SKIPPED, _of_redirect(_furthest(verdicts), destination)
        self.redirects[short] = (judged.short, key)
        if self._circle(short):
            return FAILED, Refusal("redirect_loop", destination)
        if any(not verdict.reason for verdict in verdicts):
            return REDIRECTED, Refusal("", judged.href)
        return FAILED, Refusal("too_many_redirects", destination)

    def _circle(self, short: bytes) -> bool:
        """Whether stored destinations lead back within ten steps; then every member is part of the loop."""
        members = [self.redirects[short][1]]
        at = self.redirects[short][0]
        for _ in range(MAX_HOPS):
            if at == short:
                self.changes.loops += members
                return True
            if at not in self.redirects:
                return False
            at, key = self.redirects[at]
            members.append(key)
        return False


def _reason(state: int) -> str:
    rank = path.rank(state)
    return CHECK_ORDER[rank] if rank < len(CHECK_ORDER) else ""


def _furthest(refusals: list[Refusal]) -> Refusal:
    return max(refusals, key=lambda refusal: RANKS[refusal.reason])


def _of_redirect(refusal: Refusal, destination: str) -> Refusal:
    renamed = {"outside_root": "redirect_outside_root", "excluded": "redirect_excluded"}
    reason = renamed.get(refusal.reason, refusal.reason)
    return Refusal(reason, destination if reason in renamed.values() else refusal.detail or destination)
