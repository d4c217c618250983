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
from time import monotonic
from typing import Any

from django.db import DatabaseError, connections, transaction

from clearinghouse import env

SENTENCE = "The disk is full: nothing can be saved until there is room."
NEARLY_FULL = 1_000_000  # bytes: SQLite must be able to make the file beside its own that its readers share
_ERRNOS = {errno.ENOSPC, errno.EDQUOT}
_POSTGRES = "53100"  # disk_full
# What SQLite says when it cannot make its files larger; the same words mean other things on a disk with room.
_PERHAPS = {sqlite3.SQLITE_IOERR, sqlite3.SQLITE_CANTOPEN, sqlite3.SQLITE_READONLY}

_ASKED_SECONDS = 10.0  # pages ask whether a server is full: it is not asked for each of them
# A sort that has too little memory writes to the disk of the server: no row, no transaction, nothing that stays.
LITTLE_MEMORY = "SET LOCAL work_mem = '64kB'"
SORT = "SELECT count(*) FROM (SELECT repeat('room', 50) || n FROM generate_series(1, 3000) n ORDER BY 1) AS sorted"
_asked: dict[tuple[str, str], tuple[float, bool]] = {}  # server -> when it was asked, and whether it was full

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


def anywhere() -> bool:
    """Whether a disk of ours or of a database server has no room left."""
    return bool(full_folders()) or any(_server_is_full(*one) for one in _servers().items())


def _servers() -> dict[tuple[str, str], str]:
    """Each PostgreSQL server, and one of the databases on it."""
    of = {alias: connections[alias].settings_dict for alias in connections if connections[alias].vendor == "postgresql"}
    return {(str(told["HOST"] or told["OPTIONS"].get("host", "")), str(told["PORT"])): it for it, told in of.items()}


def _server_is_full(server: tuple[str, str], alias: str) -> bool:
    when, full = _asked.get(server, (-_ASKED_SECONDS, False))
    if monotonic() - when >= _ASKED_SECONDS:
        full = _has_no_room(alias)
        _asked[server] = (monotonic(), full)
    return full


def _has_no_room(alias: str) -> bool:
    try:
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute(LITTLE_MEMORY)
            cursor.execute(SORT)
            transaction.set_rollback(True, using=alias)
    except DatabaseError as error:
        return is_full(error)
    return False


@contextmanager
def left_out_when_full(what: str) -> Iterator[None]:
    """Around a note that is nice to have: on a full disk it is left out, and what it is beside goes on."""
    try:
        yield
    except (DatabaseError, OSError) as error:
        if not is_full(error):
            raise
        log.debug("Left out because the disk is full: %s", what)
