"""Owns: what stood on our views while they are down: other people's views, rights to read. Called by: views, results.

The statements that put them back lie in a table, written in the transaction that takes them down and removed in the
one that puts them back: a process killed in between loses nothing. The table stands only as long as it holds some.
"""

from typing import Any

from . import introspection

_TABLE = "clearinghouse_kept"
_TEXT = {"microsoft": "nvarchar(max)"}


def keep(connection: Any, statements: list[str]) -> None:
    """Remember these, in this order, before all that was kept earlier (what is used is put back before its users)."""
    if not statements:
        return
    if _TABLE not in introspection.tables(connection):
        kind = _TEXT.get(connection.vendor, "text")
        introspection.run(connection, f"CREATE TABLE {_TABLE} (place integer NOT NULL, statement {kind} NOT NULL)")
    first = (introspection.value(connection, f"SELECT min(place) FROM {_TABLE}") or 0) - len(statements)  # noqa: S608
    for place, statement in enumerate(statements, start=first):
        introspection.run(connection, f"INSERT INTO {_TABLE} (place, statement) VALUES (%s, %s)", (place, statement))  # noqa: S608


def put_back(connection: Any) -> None:
    """Run what was kept and forget it; call it inside a transaction."""
    if _TABLE in introspection.tables(connection):
        for (statement,) in introspection.rows(connection, f"SELECT statement FROM {_TABLE} ORDER BY place"):  # noqa: S608
            introspection.run(connection, statement)
        introspection.run(connection, f"DROP TABLE {_TABLE}")
