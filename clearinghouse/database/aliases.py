"""Owns: the four database aliases, how a URL becomes a connection, which model lives where.

Does not: hold SQL. Called by: settings, and by every room that names a database.
"""

import logging
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any
from urllib.parse import parse_qsl, unquote, urlsplit

from django.db import OperationalError, connections

log = logging.getLogger(__name__)

DEFAULT = "default"
WEBCRAWL = "webcrawl"
PRIMARY = "primary"
BACKUP = "backup"

# The three servers of propagation, in the seed's order, and the alias of each.
TARGETS = {"development": DEFAULT, "primary": PRIMARY, "backup": BACKUP}

# A writer waits this long for another writer before it gives up (fault A10).
LOCK_WAIT_SECONDS = 20

# Measured with 5,000 pages of 26 KB: larger pages and rarer checkpoints take a third of the time SQLite needs. With
# 50,000 pages the checkpoints decide, because keys are digests and a batch writes all over the indexes: a log of 96 MB
# in place of 32 stored 1,154 pages a second in place of 870, one of 192 MB no more than that, nor did smaller pages.
_CACHE = "PRAGMA cache_size=-32000;"
_CACHE_OF_THREADS = "PRAGMA cache_size=-4000;"
_SQLITE_PRAGMAS = (
    "PRAGMA page_size=16384;"  # counts for new files only
    "PRAGMA journal_mode=WAL;"
    "PRAGMA wal_autocheckpoint=6000;"
    "PRAGMA synchronous=FULL;"  # an acknowledged page survives a power cut (fault A8)
    f"{_CACHE}"
    "PRAGMA temp_store=MEMORY;"
    "PRAGMA journal_size_limit=134217728;"
)

# A host that is cut off in the middle of a transaction would hold its locks for hours; others wait for 20 s of silence.
ASLEEP_SECONDS = 15
_POSTGRES_OPTIONS = f"-c idle_in_transaction_session_timeout={ASLEEP_SECONDS * 1000}"

_APPS = {
    "crawler": {WEBCRAWL},
    "published": set(TARGETS.values()),
    "search": {WEBCRAWL},
}
_MODELS = {
    ("published", "crawlpagetype"): {DEFAULT, WEBCRAWL, PRIMARY, BACKUP},  # the names of page types stand everywhere
    ("published", "publicswitch"): {WEBCRAWL},  # one switch for three targets
}


def from_url(url: str) -> dict[str, Any]:
    """Django's settings for one database URL; raises ValueError for an unusable one."""
    parts = urlsplit(url)
    if parts.scheme == "sqlite":
        return _sqlite(Path(unquote(url.removeprefix("sqlite:///"))))
    if parts.scheme in {"postgres", "postgresql"}:
        return _server(parts, "django.db.backends.postgresql", {"options": _POSTGRES_OPTIONS})
    if parts.scheme == "mssql":
        return _server(parts, "clearinghouse.database.sql_server", {}) | {
            "OPTIONS": _sql_server(dict(parse_qsl(parts.query)))
        }
    raise ValueError("A database address begins with sqlite:///, postgres:// or mssql://")


def _sqlite(path: Path) -> dict[str, Any]:
    options = {"init_command": _SQLITE_PRAGMAS, "transaction_mode": "IMMEDIATE", "timeout": LOCK_WAIT_SECONDS}
    return {
        "ENGINE": "django.db.backends.sqlite3",
        "NAME": str(path),
        "OPTIONS": options,
        "TEST": {"NAME": None},
        "CONN_MAX_AGE": None,
    }


def _server(parts: Any, engine: str, options: dict[str, Any]) -> dict[str, Any]:
    return {
        "ENGINE": engine,
        "NAME": unquote(parts.path.lstrip("/")),
        "USER": unquote(parts.username or ""),
        "PASSWORD": unquote(parts.password or ""),
        "HOST": unquote(parts.hostname or ""),
        "PORT": str(parts.port or ""),
        "OPTIONS": options | dict(parse_qsl(parts.query)),
        "CONN_MAX_AGE": 60,
        "CONN_HEALTH_CHECKS": True,
    }


# What mssql-django reads itself; every other word of the address goes to the driver, like Encrypt=strict.
_OF_THE_BACK_END = {
    "driver", "python_driver", "dsn", "host_is_server", "collation", "isolation_level", "unicode_results",
    "connection_timeout", "connection_retries", "connection_retry_backoff_time", "query_timeout",
}  # fmt: skip


def _sql_server(asked: dict[str, str]) -> dict[str, Any]:
    """Options of mssql-django. We read rows while we ask for others: ODBC must be told so (MARS), mssql-python not."""
    options: dict[str, Any] = {}
    words = {"Encrypt": "yes"} if "python_driver" in asked else {"Encrypt": "yes", "MARS_Connection": "yes"}
    known = {word.lower(): word for word in words}
    for name, value in asked.items():
        if name.lower() in _OF_THE_BACK_END:
            options[name.lower()] = int(value) if value.isdigit() else value
        else:
            words[known.get(name.lower(), name)] = value
    if "python_driver" not in options:
        options.setdefault("driver", "ODBC Driver 18 for SQL Server")
    return options | {"extra_params": ";".join(f"{word}={value}" for word, value in words.items())}


def serve_threads() -> None:
    """For a web process, before its first question: each thread has connections of its own, and each of these keeps
    pages for itself. What they need again the system keeps for all of them."""
    for connection in connections.all():
        if connection.vendor == "sqlite":
            options = connection.settings_dict["OPTIONS"]
            options["init_command"] = options.get("init_command", "").replace(_CACHE, _CACHE_OF_THREADS)


def let_go(alias: str) -> None:
    """Gives back what SQLite keeps of this database in memory; the next question reads it again."""
    connection = connections[alias]
    if connection.vendor == "sqlite" and connection.connection is not None:
        connection.connection.execute("PRAGMA shrink_memory")


class Router:
    """Sends each model to its database. Published tables exist on three servers: they are always named with using()."""

    def db_for_read(self, model: Any, **hints: Any) -> str | None:
        homes = _homes(model._meta.app_label, model._meta.model_name)
        return WEBCRAWL if homes == {WEBCRAWL} else None

    db_for_write = db_for_read

    def allow_relation(self, one: Any, other: Any, **hints: Any) -> bool | None:
        return None

    def allow_migrate(self, db: str, app_label: str, model_name: str | None = None, **hints: Any) -> bool:
        return db in _homes(app_label, model_name)


def _homes(app_label: str, model_name: str | None) -> set[str]:
    return _MODELS.get((app_label, model_name or ""), _APPS.get(app_label, {DEFAULT}))


@contextmanager
def without_waiting(alias: str) -> Iterator[None]:
    """For a write that reading a page causes: where the database is busy or full it is left out, and written down."""
    connection: Any = connections[alias]
    waits = connection.vendor == "sqlite" and not connection.in_atomic_block
    try:
        if waits:
            _wait(connection, 50)
        yield
    except OperationalError as problem:
        if connection.in_atomic_block:
            raise  # somebody's transaction is spoilt, and they must know
        log.info("An optional write failed: %s", problem)
    finally:
        if waits:
            _wait(connection, LOCK_WAIT_SECONDS * 1000)


def _wait(connection: Any, milliseconds: int) -> None:
    with connection.cursor() as cursor:
        cursor.execute(f"PRAGMA busy_timeout = {milliseconds}")
