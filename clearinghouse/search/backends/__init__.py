"""Owns: the choice of index for a target. Does not: hold SQL. Called by: the engine and crawler.propagation.

Every index stands behind one interface (text_index.TextIndex). The setting TEXT_INDEXES names another one than the
full text search of the target's own database; of these SQLite and PostgreSQL are proved here,
SQL Server is compiled only.
"""

from django.conf import settings
from django.db import connections
from django.utils.module_loading import import_string

from .facts_answer import FactsIndex
from .postgres_text import PostgresIndex
from .sql_server_text import MssqlIndex
from .sqlite_text import SqliteIndex
from .text_index import Described, TextIndex

__all__ = ["Described", "FactsIndex", "TextIndex", "UnknownServer", "backend"]


class UnknownServer(Exception):
    """This kind of database server has no full text adapter."""


_ADAPTERS: dict[str, type[FactsIndex]] = {"sqlite": SqliteIndex, "postgresql": PostgresIndex, "microsoft": MssqlIndex}


def backend(alias: str) -> TextIndex:
    if named := settings.TEXT_INDEXES.get(alias):
        index: TextIndex = import_string(named)(alias)
        return index
    vendor = connections[alias].vendor
    if vendor not in _ADAPTERS:
        raise UnknownServer(f"Full text search on {vendor} is not built in yet.")
    return _ADAPTERS[vendor](alias)
