"""Owns: copies of SQLite files at one moment, while others read and write them."""

import sqlite3
import time
from collections.abc import Iterator, Sequence
from contextlib import ExitStack, closing, contextmanager
from pathlib import Path

WAIT_SECONDS = 2.0  # for each lock; who would wait for us in turn is let through then
PATIENCE_SECONDS = 60.0
_STEP = 4096  # pages copied at a time


class FileHeld(Exception):
    """The moment could not be had: some writer holds a file for minutes."""


@contextmanager
def held_still(paths: Sequence[Path]) -> Iterator[None]:
    """Nobody writes to any of the files inside; enter and leave within milliseconds."""
    deadline = time.monotonic() + PATIENCE_SECONDS
    while True:
        with ExitStack() as locks:
            try:
                for path in paths:
                    lock = locks.enter_context(closing(_open(path)))
                    lock.execute("BEGIN IMMEDIATE")
            except sqlite3.OperationalError as error:
                if "locked" not in str(error) or time.monotonic() > deadline:
                    raise FileHeld(f"{path} could not be locked: {error}") from error
                locks.close()
                time.sleep(0.05)
                continue
            yield
            return


def as_of_now(path: Path) -> sqlite3.Connection:
    """A reader that goes on seeing the file as it is at this moment, whatever is written meanwhile."""
    reader = _open(path)
    reader.execute("BEGIN")
    reader.execute("SELECT count(*) FROM sqlite_master").fetchone()
    return reader


def copy(reader: sqlite3.Connection, to: Path) -> None:
    """All of what the reader sees, as a file of its own that needs no log beside it; whole, or an error."""
    with closing(sqlite3.connect(to)) as target:
        reader.backup(target, pages=_STEP)
    if (found := check(to)) != "ok":
        raise sqlite3.DatabaseError(f"the copy {to} is damaged: {found}")


def check(path: Path) -> str:
    """What SQLite says of a file at rest; reading it leaves nothing beside it."""
    with closing(sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro&immutable=1", uri=True)) as connection:
        try:
            return str(connection.execute("PRAGMA quick_check(1)").fetchone()[0])
        except sqlite3.DatabaseError as error:
            return str(error)


def _open(path: Path) -> sqlite3.Connection:
    # mode=rw: looking at a file that does not exist must not make one.
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=rw", uri=True, isolation_level=None, timeout=WAIT_SECONDS)
