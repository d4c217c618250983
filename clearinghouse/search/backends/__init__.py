"""Owns: the choice of index for a target. Does not: hold SQL. Called by: the engine and crawler.propagation.

Every index stands behind one interface (text_index.TextIndex). The setting TEXT_INDEXES names another one than the
full text search of the target's own database; of these SQLite and PostgreSQL are proved here,
SQL Server is compiled only.
"""

from collections.abc import Sequence

from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from .postgres_text import PostgresIndex
from .sql_index import SqlIndex
from .sql_server_text import MssqlIndex
from .sqlite_text import SqliteIndex
from .text_index import Described, TextIndex

__all__ = ["Described", "SqlIndex", "TextIndex", "UnknownServer", "add", "backend", "describe", "ensure", "remove"]


class UnknownServer(Exception):
    """This kind of database server has no full text adapter."""


_ADAPTERS: dict[str, type[SqlIndex]] = {"sqlite": SqliteIndex, "postgresql": PostgresIndex, "microsoft": MssqlIndex}


def backend(alias: str) -> TextIndex:
    if named := settings.TEXT_INDEXES.get(alias):
        index: TextIndex = import_string(named)(alias)
        return index
    vendor = connections[alias].vendor
    if vendor not in _ADAPTERS:
        raise UnknownServer(f"Full text search on {vendor} is not built in yet.")
    return _ADAPTERS[vendor](alias)


def ensure(alias: str) -> None:
    """Creates the index of this target when it is not there; safe to repeat."""
    backend(alias).ensure()


def add(alias: str, published_ids: list[int]) -> int:
    """Indexes these pages (those not indexed yet); how many were."""
    return backend(alias).add(published_ids)


def describe(alias: str, pages: Sequence[Described]) -> None:
    """Writes what results are narrowed, counted and folded by; pages not described before they are indexed are then."""
    backend(alias).describe(pages)


def tidy(alias: str, added: int) -> None:
    """After so many pages were added, so that the next search finds them quickly."""
    backend(alias).tidy(added)


def remove(alias: str, published_ids: list[int]) -> None:
    """Takes these pages out of the index; call it while their rows are still there."""
    backend(alias).remove(published_ids)
