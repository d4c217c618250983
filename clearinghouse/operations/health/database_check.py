"""Owns: one look at a database: does it answer, has it the tables this version works with. Changes nothing.

A file of SQLite that does not exist is not made by looking. Called by: views, the doctor, System status.
"""

from collections.abc import Iterable
from functools import lru_cache
from pathlib import Path
from typing import Any

from django.db import Error, connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from clearinghouse.database import full_disk
from clearinghouse.database.aliases import BACKUP, DEFAULT, PRIMARY, WEBCRAWL
from clearinghouse.search.public_target import public_alias

from .. import work_queues

NAMES = {DEFAULT: "doc_library (content development)", WEBCRAWL: "WebCrawl", PRIMARY: "doc_library (primary)",
         BACKUP: "doc_library (backup)"}  # fmt: skip
_AWAY = (Error, OSError)


def file_of(alias: str) -> Path | None:
    """The file of a database; None for one on a server or in memory."""
    connection: Any = connections[alias]
    if connection.vendor != "sqlite" or connection.is_in_memory_db():
        return None
    return Path(str(connection.settings_dict["NAME"]))


def why_not_reachable(alias: str) -> str:
    """The kind of the error, or nothing. Never its text: that may name a host or a user."""
    path = file_of(alias)
    if path is not None and not path.exists():
        return "FileNotFoundError"
    try:
        with connections[alias].cursor() as cursor:
            cursor.execute("SELECT 1")
    except _AWAY as error:
        return type(error).__name__
    return ""


@lru_cache(maxsize=1)
def _of_this_version() -> frozenset[tuple[str, str]]:
    return frozenset(MigrationLoader(None).disk_migrations or ())


def known_migrations(names: Iterable[str]) -> set[str]:
    """Of these ("app.name"), the ones this version knows, or whose app is none of ours to judge."""
    ours = {app for app, _ in _of_this_version()}
    known = {f"{app}.{name}" for app, name in _of_this_version()}
    return {name for name in names if name in known or name.partition(".")[0] not in ours}


def steps_behind(alias: str) -> int:
    """How many migrations of this version a database that answers still lacks."""
    return len(_of_this_version() - MigrationRecorder(connections[alias]).applied_migrations().keys())


def steps_ahead(alias: str) -> int:
    """How many migrations it has that this version does not know: newer code was here."""
    applied = {f"{app}.{name}" for app, name in MigrationRecorder(connections[alias]).applied_migrations()}
    return len(applied - known_migrations(applied))


def missing() -> tuple[list[str], list[str]]:
    """What keeps the web application from working, and what it works without; one sentence each.

    A production server that does not serve the public now may be away: nobody is sent off because of it.
    """
    stops, bears = [], []
    serving = PRIMARY if why_not_reachable(WEBCRAWL) else public_alias()
    for alias, name in NAMES.items():
        if sentence := _wrong(alias, name):
            (bears if alias in (PRIMARY, BACKUP) and alias != serving else stops).append(sentence)
    if full_disk.anywhere():
        bears.append("A disk is full. Nothing can be saved until there is room; pages and searches work on.")
    if why := work_queues.trouble():
        bears.append(f"{why}. Crawls wait until it does; pages and searches work on.")
    return stops, bears


def usable(alias: str) -> bool:
    """Whether it answers with the tables of this version. A file SQLite made anew answers too, and holds nothing."""
    return not _wrong(alias, alias)


def _wrong(alias: str, name: str) -> str:
    if why_not_reachable(alias):
        return f"The database {name} does not answer."
    try:
        behind = steps_behind(alias)
    except _AWAY:
        return f"The database {name} does not answer."
    return f"The database {name} is not prepared for this version." if behind else ""
