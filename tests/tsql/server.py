"""Owns: SQL Server as far as it can be had without one: Django's back end for it, compiling, never connecting.

mssql-django imports pyodbc, which wants a library of the system (unixODBC). Where that is missing an empty module
stands in its place, so that the back end can be imported; whoever tried to connect with it would get an AttributeError.
"""

import sys
from collections.abc import Sequence
from importlib import import_module
from types import ModuleType
from typing import Any

from clearinghouse.database.aliases import from_url

URL = "mssql://clearinghouse:secret@db.example.org/doc_library"
VERSION = 2019  # the oldest that docs/sql-server.md names
_DEFAULTS = {"TIME_ZONE": None, "ATOMIC_REQUESTS": False, "AUTOCOMMIT": True, "CONN_HEALTH_CHECKS": False}
_TEST = {"CHARSET": None, "COLLATION": None, "MIGRATE": True, "MIRROR": None, "NAME": None}


def _driver() -> None:
    try:
        import_module("pyodbc")
    except ImportError:
        stand_in = ModuleType("pyodbc")
        stand_in.version = "5.3.0"  # type: ignore[attr-defined]
        names = ("BIGINT", "BINARY", "BIT", "CHAR", "DECIMAL", "DOUBLE", "FLOAT", "GUID", "INTEGER", "LONGVARBINARY",
                 "LONGVARCHAR", "NUMERIC", "REAL", "SMALLINT", "SS_TIME2", "TINYINT", "TYPE_DATE", "TYPE_TIME",
                 "TYPE_TIMESTAMP", "VARBINARY", "VARCHAR", "WCHAR", "WLONGVARCHAR", "WVARCHAR")  # fmt: skip
        for number, name in enumerate(names):
            setattr(stand_in, f"SQL_{name}", -1000 - number)
        for name in ("Error", "DataError", "DatabaseError", "IntegrityError", "InterfaceError", "InternalError",
                     "NotSupportedError", "OperationalError", "ProgrammingError", "Warning"):  # fmt: skip
            setattr(stand_in, name, type(name, (Exception,), {}))
        stand_in.Binary = bytearray  # type: ignore[attr-defined]
        sys.modules["pyodbc"] = stand_in


def connection(alias: str = "default") -> Any:
    """A connection of the product's own settings for SQL Server; every question to the server has its answer here."""
    _driver()
    wrapper = import_module("clearinghouse.database.sql_server.base").DatabaseWrapper
    made = wrapper({**_DEFAULTS, **from_url(URL), "TEST": _TEST}, alias)
    made.__dict__ |= {"sql_server_version": VERSION, "to_azure_sql_db": False}
    # As inside a transaction: SELECT … FOR UPDATE asks for one.
    made.__dict__ |= {"ensure_connection": lambda: None, "autocommit": False, "in_atomic_block": True}
    # Django's own early migrations ask which constraints stand there: none that would be in their way.
    made.__dict__["cursor"] = _Silent
    made.introspection.get_constraints = lambda cursor, table: {}
    return made


def told(server: Any, sql: str, parameters: Sequence[Any] | None, many: bool = False) -> tuple[str, Sequence[Any]]:
    """Text and parameters as the driver is given them: a question that groups declares variables of its own."""
    tape = _Tape()
    cursor = import_module("clearinghouse.database.sql_server.base").Cursor(tape, server)
    if many:
        cursor.executemany(sql, [parameters or ()])
    else:
        cursor.execute(sql, parameters)
    return tape.sql, tape.parameters


class _Tape:
    """A cursor of a driver that writes down what it is given."""

    def execute(self, sql: str, parameters: Sequence[Any] = ()) -> None:
        self.sql, self.parameters = sql, parameters

    def executemany(self, sql: str, rows: Sequence[Sequence[Any]]) -> None:
        self.sql, self.parameters = sql, rows[0]


class _Silent:
    """Asked, it answers that there is nothing."""

    rowcount = 0

    def __enter__(self) -> "_Silent":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, *_: object) -> "_Silent":
        return self

    def fetchall(self) -> list[object]:
        return []

    def fetchone(self) -> None:
        return None
