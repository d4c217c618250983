"""Owns: which clock rows are written and compared by: that of the WebCrawl server, one for all hosts.

A file has no clock of its own: there it is that of this machine, on which everybody works who uses the file. Any clock
may jump, also this one: whoever waits for a moment that stands in a row bounds how far away it can rightly be, and
whatever a process measures by itself it measures by its monotonic clock.
Called by: whoever stores a moment that others wait for.
"""

import time
from datetime import UTC, datetime, timedelta

from django.db import connections
from django.db.models import Q

from clearinghouse.database.aliases import WEBCRAWL

_ASK = {
    "postgresql": "SELECT EXTRACT(EPOCH FROM clock_timestamp())",  # not now(), which stands still in a transaction
    "microsoft": "SELECT DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME()) / 1000000.0",
}


JITTER = 0.25  # seconds that an answer may take without being taken for a clock that went back


class _Distance:
    """By how much the clock of the rows is ahead of this process's monotonic one.

    As the quickest answer told, until a clock jumps: two moments would stand nearer together than they are, if one
    answer took longer than the other.
    """

    def __init__(self) -> None:
        self.now = 0.0

    def measure(self, moment: float) -> None:
        found = moment - time.monotonic()
        if not self.now - JITTER <= found <= self.now:
            self.now = found


_distance = _Distance()


def seconds() -> float:
    """Since 1970."""
    now = _asked()
    _distance.measure(now)
    return now


def monotonic(moment: float) -> float:
    """A moment of a row by this process's monotonic clock, as of the last look at the clock of the rows."""
    return moment - _distance.now


def _asked() -> float:
    connection = connections[WEBCRAWL]
    if connection.vendor not in _ASK:
        return time.time()
    with connection.cursor() as cursor:
        cursor.execute(_ASK[connection.vendor])
        return float(cursor.fetchone()[0])


def due(now: datetime, first: timedelta, tries: int) -> Q:
    """Rows whose `not_before` has come, or lies further away than their back-off (`first`, doubled with each of
    `tries`) can have put it: then a clock was ahead, or went back since."""
    come = Q(not_before=None) | Q(not_before__lte=now)
    for done in range(tries + 1):
        come |= Q(tries=done, not_before__gt=now + first * 2**done)
    return come


def moment() -> datetime:
    return datetime.fromtimestamp(seconds(), UTC)
