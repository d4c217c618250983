"""SQL Server. Plain statements that were reviewed, not run: no such server was at hand when this was written.

A `timestamp` (rowversion) column is numbered by the server itself and refuses to be written. is_numbered_by_server()
tells; the hook for leaving it out of our INSERTs and UPDATEs is clearinghouse.database.records, column ts.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from ..introspection import quoted, rows, run, value

_LOCK = "clearinghouse prepare"
_COLUMNS = (
    "SELECT COLUMN_NAME, DATA_TYPE, CHARACTER_MAXIMUM_LENGTH, IS_NULLABLE, COLUMN_DEFAULT,"
    " COLUMNPROPERTY(OBJECT_ID(TABLE_NAME), COLUMN_NAME, 'IsIdentity')"
    "  FROM INFORMATION_SCHEMA.COLUMNS WHERE TABLE_NAME = %s"
)


@contextmanager
def locked(connection: Any) -> Iterator[None]:
    run(connection, f"EXEC sp_getapplock @Resource = '{_LOCK}', @LockMode = 'Exclusive', @LockOwner = 'Session'")
    try:
        yield
    finally:
        run(connection, f"EXEC sp_releaseapplock @Resource = '{_LOCK}', @LockOwner = 'Session'")


def erase_deleted(connection: Any) -> None:
    """The server decides when it reuses the space of overwritten rows."""


def flush(connection: Any) -> None:
    """Nothing lies beside a server's database."""


def create_view(connection: Any, name: str, sql: str, mark: str) -> None:
    run(connection, sql)


def stored_view(connection: Any, name: str) -> str | None:
    found: str | None = value(connection, "SELECT OBJECT_DEFINITION(OBJECT_ID(%s, 'V'))", (name,))
    return found


def views_using(connection: Any, names: set[str], ours: set[str]) -> list[tuple[str, list[str]]]:
    """None: SQL Server lets a view stand while what it uses is dropped and made again."""
    return []


def is_numbered_by_server(connection: Any, table: str, column: str) -> bool:
    found = rows(connection, f"{_COLUMNS} AND COLUMN_NAME = %s", (table, column))
    return bool(found) and found[0][1] in {"timestamp", "rowversion"}


def rights_to_read(connection: Any, name: str) -> list[str]:
    """An administrator grants them anew; the old table keeps its own."""
    return []


def addable(field: Any) -> None:
    """SQL Server adds a column with any default."""


def widen(connection: Any, table: str, fields: list[Any]) -> list[str]:
    columns = {row[0].lower(): row for row in rows(connection, _COLUMNS, (table,))}
    changed = []
    for field in fields:
        name, kind, width, nullable, *_ = columns[field.column.lower()]
        wanted = field.db_type(connection)
        if kind in {"char", "varchar", "nchar", "nvarchar"} and 0 < width < (getattr(field, "max_length", 0) or 0):
            null = "NULL" if nullable == "YES" else "NOT NULL"
            run(
                connection,
                f"ALTER TABLE {quoted(connection, table)} ALTER COLUMN {quoted(connection, name)} {wanted} {null}",
            )
            changed.append(name)
    return changed


def required(connection: Any, table: str) -> dict[str, str]:
    """Columns that every INSERT must give: lower-case name -> type."""
    return {
        name.lower(): kind
        for name, kind, _, nullable, default, identity in rows(connection, _COLUMNS, (table,))
        if nullable == "NO" and default is None and not identity and kind not in {"timestamp", "rowversion"}
    }


def give_ids(connection: Any, table: str, column: str) -> bool:
    """A key that is not IDENTITY cannot become one; a sequence as its default does the same."""
    has = "SELECT COLUMNPROPERTY(OBJECT_ID(%s), %s, 'IsIdentity')"
    default = "SELECT default_object_id FROM sys.columns WHERE object_id = OBJECT_ID(%s) AND name = %s"
    if value(connection, has, (table, column)) or value(connection, default, (table, column)):
        return False
    home, key = quoted(connection, table), quoted(connection, column)
    numbers = quoted(connection, f"{table}_{column}_numbers")
    first = value(connection, f"SELECT COALESCE(MAX({key}), 0) + 1 FROM {home}")  # noqa: S608
    run(connection, f"CREATE SEQUENCE {numbers} AS bigint START WITH {first}")
    run(connection, f"ALTER TABLE {home} ADD DEFAULT NEXT VALUE FOR {numbers} FOR {key}")
    return True


def start_ids_above(connection: Any, table: str, column: str, floor: int) -> None:
    current = value(connection, "SELECT CAST(IDENT_CURRENT(%s) AS bigint)", (table,))
    if current < floor:
        run(connection, f"DBCC CHECKIDENT ('{table}', RESEED, {int(floor)})")


def dangling(connection: Any) -> int:
    return 0


def as_bytes(column: str) -> str:
    """SQL Server stores no text that is not one, and no date that is none."""
    return column


def all_columns(connection: Any) -> list[tuple[Any, ...]]:
    """(table, column, type, whether it must be given) of everything in the database."""
    return rows(
        connection,
        "SELECT TABLE_NAME, COLUMN_NAME, DATA_TYPE, CASE WHEN IS_NULLABLE = 'NO' AND COLUMN_DEFAULT IS NULL"
        " THEN 1 ELSE 0 END FROM INFORMATION_SCHEMA.COLUMNS",
    )


def too_narrow(kind: str, wanted: str) -> bool:
    """Not judged: what INFORMATION_SCHEMA calls a type and how it is declared differ in too many ways."""
    return False
