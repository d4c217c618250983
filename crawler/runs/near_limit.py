"""Which maximum pages will soon cut a running crawl: said while there is still time to stop or to raise it.

Does not: judge ended crawls (findings do). Called by: the run page.
"""

from collections.abc import Iterator
from dataclasses import dataclass
from math import ceil
from typing import Any

from ..models import Run, State
from ..values import OWN_MAXIMUM
from .run_counts import Docs, excursions_of

SHARE = 0.9  # of its maximum
LOOKED_AT, SHOWN = 64, 5  # documents, and crawl points named
_EVERY = 100  # a higher maximum is offered in round hundreds


@dataclass(frozen=True, slots=True)
class Nearly:
    doc_id: int
    point_id: int
    url: str
    used: int
    maximum: int
    enough: int  # the maximum that would take in what waits


def nearly_full(run: Run, docs: Docs) -> list[Nearly]:
    """The crawl points of the documents now crawled, nearest to their maximum first."""
    rows = excursions_of(run, docs).filter(state=State.RUNNING, queued__gt=0).order_by("id")
    found = [
        one
        for doc_id, queued, snapshot, tallies in rows.values_list("doc_id", "queued", "snapshot", "tallies")[:LOOKED_AT]
        for one in _of_document(doc_id, queued, snapshot, (tallies or {}).get("point", {}))
    ]
    return sorted(found, key=lambda one: -one.used / one.maximum)[:SHOWN]


def _of_document(doc_id: int, queued: int, snapshot: dict[str, Any], points: dict[str, Any]) -> Iterator[Nearly]:
    for point in snapshot.get("points", ()):
        maximum, used = point.get("max_pages", 0), points.get(str(point["id"]), {}).get("used", 0)
        of_the_run = OWN_MAXIMUM in point  # raising the crawl point's own would change nothing
        follows = point.get("depth", 0) > 0  # a crawl point of one page is done with it
        if maximum and follows and used >= SHARE * maximum and not of_the_run:
            enough = ceil((maximum + queued) / _EVERY) * _EVERY
            yield Nearly(doc_id, point["id"], point["url"], min(used, maximum), maximum, enough)
