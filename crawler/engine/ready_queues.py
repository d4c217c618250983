"""Owns: which queues are looked at in a round: those to which something happened, and now and then all of them.

Profiled with 200 slow sites: looking at all 200 queues for each answer cost more than the answers.
Does not: start anything. Called by: traffic.
"""

from collections.abc import Iterable

from ..sites.site_state import SiteState
from .local_queue import LocalQueue

_LONG_AGO = float("-inf")  # not 0.0: the clock of a machine may have started a minute ago
ALL_SECONDS = 0.02  # how late a queue may notice that only time has passed: a pause, a back-off, an order


class ReadyQueues:
    """`queues` is the instance's own dictionary."""

    def __init__(self, queues: dict[int, LocalQueue]) -> None:
        self._queues = queues
        self._called: set[int] = set()
        self._turned_away: dict[SiteState, set[int]] = {}  # queues that have more for a site than it takes for now
        self._all_at = _LONG_AGO
        self._turn = 0

    def call(self, excursion_id: int) -> None:
        """Something happened to this queue: look at it in the next round."""
        self._called.add(excursion_id)

    def call_all(self) -> None:
        self._all_at = _LONG_AGO

    def turn_away(self, excursion_id: int, site: SiteState) -> None:
        """Look at this queue again when the site has room."""
        self._turned_away.setdefault(site, set()).add(excursion_id)

    def room(self, site: SiteState) -> None:
        """The site may take another request, from whichever queue waited longest."""
        self._called |= self._turned_away.pop(site, set())

    def pick(self, now: float) -> list[LocalQueue]:
        """The queues to look at now; they take turns: who started something last goes last."""
        called, self._called = self._called, set()
        chosen: Iterable[LocalQueue | None]
        if now - self._all_at >= ALL_SECONDS:
            self._all_at = now
            chosen = self._queues.values()
        else:
            chosen = map(self._queues.get, called)
        waiting = [queue for queue in chosen if queue is not None and queue.waiting and not queue.leaving]
        return sorted(waiting, key=_turn_of)

    def started(self, queue: LocalQueue) -> None:
        self._turn += 1
        queue.turn = self._turn


def _turn_of(queue: LocalQueue) -> int:
    return queue.turn
