"""Owns: whether an error means that a disk is full, and letting go of what need not be written then.

Reading goes on while a disk is full: a visitor must not fail because the last use of a key cannot be noted. What
somebody wants to save is refused with one sentence, and nothing typed is lost. Does not: draw that, or make room.
Called by: the pages, the commands, the log, and whoever writes beside a read.
"""

import errno
import logging
import shutil
import sqlite3
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from django.db import DatabaseError, connections

from clearinghouse import env

SENTENCE = "The disk is full: nothing can be saved until there is room."
NEARLY_FULL = 1_000_000  # bytes: SQLite must be able to make the file beside its own that its readers share
_ERRNOS = {errno.ENOSPC, errno.EDQUOT}
_POSTGRES = "53100"  # disk_full
# What SQLite says when it cannot make its files larger; the same words mean other things on a disk with room.
_PERHAPS = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}

log = logging.getLogger(__name__)


def is_full(error: BaseException | None) -> bool:
    """Whether this error, or one that led to it, is a server or file system saying that it has no room left."""
    seen: set[int] = set()
    while error is not None and id(error) not in seen:
        if _says_full(error):
            return True
        seen.add(id(error))
        error = error.__cause__ or error.__context__
    return False


def _says_full(error: BaseException) -> bool:
    if isinstance(error, sqlite3.Error):
        code = getattr(error, "sqlite_errorcode", 0)
        return code == sqlite3.SQLITE_FULL or (code & 0xFF in _PERHAPS and bool(full_folders()))
    if isinstance(error, OSError):
        return error.errno in _ERRNOS
    return getattr(error, "sqlstate", "") == _POSTGRES


def full_folders() -> list[Path]:
    """The folders of state of ours whose disk has no room left."""
    homes = {env.var()}
    for connection in connections.all():
        told: Any = connection
        if told.vendor == "sqlite" and not told.is_in_memory_db():
            homes.add(Path(told.settings_dict["NAME"]).parent)
    return sorted(home for home in homes if home.is_dir() and shutil.disk_usage(home).free < NEARLY_FULL)


@contextmanager
def left_out_when_full(what: str) -> Iterator[None]:
    """Around a note that is nice to have: on a full disk it is left out, and what it is beside goes on."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        if not is_full(error):
            raise
        log.debug("Left out because the disk is full: %s", what)
