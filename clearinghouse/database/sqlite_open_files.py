"""Owns: keeping the files of SQLite open in a process that serves pages, so that they can be read on a full disk.

Readers share a small file beside each database; it goes with the last connection, and cannot be made again where there
is no room. A server of databases looks after itself. Does not: read or write rows. Called by: wsgi.
"""

import os
import sqlite3
import threading
import time
from pathlib import Path
from typing import Any

from django.db import connections

LOOK_SECONDS = 30.0

_lock = threading.Lock()
_held: dict[Path, tuple[int, sqlite3.Connection]] = {}  # with the number of the file: a restored one is another
_process, _looked = 0, 0.0


def hold() -> None:
    """Cheap: called for every request. A process that was forked holds its own, those of its parent are not its."""
    global _process, _looked
    now = time.monotonic()
    if _process == os.getpid() and now - _looked < LOOK_SECONDS:
        return
    with _lock:
        if _process != os.getpid():
            _parents.extend(_held.values())
            _held.clear()
        _process, _looked = os.getpid(), now
        for path in _files():
            _hold(path)


_parents: list[Any] = []  # never closed here: closing would let go of the locks of this process, too


def _files() -> list[Path]:
    told: list[Any] = connections.all()
    return [Path(one.settings_dict["NAME"]) for one in told if one.vendor == "sqlite" and not one.is_in_memory_db()]


def _hold(path: Path) -> None:
    try:
        number = path.stat().st_ino
        if path in _held and _held[path][0] == number:
            return
        connection = sqlite3.connect(f"file:{path}?mode=rw", uri=True, timeout=1, check_same_thread=False)
        connection.execute("SELECT count(*) FROM sqlite_master").fetchone()
    except (sqlite3.Error, OSError):  # not there yet, or nothing can be read of it now: the next look may
        return
    _held[path] = (number, connection)
