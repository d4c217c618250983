"""Owns: every statement that the product sends while it is watched, as SQL Server would be sent it.

The ORM's statements are compiled a second time, by Django's back end for SQL Server, from the same query. Statements
written by hand are taken as they are: those that SQL Server is sent in another form stand in by_hand.py. Only what is
sent from the product's own code counts. Loaded into a process of its own (see __main__): that back end changes Django.
"""

import sys
import threading
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from importlib import import_module
from typing import Any

from django.db import DatabaseError, NotSupportedError, connections
from django.db.backends.utils import CursorWrapper
from django.db.models.sql import compiler
from django.db.models.sql.subqueries import InsertQuery

from clearinghouse.search.backends.common_words import ByName
from clearinghouse.search.backends.postgres_text import PostgresIndex
from clearinghouse.search.backends.sql_index import FACTS, SqlIndex, marks
from clearinghouse.search.backends.sql_server_text import MssqlIndex
from clearinghouse.search.backends.sqlite_text import SqliteIndex
from crawler import bulk_sql as sql
from crawler.bulk_sql import Batch
from tests.tsql import server

_PRODUCT = ("clearinghouse.", "crawler.", "crawlpoints.")
_MIGRATING = ("django.db.migrations", "django.core.management.commands.migrate")  # see test_tables.py
# Both ask the server's kind first, and tell SQL Server the rows that are not there. So does Django for its link tables.
_DECIDED_BY_SERVER = (
    "crawler.findings.diagnosis._add_new",
    "clearinghouse.database.adoption.required_rows._add_missing",
)
_NOT_OURS = ("SAVEPOINT", "RELEASE", "ROLLBACK", "PRAGMA")
_ELSEWHERE = (" ON CONFLICT DO NOTHING",)  # of Batch.insert, whose form for SQL Server is taken there
_ASKED = ("ensure", "exists", "missing", "add", "remove", "matches", "having", "frequency", "finds", "holding", "facts",
          "alike", "among", "settled", "tidy")  # fmt: skip
_COMPILERS = (compiler.SQLCompiler, compiler.SQLInsertCompiler, compiler.SQLUpdateCompiler, compiler.SQLDeleteCompiler,
              compiler.SQLAggregateCompiler)  # fmt: skip


# What carries other people's statements: the place is that of who gave it one.
_CARRIERS = {
    "crawler.propagation.loading.load.execute",
    "crawler.propagation.loading.load._insert",
    "crawler.bulk_sql.execute_many",
    "crawler.bulk_sql.own_ids",
    "clearinghouse.search.backends.sql_index._rows",
    "clearinghouse.search.backends.sql_index._execute",
    "clearinghouse.database.adoption.introspection.rows",
    "clearinghouse.database.adoption.introspection.run",
    "clearinghouse.database.adoption.introspection.value",
}


@dataclass(frozen=True)
class Sent:
    """A statement as it is written and as the driver is given it, and where in the product it is sent from."""

    written: str
    sql: str
    parameters: int
    place: str
    by_hand: bool


