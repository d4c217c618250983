"""Owns: how deep an address lies for each crawl point, found again from the stored links of a crawl.

The ledger keeps the nearest way only; where crawl points have different depth limits, the question "would this be
too deep?" needs all of them. The crawler's own frontier is run over what is stored: nothing is fetched or written.
Does not: know maxima, which decide about pages, not about depths. Called by: explain.
"""

from collections.abc import Iterable
from dataclasses import replace

from .. import extract
from ..bulk_sql import chunks
from ..models import Excursion, LedgerEntry, PageVersion
from ..policy import path
from ..policy.frontier import SHORT, Frontier
from ..preview.timed_rules import Deadline, RulesInTime
from ..values import CRAWLED, REDIRECTED, UNCHANGED, Snapshot

PAGES_AT_MOST = 20_000  # beyond that an answer would take longer than a person waits


def depths_of(excursion: Excursion, key: bytes, deadline: Deadline | None = None) -> dict[int, int] | None:
    """Crawl point -> smallest depth at which it reaches this address; None when the crawl is too large to ask."""
    if excursion.found > 10 * PAGES_AT_MOST or excursion.crawled + excursion.unchanged > PAGES_AT_MOST:
        return None
    frontier = replayed(excursion, deadline)
    short = key[:SHORT]
    known = short in frontier.known and path.kind(frontier.known[short]) != path.SKIPPED
    return {frontier.ids[way.point]: way.depth for way in frontier.ways(short)} if known else {}


def replayed(excursion: Excursion, deadline: Deadline | None = None) -> Frontier:
    """The frontier of this excursion as it stands when everything stored has been expanded for everybody."""
    snapshot = Snapshot.from_json(excursion.snapshot)
    snapshot = replace(snapshot, points=tuple(replace(point, max_pages=0) for point in snapshot.points))
    frontier = Frontier(snapshot, RulesInTime(snapshot, deadline) if deadline else None)
    rows = LedgerEntry.objects.filter(excursion=excursion, outcome__in=(CRAWLED, UNCHANGED, REDIRECTED)).order_by()
    known = {key: (version, url) for key, version, url in rows.values_list("url_key", "version_id", "redirect_url")}
    frontier.seed()
    while keys := _next(frontier):
        _expand(frontier, [key for key in keys if key in known], known)
    return frontier


def _next(frontier: Frontier) -> list[bytes]:
    """What was found, or found by a shorter way, since the last look."""
    again = list(frontier.changes.again.values())
    frontier.changes.again.clear()
    fresh, frontier.fresh = frontier.fresh, []
    for found in fresh:
        frontier.finish(found.key, counts=True)
    return list(dict.fromkeys([*(found.key for found in fresh), *again]))


def _expand(frontier: Frontier, keys: Iterable[bytes], known: dict[bytes, tuple[int | None, str]]) -> None:
    versions = {version: key for key in keys if (version := known[key][0]) is not None}
    for key in keys:
        if known[key][0] is None:
            frontier.redirect(key[:SHORT], key, known[key][1], frontier.ways(key[:SHORT]))
    for part in chunks(sorted(versions)):
        rows = PageVersion.objects.filter(id__in=part).order_by().values_list("id", "links", "flags")
        for version, packed, flags in rows:
            key, links = versions[version], extract.unpack_links(bytes(packed))
            marks = "".join("01"[link.nofollow] for link in links)
            frontier.links(
                key, frontier.ways(key[:SHORT]), [link.url for link in links], marks, "nofollow" in flags.split()
            )
