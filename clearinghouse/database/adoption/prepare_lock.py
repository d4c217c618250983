"""Owns: one `prepare` at a time per database, over processes and machines. Called by: adoption.prepare."""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from django.db import connections

from .dialects import dialect


@contextmanager
def alone_with(alias: str) -> Iterator[None]:
    """Waits for another process that prepares the same database. A killed holder's lock ends with it."""
    connection = connections[alias]
    if connection.vendor == "sqlite":
        with _file_lock(Path(connection.settings_dict["NAME"])):
            yield
    else:
        with dialect(connection).locked(connection):
            yield


@contextmanager
def _file_lock(path: Path) -> Iterator[None]:
    # The folder itself is locked: no file of ours lies beside a database, and the database's own locks are SQLite's.
    handle = os.open(path.parent, os.O_RDONLY)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX)
        yield
    finally:
        os.close(handle)