@dataclass
class Recorder:
    sent: dict[Any, Sent] = field(default_factory=dict)  # each text once for each row of kinds of its parameters
    refused: dict[tuple[str, str], str] = field(default_factory=dict)  # what cannot be said to SQL Server at all
    executed: int = 0

    def __post_init__(self) -> None:
        self._servers: dict[str, Any] = {}
        self._inside = threading.local()

    def start(self) -> None:
        for kind in _COMPILERS:
            if "execute_sql" in vars(kind):
                kind.execute_sql = self._watching(kind.execute_sql)  # type: ignore[method-assign]
        for name in ("execute", "executemany"):
            setattr(CursorWrapper, name, self._reading(getattr(CursorWrapper, name), many=name == "executemany"))

        load = import_module("crawler.propagation.loading.load")  # it needs Django's tables, which stand by now
        for module in (sql, load):
            module.own_ids = self._numbering(module.own_ids)  # type: ignore[attr-defined]
        Batch.insert = self._both(Batch.insert)  # type: ignore[method-assign]
        for name in _ASKED:
            setattr(SqlIndex, name, self._indexing(name, getattr(SqlIndex, name)))
            for adapter in (ByName, SqliteIndex, PostgresIndex):
                if name in vars(adapter):
                    setattr(adapter, name, self._indexing(name, getattr(adapter, name)))

    def _both(self, insert: Callable[..., Any]) -> Callable[..., Any]:
        """The INSERT that SQL Server is sent in place of the one that stands in no line of its own there."""

        def inserted(batch: Any, table: str, columns: Any, rows: Any, **options: Any) -> Any:
            if rows:
                ignore = bool(options.get("ignore"))
                told = sql.insertion(sql.SQL_SERVER, table, columns, ignore=ignore)
                self._by_hand(told, [rows[0][0], *rows[0]] if ignore else rows[0], many=True)
            return insert(batch, table, columns, rows, **options)

        return inserted

    def _numbering(self, own_ids: Callable[..., Any]) -> Callable[..., Any]:
        """What SQL Server is told before rows that bring their ids."""

        def numbered(alias: str, table: str) -> Any:
            if table:
                self._by_hand(sql.numbering(table, mine=True), (), place=_place() or __name__)
            return own_ids(alias, table)

        return numbered

    def _indexing(self, name: str, ask: Callable[..., Any]) -> Callable[..., Any]:
        """What is asked of another server's full text index is asked of SQL Server's, too."""

        def asked(index: Any, *arguments: Any, **options: Any) -> Any:
            deaf = getattr(self._inside, "deaf", False)
            self._inside.deaf = True
            try:
                if not deaf and not isinstance(index, MssqlIndex):
                    getattr(_Deaf(self), name)(*arguments, **options)
                return ask(index, *arguments, **options)
            finally:
                self._inside.deaf = deaf

        return asked

    def _watching(self, execute: Callable[..., Any]) -> Callable[..., Any]:
        def watched(made: Any, *arguments: Any, **options: Any) -> Any:
            if getattr(self._inside, "orm", False):
                return execute(made, *arguments, **options)
            self._inside.orm = True
            try:
                self._compile(made)
                return execute(made, *arguments, **options)
            finally:
                self._inside.orm = False

        return watched

    def _compile(self, made: Any) -> None:
        place = _place()
        if not place:
            return
        self.executed += 1
        alias = made.connection.alias
        other = self._server(alias)
        query = made.query.clone()
        if isinstance(query, InsertQuery):
            if query.on_conflict and place not in _DECIDED_BY_SERVER and not query.model._meta.auto_created:
                self.refused[place, "rows that exist cannot be left out"] = "NotSupportedError"
            query.objs = query.objs[: max(1, other.ops.bulk_batch_size(list(query.fields), query.objs))]
        told = other.ops.compiler(type(made).__name__)(query, other, made.using)
        if hasattr(made, "returning_fields"):
            told.returning_fields = made.returning_fields
        connections[alias] = other  # a query inside another asks for its connection by name
        try:
            for sql, parameters in _statements(told.as_sql()):
                self._add(sql, parameters, place, other)
        except (compiler.EmptyResultSet, compiler.FullResultSet):
            return
        except (NotSupportedError, DatabaseError, NotImplementedError, AttributeError, TypeError, ValueError) as error:
            self.refused[place, str(error)] = type(error).__name__
        finally:
            connections[alias] = made.connection

    def _reading(self, execute: Callable[..., Any], many: bool) -> Callable[..., Any]:
        def read(cursor: Any, sql: str, parameters: Any = None, *rest: Any) -> Any:
            foreign = getattr(self._inside, "orm", False) or getattr(self._inside, "deaf", False)
            place = "" if foreign else _place()
            if place and not str(sql).startswith(_NOT_OURS) and not str(sql).endswith(_ELSEWHERE):
                self.executed += 1
                rows = parameters = list(parameters) if many else parameters
                self._by_hand(str(sql), rows[0] if many and rows else rows, many)
            return execute(cursor, sql, parameters, *rest)

        return read

    def _server(self, alias: str) -> Any:
        if alias not in self._servers:
            self._servers[alias] = server.connection(alias)
        return self._servers[alias]

    def _by_hand(self, sql: str, parameters: Any, many: bool = False, place: str = "") -> None:
        place = place or _place()
        try:
            self._add(sql, parameters, place, self._server("default"), by_hand=True, many=many)
        except (NotImplementedError, TypeError, ValueError, KeyError, IndexError) as error:
            self.refused[place, str(error)] = type(error).__name__

    def _add(
        self, sql: str, parameters: Any, place: str, other: Any, *, by_hand: bool = False, many: bool = False
    ) -> None:
        key = sql, tuple(type(one) for one in parameters or ())
        if key not in self.sent:
            sql, parameters = server.told(other, sql, parameters, many)
            self.sent[key] = Sent(key[0], sql, len(parameters), place, by_hand)


class _Deaf(MssqlIndex):
    """SQL Server's full text, asked and never answering."""

    def __init__(self, recorder: Recorder) -> None:
        self.alias = ""
        self._recorder = recorder

    def _execute(self, sql: str, values: Any = ()) -> int:
        self._recorder._by_hand(sql, list(values), place="clearinghouse.search.backends.sql_server_text")
        return 0

    def _rows(self, sql: str, values: Any = ()) -> list[Any]:
        self._execute(sql, values)
        return [(0,)] if "COUNT(" in sql else []

    def _add_facts(self, published_ids: Any) -> None:
        super()._add_facts(published_ids)
        told = f"INSERT INTO published_facts ({', '.join(FACTS)}) VALUES ({marks(FACTS)})"
        self._recorder._by_hand(told, FACTS, many=True, place="clearinghouse.search.backends.sql_server_text")


def _statements(compiled: Any) -> Iterator[tuple[str, Any]]:
    """An INSERT compiles to several statements."""
    yield from compiled if isinstance(compiled, list) else [compiled]


def _place() -> str:
    """Module and function of the product that is sending; empty for a test's own questions, and for migrations."""
    frame, place = sys._getframe(2), ""
    while frame is not None:
        name = frame.f_globals.get("__name__", "")
        if name.startswith(_MIGRATING) or (not place and name.startswith("tests.") and name != __name__):
            return ""
        here = f"{name}.{frame.f_code.co_name}"
        if not place and name.startswith(_PRODUCT) and here not in _CARRIERS:
            place = here
        frame = frame.f_back  # type: ignore[assignment]
    return place
