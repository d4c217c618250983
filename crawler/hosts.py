"""Owns: how gently each site is treated by this instance: its pace, its pauses, its robots.txt.

Does not: fetch. robots.txt is kept in the row of the host for a day, so that not every run asks again.
Called by: the instance.
"""

import time
from dataclasses import dataclass, field

from clearinghouse.digests import digest_of

from .models import Host
from .policy.robots import Robots

ROBOTS_KEPT = 24 * 3600.0
SPEEDS = {"polite": (1.0, 1), "medium": (0.2, 2), "fast": (0.0, 16)}  # pause in seconds, connections
UNKNOWN, ASKING, KNOWN, UNREADABLE = "unknown", "asking", "known", "unreadable"
ROBOTS_TRIES = 3


@dataclass(slots=True)
class Desk:
    """One site (scheme, host, port)."""

    origin: str
    flying: int = 0
    next_at: float = 0.0  # this process's monotonic clock
    tries: int = 0
    robots_state: str = UNKNOWN
    robots: Robots | None = None
    trouble: str = ""
    dirty: bool = False
    text: bytes = field(default=b"", repr=False)
    status: int = 0


class Hosts:
    def __init__(self, speed: str) -> None:
        self.speed = speed
        self._desks: dict[str, Desk] = {}

    def desk(self, origin: str) -> Desk:
        desk = self._desks.get(origin)
        if desk is None:
            desk = self._desks[origin] = Desk(origin)
            _recall(desk)
        return desk

    def ready(self, desk: Desk, now: float) -> bool:
        return desk.flying < SPEEDS[self.speed][1] and now >= desk.next_at

    def departed(self, desk: Desk, now: float) -> None:
        pause = SPEEDS[self.speed][0]
        if desk.robots and desk.robots.crawl_delay and pause:
            pause = max(pause, desk.robots.crawl_delay)
        desk.flying += 1
        desk.next_at = max(desk.next_at, now + pause)

    def landed(self, desk: Desk) -> None:
        desk.flying -= 1

    def leave_alone(self, desk: Desk, seconds: float) -> None:
        desk.next_at = max(desk.next_at, time.monotonic() + seconds)

    def robots_answered(self, desk: Desk, status: int, body: bytes) -> None:
        """RFC 9309: 2xx is read, 4xx allows everything, the rest cannot be read."""
        if 200 <= status < 500:
            desk.robots_state, desk.status = KNOWN, status
            desk.text = body if status < 300 else b""
            desk.robots = Robots.from_status(status, desk.text)
            desk.dirty = True
        else:
            self.robots_failed(desk, f"status {status}")

    def robots_failed(self, desk: Desk, why: str) -> None:
        desk.tries += 1
        desk.trouble = why
        desk.robots_state = UNKNOWN if desk.tries < ROBOTS_TRIES else UNREADABLE
        self.leave_alone(desk, 2.0 ** (desk.tries - 1))

    def save(self) -> None:
        """With the commit of a batch: what was learned of robots.txt."""
        for desk in self._desks.values():
            if desk.dirty:
                values = {
                    "origin": desk.origin[:300], "robots_status": desk.status, "robots_at": time.time(),
                    "robots_text": desk.text.decode("latin-1").replace("\0", ""),
                }  # fmt: skip
                Host.objects.update_or_create(key=digest_of(desk.origin), defaults=values)
                desk.dirty = False


def _recall(desk: Desk) -> None:
    row = Host.objects.filter(key=digest_of(desk.origin), robots_at__gt=time.time() - ROBOTS_KEPT).first()
    if row and row.robots_status:
        desk.robots_state, desk.status = KNOWN, row.robots_status
        desk.text = row.robots_text.encode("latin-1", "replace")
        desk.robots = Robots.from_status(row.robots_status, desk.text)
