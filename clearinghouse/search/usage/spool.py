"""Owns: the file between the searches and the database: one line for each search, taken away whole by the tick.

A GET never writes to a database; a line costs microseconds. The file is bounded: what comes while it is full is not
counted. Does not: know the table. Called by: the public search, services.
"""

import fcntl
import json
import os
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import Any

from clearinghouse import env

MOST_BYTES = 4 * 1024 * 1024
AT_ONCE = 2000  # lines that are taken together: the database is written to for some tenths of a second
_FILE, _TAKEN = "search-use.lines", "search-use.taken"


def _path(name: str) -> Path:
    return env.var() / name


def add(line: dict[str, Any]) -> None:
    """Notes one search, if there is room; a full disk or a missing folder costs the line, never the search."""
    data = (json.dumps(line, separators=(",", ":")) + "\n").encode()
    with suppress(OSError):
        handle = os.open(_path(_FILE), os.O_WRONLY | os.O_APPEND | os.O_CREAT, 0o600)
        try:
            if os.fstat(handle).st_size + len(data) <= MOST_BYTES:
                os.write(handle, data)  # one write of one short line: lines of several processes do not mix
        finally:
            os.close(handle)


@contextmanager
def taken() -> Iterator[list[dict[str, Any]]]:
    """The oldest lines; they are gone when the block ends well, and come again when it does not."""
    if not (_path(_FILE).exists() or _path(_TAKEN).exists()):
        yield []
        return
    lock = os.open(_path(_TAKEN + ".lock"), os.O_WRONLY | os.O_CREAT, 0o600)
    try:
        fcntl.flock(lock, fcntl.LOCK_EX)  # one tick of this host at a time
        if not _path(_TAKEN).exists():
            with suppress(FileNotFoundError):
                _path(_FILE).rename(_path(_TAKEN))
        lines, rest = _cut(_path(_TAKEN))
        yield lines
        _keep(rest)
    finally:
        os.close(lock)


def _cut(path: Path) -> tuple[list[dict[str, Any]], list[bytes]]:
    """The first lines, read, and those behind them as they are."""
    if not path.exists():
        return [], []
    lines = path.read_bytes().splitlines(keepends=True)
    found = []
    for line in lines[:AT_ONCE]:
        with suppress(ValueError):  # cut short by a full disk
            if isinstance(read := json.loads(line), dict):
                found.append(read)
    return found, lines[AT_ONCE:]


def _keep(rest: list[bytes]) -> None:
    if not rest:
        _path(_TAKEN).unlink(missing_ok=True)
        return
    whole = _path(_TAKEN + ".new")
    whole.write_bytes(b"".join(rest))
    whole.replace(_path(_TAKEN))
