"""Owns: which clock rows are written and compared by: that of the WebCrawl server, one for all hosts.

A file has no clock of its own: there it is that of this machine, on which everybody works who uses the file. Any clock
may jump, also this one: whoever waits for a moment that stands in a row bounds how far away it can rightly be, and
whatever a process measures by itself it measures by its monotonic clock.
Called by: whoever stores a moment that others wait for.
"""

import time
from datetime import UTC, datetime

from django.db import connections

from clearinghouse.databases import WEBCRAWL

_ASK = {
    "postgresql": "SELECT EXTRACT(EPOCH FROM clock_timestamp())",  # not now(), which stands still in a transaction
    "microsoft": "SELECT DATEDIFF_BIG(MICROSECOND, '1970-01-01', SYSUTCDATETIME()) / 1000000.0",
}


def seconds() -> float:
    """Since 1970."""
    connection = connections[WEBCRAWL]
    if connection.vendor not in _ASK:
        return time.time()
    with connection.cursor() as cursor:
        cursor.execute(_ASK[connection.vendor])
        return float(cursor.fetchone()[0])


def moment() -> datetime:
    return datetime.fromtimestamp(seconds(), UTC)
