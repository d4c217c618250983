"""The four databases: whole, reachable, migrated, writable, and keeping what they acknowledge."""

import sqlite3
from collections.abc import Iterator
from typing import Any

from django.db import Error, connections, transaction

from clearinghouse.database import full_disk
from clearinghouse.database.adoption import durability_check, schema_check, usable
from clearinghouse.operations.health import database_check
from clearinghouse.web.plurals import plural

from .types import OK, TROUBLE, WARNING, DoctorLine

CONTENT_SECONDS = 20.0  # for the look at the whole of a large file
LARGEST_LOG = 1_000_000_000  # bytes of a write-ahead log; it is normally cut at 128 MB
OLDEST_POSTGRES = 140000
OLDEST_SQLITE = (3, 35, 0)
_PREPARE = "run manage.py prepare"
FULL = "the disk of its server is full: it can be read, nothing can be saved"


def examine() -> Iterator[DoctorLine]:
    for alias, name in database_check.NAMES.items():
        part = f"Database {name}"
        found = list(_wrong(alias, part))
        yield from found or [DoctorLine(part, OK, _well(alias))]


def _wrong(alias: str, part: str) -> Iterator[DoctorLine]:
    path = database_check.file_of(alias)
    if path is not None and not path.exists():
        yield DoctorLine(part, TROUBLE, f"there is no file {path}", _PREPARE)
        return
    try:
        usable.check(alias, seconds=CONTENT_SECONDS)
    except usable.Unusable as problem:
        yield DoctorLine(part, TROUBLE, problem.why, problem.do)
        return
    if database_check.steps_ahead(alias):
        yield DoctorLine(part, TROUBLE, "it was prepared by a newer version than this one", "install that version here")
    if behind := database_check.steps_behind(alias):
        yield DoctorLine(part, TROUBLE, f"it lacks {plural(behind, 'migration')} of this version", _PREPARE)
        return
    if lacking := schema_check.differences(alias):
        yield DoctorLine(
            part, TROUBLE, schema_check.sentence(alias, lacking).partition(": ")[2], schema_check.what_to_do()
        )
        return
    if path is not None and path.parent in full_disk.full_folders():
        say = f"the disk of {path.parent} is full: it can be read, nothing can be saved"
        yield DoctorLine(part, TROUBLE, say, "make room; nothing is lost")
        return
    if (why := _not_writable(alias)) == FULL:
        yield DoctorLine(part, TROUBLE, FULL, "make room there; nothing is lost")
    elif why:
        yield DoctorLine(part, TROUBLE, f"it cannot be written ({why})", "check rights, disk and who holds a lock")
    for sentence in durability_check.unsafe(connections[alias]):
        yield DoctorLine(part, TROUBLE, sentence, "change that setting before you crawl")
    yield from _of_kind(alias, part)


def _not_writable(alias: str) -> str:
    """Takes the lock of a writer and gives it back; changes no row. A server is asked for a page of its disk, too."""
    try:
        with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
            cursor.execute("UPDATE django_migrations SET name = name WHERE 1 = 0")
            if connections[alias].vendor == "postgresql":
                cursor.execute("CREATE TEMP TABLE clearinghouse_room ON COMMIT DROP AS SELECT repeat('room', 999) AS a")
    except Error as error:
        if full_disk.is_full(error):
            return FULL
        return next(iter(str(error).strip().splitlines()), type(error).__name__)
    return ""


def _of_kind(alias: str, part: str) -> Iterator[DoctorLine]:
    connection: Any = connections[alias]
    if connection.vendor == "sqlite":
        yield from _of_sqlite(alias, part)
    if connection.vendor == "postgresql":
        yield from _of_postgres(connection, part)


def _of_sqlite(alias: str, part: str) -> Iterator[DoctorLine]:
    if sqlite3.sqlite_version_info < OLDEST_SQLITE:
        yield DoctorLine(part, WARNING, f"SQLite {sqlite3.sqlite_version} is old", "use 3.35 or newer")
    path = database_check.file_of(alias)
    if path is None:
        return
    mode = _value(alias, "PRAGMA journal_mode")
    if mode != "wal":
        say = f"its journal is {mode}, not wal: readers and the writer wait for each other"
        yield DoctorLine(part, TROUBLE, say, "keep the file on a disk of this machine, not on a network share")
    log = path.with_name(f"{path.name}-wal")
    if log.exists() and log.stat().st_size > LARGEST_LOG:
        say = f"its write-ahead log has {log.stat().st_size / 1e9:,.1f} GB: some program reads without an end"
        yield DoctorLine(part, WARNING, say, "end the programs that hold the file open")


def _of_postgres(connection: Any, part: str) -> Iterator[DoctorLine]:
    if connection.pg_version < OLDEST_POSTGRES:
        yield DoctorLine(
            part, WARNING, f"PostgreSQL {connection.pg_version // 10000} is old", "use 15, which is tested"
        )
    isolation = _value(connection.alias, "SHOW default_transaction_isolation")
    if isolation != "read committed":
        say = f"its transactions are {isolation}; claims are written for read committed"
        yield DoctorLine(part, TROUBLE, say, "set default_transaction_isolation to read committed")


def _value(alias: str, sql: str) -> str:
    with connections[alias].cursor() as cursor:
        cursor.execute(sql)
        return str(cursor.fetchone()[0])


def _well(alias: str) -> str:
    connection: Any = connections[alias]
    if connection.vendor == "sqlite":
        return f"whole, migrated and writable; SQLite {sqlite3.sqlite_version}, wal"
    if connection.vendor == "postgresql":
        return f"reachable, migrated and writable; PostgreSQL {connection.pg_version // 10000}"
    return f"reachable, migrated and writable; {connection.display_name}"
