"""SQLite. A column's width is not enforced, and a key gives ids only when it is declared exactly INTEGER."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import UTC, datetime
from typing import Any

from django.db.models import NOT_PROVIDED, IntegerField, Value

from ..introspection import quoted, rows, run, value
from .create_table import renamed, with_type

_READ_AS_TIMES = {"timestamp", "datetime", "date", "time"}
_MASTER = "SELECT name, sql FROM sqlite_master WHERE type = %s AND sql IS NOT NULL"


@contextmanager
def locked(connection: Any) -> Iterator[None]:
    """The file lock is taken by adoption.locks; nothing more to do."""
    yield


def erase_deleted(connection: Any) -> None:
    """From here on overwritten and dropped content is wiped from the file: plain passwords are among it."""
    run(connection, "PRAGMA secure_delete = ON")


def flush(connection: Any) -> None:
    """Bring all into the file itself and empty the log beside it, as far as other readers let us."""
    rows(connection, "PRAGMA wal_checkpoint(TRUNCATE)")


def create_view(connection: Any, name: str, sql: str, mark: str) -> None:
    run(connection, sql)


def stored_view(connection: Any, name: str) -> str | None:
    found: str | None = value(connection, "SELECT sql FROM sqlite_master WHERE type = 'view' AND name = %s", (name,))
    return found


def views_using(connection: Any, names: set[str], ours: set[str]) -> list[tuple[str, list[str]]]:
    """(statement that drops, statements that put back) of each view that uses one of these names, users first."""
    found: list[tuple[str, list[str]]] = []
    wanted = {name.lower() for name in names}
    left = {name: sql for name, sql in rows(connection, _MASTER, ("view",)) if name.lower() not in ours}
    while users := [name for name, sql in left.items() if wanted & set(re.findall(r"\w+", sql.lower()))]:
        for name in users:
            triggers = rows(connection, f"{_MASTER} AND tbl_name = %s", ("trigger", name))
            found.insert(0, (f"DROP VIEW {quoted(connection, name)}", [left.pop(name), *(sql for _, sql in triggers)]))
            wanted.add(name.lower())
    return found


def rights_to_read(connection: Any, name: str) -> list[str]:
    """SQLite knows no users."""
    return []


def addable(field: Any) -> None:
    """SQLite adds no column whose default must be computed."""
    if field.has_db_default() and not isinstance(field._db_default_expression, Value):
        field.db_default = NOT_PROVIDED
        field.null = True


def widen(connection: Any, table: str, fields: list[Any]) -> list[str]:
    """Widths are not enforced; but a number declared as a time is read as a time by Django's driver, as nothing."""
    kinds = _declared(connection, table)
    changed: list[str] = [
        name
        for name in [str(field.column) for field in fields if isinstance(field, IntegerField)]
        if kinds[name.lower()].lower() in _READ_AS_TIMES
    ]
    if changed:
        sql = _definition(connection, table)
        for column in changed:
            sql = with_type(sql, column, "bigint")
        connection.connection.create_function("clearinghouse_number", 1, as_number, deterministic=True)
        _rebuild(connection, table, sql, numbers=set(changed))
    return changed


def required(connection: Any, table: str) -> dict[str, str]:
    """Columns that every INSERT must give: lower-case name -> type."""
    return {row[1].lower(): row[2] for row in _info(connection, table) if row[3] and row[4] is None and not row[5]}


def give_ids(connection: Any, table: str, column: str) -> bool:
    """Rebuild the table with its key declared INTEGER, so that rows inserted without an id get one. True if it did."""
    keys = [row[1].lower() for row in _info(connection, table) if row[5]]
    if keys == [column.lower()] and _declared(connection, table)[column.lower()].upper() == "INTEGER":
        return False
    kind = "INTEGER" if keys else "INTEGER PRIMARY KEY"
    _rebuild(connection, table, with_type(_definition(connection, table), column, kind))
    return True


