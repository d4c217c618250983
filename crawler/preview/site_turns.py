"""Owns: the turn of a request that is no page of a crawl, among those of all crawls and of all people at that site.

The turns stand in the rows by which the crawler's instances share a site (models.Host, pace): a look waits for the
next free one and moves it on. Does not: send anything. Called by: line.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from clearinghouse.accounts import options
from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.digests import digest_of

from ..liveness import database_clock
from ..models import Host
from ..sites.rate_slots import Want, believed
from ..sites.site_store import waiting
from ..sites.speeds import SPEEDS

LEAST = 0.3  # seconds between two requests to a site, also where crawls make no pause: a look is in no such hurry


@dataclass(frozen=True, slots=True)
class Turn:
    """When a request may go (by this process's monotonic clock), or why it may not."""

    at: float = 0.0
    refusal: str = ""


def pause_of_looks() -> float:
    """As a crawl that names no speed."""
    return max(LEAST, SPEEDS[options.speed()][0])


def reserve(origin: str, pause: float, seconds: float) -> Turn:
    """The next turn at this site, if it comes within these seconds; nothing is taken otherwise."""
    key = digest_of(origin)
    with transaction.atomic(using=WEBCRAWL):
        Host.objects.get_or_create(key=key, defaults={"origin": origin[:300]})
        host = Host.objects.select_for_update().defer("robots_text").get(key=key)
        now = database_clock.seconds()
        asked_for = now + waiting(host, now) if not host.failing_since else 0.0  # a silent site may be looked at
        want = Want(key, origin, pause, 1, 0, longest=max(longest for longest, _ in SPEEDS.values()))
        at = max(now, believed(want, host, now), asked_for)
        if at > now + seconds:
            return Turn(refusal=_words(at - now, asked_for >= at))
        Host.objects.filter(key=key).update(next_at=at + pause)
    return Turn(database_clock.monotonic(at))


def _words(seconds: float, by_site: bool) -> str:
    who = "the site asked for a pause" if by_site else "others are testing this site at the moment"
    return f"{who}: try again in {seconds:,.0f} s"


class AtSitesPace:
    """Of the requests of a handshake, a sign-in, a second try (fetch/turns.py): each waits here for its turn.

    A turn that does not come in time is never given: the look has ended by then.
    """

    def __init__(self, pause: float, left: Callable[[], float]) -> None:
        self._pause = pause
        self._left = left

    def again(self, origin: str, go: Callable[[], None]) -> None:
        self.take(origin, go)

    def take(self, origin: str, go: Callable[[], None]) -> None:
        turn = reserve(origin, self._pause, self._left())
        if not turn.refusal:
            time.sleep(max(turn.at - time.monotonic(), 0.0))
            go()

    def done(self, origin: str) -> None:
        """The pause was reserved with the turn."""
