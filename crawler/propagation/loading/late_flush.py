"""Owns: when the commits of a load reach the disk: all together at the end of its step, not one by one.

Nobody sees what is loaded before the switch, and a step counts as done only behind the barrier here. So a power cut
costs at most the step, as a kill does; what SQLite and PostgreSQL promise about whole transactions stays as it is.
Does not: weaken the switch, or any other commit. Called by: work.
"""

from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import Error, connections

from . import load

_LATE = {"sqlite": "PRAGMA synchronous = NORMAL", "postgresql": "SET synchronous_commit = off"}
_AT_ONCE = {"sqlite": "PRAGMA synchronous = FULL", "postgresql": "SET synchronous_commit = on"}
# A checkpoint flushes the log first; a record of a transaction that waits for its flush waits for all before it.
_BARRIER = {
    "sqlite": "PRAGMA wal_checkpoint(PASSIVE)",
    "postgresql": "SELECT pg_logical_emit_message(true, 'clearinghouse', 'loaded')",
}


@contextmanager
def together(alias: str) -> Iterator[None]:
    """What is committed inside has reached the disk when this ends without an exception."""
    connection = connections[alias]
    vendor = connection.vendor
    if vendor not in _LATE or connection.in_atomic_block:
        yield
        return
    load.execute(alias, _LATE[vendor])
    try:
        yield
    except BaseException:
        with suppress(Error):  # the server may be gone; a new connection flushes at once anyway
            load.execute(alias, _AT_ONCE[vendor])
        raise
    load.execute(alias, _AT_ONCE[vendor])
    load.execute(alias, _BARRIER[vendor])