def as_number(stored: Any) -> int | None:
    """A ts carried over from SQL Server (eight bytes), or kept as a time, as a number in the same order."""
    if stored is None or isinstance(stored, int):
        return stored
    if isinstance(stored, bytes):
        return int.from_bytes(stored[-8:], "big") & 0x7FFF_FFFF_FFFF_FFFF
    try:
        return int(datetime.fromisoformat(str(stored)).replace(tzinfo=UTC).timestamp() * 1_000_000)
    except ValueError:
        return int(stored) if str(stored).strip().isdigit() else 1


def _info(connection: Any, table: str) -> list[tuple[Any, ...]]:
    return rows(connection, f"PRAGMA table_info({quoted(connection, table)})")


def _declared(connection: Any, table: str) -> dict[str, str]:
    return {row[1].lower(): row[2] for row in _info(connection, table)}


def _definition(connection: Any, table: str) -> str:
    return next(str(sql) for name, sql in rows(connection, _MASTER, ("table",)) if name.lower() == table.lower())


def _rebuild(connection: Any, table: str, sql: str, numbers: frozenset[str] | set[str] = frozenset()) -> None:
    """The procedure of sqlite.org/lang_altertable.html, with all columns, indexes and triggers of the table."""
    beside = "SELECT sql FROM sqlite_master WHERE tbl_name = %s AND type IN ('index', 'trigger') AND sql IS NOT NULL"
    extras = [extra for (extra,) in rows(connection, beside, (table,))]
    fresh = f"{table}__rebuilt"
    old, new = quoted(connection, table), quoted(connection, fresh)
    names = [quoted(connection, row[1]) for row in _info(connection, table)]
    taken = [f"clearinghouse_number({name})" if name.strip('"') in numbers else name for name in names]
    run(connection, renamed(sql, fresh))
    highest = _highest_id_given(connection, table)
    run(connection, f"INSERT INTO {new} ({', '.join(names)}) SELECT {', '.join(taken)} FROM {old}")  # noqa: S608
    run(connection, f"DROP TABLE {old}")
    # In its newer way RENAME reads every view and trigger, and refuses while one of them misses the dropped table.
    run(connection, "PRAGMA legacy_alter_table = ON")
    run(connection, f"ALTER TABLE {new} RENAME TO {old}")
    run(connection, "PRAGMA legacy_alter_table = OFF")
    for extra in extras:
        run(connection, extra)
    if highest is not None:
        start_ids_above(connection, table, "", highest)


def start_ids_above(connection: Any, table: str, column: str, floor: int) -> None:
    """The next row gets an id above `floor`; never lowers."""
    current = _highest_id_given(connection, table)
    if current is None:
        run(connection, "INSERT INTO sqlite_sequence (name, seq) VALUES (%s, %s)", (table, floor))
    elif current < floor:
        run(connection, "UPDATE sqlite_sequence SET seq = %s WHERE name = %s", (floor, table))


def _highest_id_given(connection: Any, table: str) -> int | None:
    """Only tables with AUTOINCREMENT remember it, and the list of them exists only when there is one."""
    if value(connection, "SELECT 1 FROM sqlite_master WHERE name = 'sqlite_sequence'") is None:
        return None
    given: int | None = value(connection, "SELECT seq FROM sqlite_sequence WHERE name = %s", (table,))
    return given


def dangling(connection: Any) -> int:
    """Rows that refer to rows that are not there (SQLite checks this only for programs that ask for it)."""
    return len(rows(connection, "PRAGMA foreign_key_check"))


def as_bytes(column: str) -> str:
    """The bytes of a text, without the driver's reading of what the column is declared to hold."""
    return f"CAST({column} AS BLOB)"


def all_columns(connection: Any) -> list[tuple[Any, ...]]:
    """(table, column, type, whether it must be given) of everything in the database."""
    sql = 'SELECT m.name, p.name, p.type, p."notnull" FROM sqlite_master m, pragma_table_info(m.name) p'
    return rows(connection, f"{sql} WHERE m.type = 'table'")


def too_narrow(kind: str, wanted: str) -> bool:
    """A type says nothing here: every column takes every value."""
    return False
