"""Owns: what stands in a database now: tables, views, columns, rows. Does not: change anything. Called by: adoption."""

from typing import Any

from django.db import connections

TABLE_KINDS = {"t", "p"}
_OF_POSTGRES = (
    "SELECT attname FROM pg_attribute WHERE attrelid = CAST(%s AS regclass) AND attnum > 0 AND NOT attisdropped"
    " ORDER BY attnum"
)


def tables(connection: Any) -> dict[str, str]:
    """Real tables: lower-case name -> name as it stands. Names are compared without case on every server."""
    return _things(connection, TABLE_KINDS)


def view_names(connection: Any) -> dict[str, str]:
    return _things(connection, {"v"})


def _things(connection: Any, kinds: set[str]) -> dict[str, str]:
    with connection.cursor() as cursor:
        return {
            info.name.lower(): info.name
            for info in connection.introspection.get_table_list(cursor)
            if info.type in kinds
        }


def is_empty(alias: str) -> bool:
    """Nothing stands there at all: the database is to be created, not adopted."""
    return not tables(connections[alias])


def count(connection: Any, table: str) -> int:
    return int(value(connection, f"SELECT count(*) FROM {quoted(connection, table)}"))  # noqa: S608


def column_names(connection: Any, table: str) -> dict[str, str]:
    """Lower-case name -> name as it stands, in the order of the table."""
    if connection.vendor == "postgresql":  # Django would read a row for it, and that row may be unreadable
        return {name.lower(): name for (name,) in rows(connection, _OF_POSTGRES, (quoted(connection, table),))}
    with connection.cursor() as cursor:
        return {
            column.name.lower(): column.name for column in connection.introspection.get_table_description(cursor, table)
        }


def quoted(connection: Any, name: str) -> str:
    return str(connection.ops.quote_name(name))


def value(connection: Any, sql: str, params: Any = ()) -> Any:
    row = rows(connection, sql, params)
    return row[0][0] if row else None


def rows(connection: Any, sql: str, params: Any = ()) -> list[tuple[Any, ...]]:
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        return list(cursor.fetchall())


def run(connection: Any, sql: str, params: Any = ()) -> int:
    with connection.cursor() as cursor:
        cursor.execute(sql, params or None)
        return int(cursor.rowcount)
