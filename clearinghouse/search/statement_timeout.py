"""Owns: how long one question to a database may take before it is given up (threat T30).

Does not: decide how long. Called by: the public search.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress

from django.db import DatabaseError, connections

_STEPS = 20_000  # of SQLite's machine between two looks at the clock: some tenths of a millisecond


@contextmanager
def limited(alias: str, seconds: float) -> Iterator[None]:
    """Inside, the database breaks off what takes longer, with an OperationalError.

    PostgreSQL counts each statement, SQLite the whole block. On other servers nothing is limited.
    """
    connection = connections[alias]
    connection.ensure_connection()
    if connection.vendor == "sqlite":
        until = time.monotonic() + seconds
        connection.connection.set_progress_handler(lambda: time.monotonic() > until, _STEPS)
        try:
            yield
        finally:
            connection.connection.set_progress_handler(None, 0)
    elif connection.vendor == "postgresql":
        _set(alias, f"{int(seconds * 1000)}")
        try:
            yield
        finally:
            with suppress(DatabaseError):  # in a transaction that failed; it ends with it
                _set(alias, "0")
    else:
        yield


def _set(alias: str, milliseconds: str) -> None:
    with connections[alias].cursor() as cursor:
        cursor.execute("SELECT set_config('statement_timeout', %s, false)", [milliseconds])
