"""Owns: whether what a database has acknowledged survives a power cut (fault A8), as a check of Django.

Does not: change a setting. Called by: `manage.py check`, and every command of Django that checks first.
"""

from typing import Any

from django.apps import AppConfig
from django.core.checks import CheckMessage, Error
from django.db import Error as DatabaseError
from django.db import connections

# What each setting of PostgreSQL may be.
POSTGRES = {"fsync": {"on"}, "synchronous_commit": {"on", "remote_apply"}, "full_page_writes": {"on"}}


def check_durability(app_configs: list[AppConfig] | None = None, **options: Any) -> list[CheckMessage]:
    """An error for each database that may forget what it has acknowledged; silent about one that does not answer."""
    found: list[CheckMessage] = []
    for alias in connections:
        try:
            found += [Error(f"{alias}: {sentence}", id="clearinghouse.E008") for sentence in unsafe(connections[alias])]
        except DatabaseError:
            continue  # `prepare` says why; a check must not keep a command from waiting for its database
    return found


def unsafe(connection: Any) -> list[str]:
    if connection.vendor == "sqlite":
        return _unsafe_sqlite(connection)
    return _unsafe_postgres(connection) if connection.vendor == "postgresql" else []


def _unsafe_sqlite(connection: Any) -> list[str]:
    if "PRAGMA synchronous=FULL" in connection.settings_dict["OPTIONS"].get("init_command", ""):
        return []
    return ["PRAGMA synchronous is not FULL: a power cut may undo what was acknowledged"]


def _unsafe_postgres(connection: Any) -> list[str]:
    open_before = connection.connection is not None
    with connection.cursor() as cursor:
        cursor.execute("SELECT name, setting FROM pg_settings WHERE name = ANY(%s)", [list(POSTGRES)])
        settings = dict(cursor.fetchall())
    if not open_before:
        connection.close()  # a worker forks after its checks, and two processes must not share a connection
    return [
        f"{name} is {settings[name]}: a power cut may lose what was acknowledged; set it to on"
        for name, safe in POSTGRES.items()
        if settings.get(name) not in safe
    ]
