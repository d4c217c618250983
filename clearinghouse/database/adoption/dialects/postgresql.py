"""PostgreSQL."""

import re
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from django.conf import settings

from ..introspection import quoted, rows, run, value

_LOCK = 7_243_905_118  # any number, the same in every version of this program
_INTEGERS = ["smallint", "integer", "bigint"]
_COLUMNS = """
SELECT a.attname, format_type(a.atttypid, a.atttypmod), pg_get_expr(d.adbin, d.adrelid), a.attidentity, a.attnotnull
  FROM pg_attribute a LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE a.attrelid = CAST(%s AS regclass) AND a.attnum > 0 AND NOT a.attisdropped
"""
_USERS = """
WITH RECURSIVE users(oid, level) AS (
  SELECT CAST(CAST(n AS regclass) AS oid), 0 FROM unnest(CAST(%s AS text[])) n
   UNION ALL
  SELECT r.ev_class, u.level + 1 FROM users u JOIN pg_depend d ON d.refobjid = u.oid AND d.deptype = 'n'
    JOIN pg_rewrite r ON r.oid = d.objid AND d.classid = CAST('pg_rewrite' AS regclass) WHERE r.ev_class <> u.oid)
SELECT c.oid, CAST(CAST(c.oid AS regclass) AS text), c.relkind, pg_get_viewdef(c.oid),
       quote_ident(pg_get_userbyid(c.relowner)), c.relname
  FROM users u JOIN pg_class c ON c.oid = u.oid AND c.relkind IN ('v', 'm') WHERE u.level > 0
 GROUP BY c.oid, c.relkind, c.relowner, c.relname ORDER BY max(u.level) DESC
"""
_GRANTS = """
SELECT x.privilege_type, CASE x.grantee WHEN 0 THEN 'PUBLIC' ELSE quote_ident(pg_get_userbyid(x.grantee)) END
  FROM pg_class c, aclexplode(c.relacl) x WHERE c.oid = %s AND x.grantee <> c.relowner
"""
_OWNER = "SELECT quote_ident(pg_get_userbyid(relowner)) FROM pg_class WHERE oid = CAST(%s AS regclass)"
_INDEXES = "SELECT pg_get_indexdef(indexrelid) FROM pg_index WHERE indrelid = %s"
# Other programs insert their own ids beside the sequence; the default therefore looks before it gives one out.
_NEXT_ID = """
CREATE OR REPLACE FUNCTION clearinghouse_next_id(numbers regclass, home regclass, key name) RETURNS bigint
LANGUAGE plpgsql AS $$
DECLARE highest bigint; given bigint;
BEGIN
  EXECUTE format('SELECT coalesce(max(%I), 0) FROM %s', key, home) INTO highest;
  LOOP
    given := nextval(numbers);
    EXIT WHEN given > highest;
  END LOOP;
  RETURN given;
END $$
"""


@contextmanager
def locked(connection: Any) -> Iterator[None]:
    """One `prepare` at a time, over all machines."""
    value(connection, "SELECT CAST(pg_advisory_lock(%s) AS text)", (_LOCK,))
    try:
        yield
    finally:
        if connection.is_usable():
            value(connection, "SELECT pg_advisory_unlock(%s)", (_LOCK,))


def erase_deleted(connection: Any) -> None:
    """The server decides when it reuses the space of overwritten rows."""


def flush(connection: Any) -> None:
    """Nothing lies beside a server's database."""


def create_view(connection: Any, name: str, sql: str, mark: str) -> None:
    run(connection, sql)
    run(connection, f"COMMENT ON VIEW {quoted(connection, name)} IS '{mark}'")


def stored_view(connection: Any, name: str) -> str | None:
    found: str | None = value(
        connection,
        "SELECT coalesce(obj_description(oid), '') FROM pg_class"
        " WHERE relkind = 'v' AND relname = %s AND pg_table_is_visible(oid)",
        (name,),
    )
    return found


def views_using(connection: Any, names: set[str], ours: set[str]) -> list[tuple[str, list[str]]]:
    """(statement that drops, statements that put back) of each view that uses one of these names, users first."""
    with connection.cursor() as cursor:
        there = {info.name for info in connection.introspection.get_table_list(cursor)}
    found = []
    start = [quoted(connection, name) for name in there if name in names]
    for oid, view, kind, definition, owner, name in rows(connection, _USERS, (start,)) if start else []:
        if name in ours:
            continue
        word = "MATERIALIZED VIEW" if kind == "m" else "VIEW"
        grants = [f"GRANT {right} ON {view} TO {who}" for right, who in rows(connection, _GRANTS, (oid,))]
        # A definition holds percent signs as they are; run() passes no parameters, so they stay so.
        indexes = [sql for (sql,) in rows(connection, _INDEXES, (oid,))]
        put_back = [f"CREATE {word} {view} AS {definition}", f"ALTER {word} {view} OWNER TO {owner}", *grants, *indexes]
        found.append((f"DROP {word} {view}", put_back))
    return found


def rights_to_read(connection: Any, name: str) -> list[str]:
    """Statements that give a new view of this name the readers the table or view has now."""
    home = quoted(connection, name)
    oid = value(connection, "SELECT CAST(to_regclass(%s) AS oid)", (home,))
    given = rows(connection, _GRANTS, (oid,)) if oid else []
    return [f"GRANT {right} ON {home} TO {who}" for right, who in given if right == "SELECT"]


def addable(field: Any) -> None:
    """PostgreSQL adds a column with any default."""


def widen(connection: Any, table: str, fields: list[Any]) -> list[str]:
    """Make the columns of these fields as wide as the fields; the names of those changed."""
    columns = {row[0].lower(): row for row in rows(connection, _COLUMNS, (quoted(connection, table),))}
    changed = []
    for field in fields:
        name, kind, default, *_ = columns[field.column.lower()]
        change = _change(quoted(connection, name), kind, field.db_type(connection))
        if change and default and kind == "bytea":
            run(connection, f"ALTER TABLE {quoted(connection, table)} ALTER {quoted(connection, name)} DROP DEFAULT")
        if change:
            run(connection, f"ALTER TABLE {quoted(connection, table)} ALTER {quoted(connection, name)} TYPE {change}")
            changed.append(name)
    return changed


def _change(column: str, kind: str, wanted: str) -> str | None:
    """What follows ALTER … TYPE, or None when the column is wide enough."""
    narrow = re.fullmatch(r"character(?: varying)?\((\d+)\)", kind)
    if narrow and (wanted == "text" or _width(wanted) > int(narrow[1])):
        return wanted
    if kind in _INTEGERS and wanted in _INTEGERS:
        return wanted if _INTEGERS.index(kind) < _INTEGERS.index(wanted) else None
    if wanted == "timestamp with time zone" and kind in {"timestamp without time zone", "date"}:
        zone = settings.TIME_ZONE.replace("'", "''")
        return f"{wanted} USING CAST({column} AS timestamp) AT TIME ZONE '{zone}'"
    if wanted == "timestamp with time zone" and kind.startswith(("character", "text")):  # each was looked at before
        return f"{wanted} USING CAST(NULLIF(btrim({column}), '') AS {wanted})"
    return f"bigint USING {_AS_NUMBER[kind].format(column)}" if wanted == "bigint" and kind in _AS_NUMBER else None


# A ts that was carried over from SQL Server as eight bytes, or as a time: the same order, as a number.
_AS_NUMBER = {
    "bytea": "CAST(CAST('x' || lpad(right(encode({0}, 'hex'), 16), 16, '0') AS bit(64)) AS bigint)"
    " & 9223372036854775807",
    "timestamp without time zone": "CAST(extract(epoch FROM {0}) * 1000000 AS bigint)",
    "timestamp with time zone": "CAST(extract(epoch FROM {0}) * 1000000 AS bigint)",
}


def _width(kind: str) -> int:
    found = re.search(r"\((\d+)\)", kind)
    return int(found[1]) if found else 0


def required(connection: Any, table: str) -> dict[str, str]:
    """Columns that every INSERT must give: lower-case name -> type."""
    columns = rows(connection, _COLUMNS, (quoted(connection, table),))
    return {
        name.lower(): kind for name, kind, default, numbered, never in columns if never and not (default or numbered)
    }


def give_ids(connection: Any, table: str, column: str) -> bool:
    """Give the key a default, so that rows inserted without an id get one. True if it had none."""
    home, key = quoted(connection, table), quoted(connection, column)
    columns = {row[0].lower(): row for row in rows(connection, _COLUMNS, (home,))}
    _, _, default, identity, _ = columns[column.lower()]
    if not _is_unique(connection, table, column):
        run(connection, f"ALTER TABLE {home} ADD PRIMARY KEY ({key})")
    if default or identity:
        # Rows that came with their ids (copied, restored) left the sequence behind.
        start_ids_above(connection, table, column, value(connection, f"SELECT max({key}) FROM {home}") or 0)  # noqa: S608
        return False
    numbers = quoted(connection, f"{table}_{column}_numbers")
    run(connection, _NEXT_ID)
    run(connection, f"CREATE SEQUENCE {numbers}")
    run(
        connection, f"ALTER SEQUENCE {numbers} OWNER TO {value(connection, _OWNER, (home,))}"
    )  # a table of a role we are in
    run(connection, f"ALTER SEQUENCE {numbers} OWNED BY {home}.{key}")
    call = f"clearinghouse_next_id('{numbers}'::regclass, '{home}'::regclass, '{column}')"
    run(connection, f"ALTER TABLE {home} ALTER {key} SET DEFAULT {call}")
    return True


def _is_unique(connection: Any, table: str, column: str) -> bool:
    with connection.cursor() as cursor:
        constraints = connection.introspection.get_constraints(cursor, table).values()
    alone = [found for found in constraints if [name.lower() for name in found["columns"] or []] == [column.lower()]]
    return any(found["unique"] or found["primary_key"] for found in alone)


def start_ids_above(connection: Any, table: str, column: str, floor: int) -> None:
    """The next row gets an id above `floor`; never lowers."""
    numbers = value(connection, "SELECT pg_get_serial_sequence(%s, %s)", (quoted(connection, table), column))
    if numbers is None:
        return
    last = value(connection, f"SELECT CASE WHEN is_called THEN last_value ELSE last_value - 1 END FROM {numbers}")  # noqa: S608
    if last < floor:
        value(connection, "SELECT setval(%s, %s)", (numbers, floor))


def dangling(connection: Any) -> int:
    return 0


def as_bytes(column: str) -> str:
    """The bytes of a text or of how a time is written; a database of SQL_ASCII holds any."""
    return f"convert_to(CAST({column} AS text), getdatabaseencoding())"


def all_columns(connection: Any) -> list[tuple[Any, ...]]:
    """(table, column, type, whether it must be given) of everything that is seen without naming a schema."""
    return rows(
        connection,
        "SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod), a.attnotnull"
        " FROM pg_class c JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0 AND NOT a.attisdropped"
        " WHERE c.relkind IN ('r', 'p') AND pg_table_is_visible(c.oid)",
    )


def too_narrow(kind: str, wanted: str) -> bool:
    """Whether values of the wanted type would not fit. Of types that are nothing alike: they would not, either."""
    if kind.startswith("character") and wanted.startswith(("varchar", "text", "character")):
        width = _width(kind)
        return width > 0 and (not _width(wanted) or _width(wanted) > width)
    if kind in _INTEGERS and wanted.split()[0] in _INTEGERS:
        return _INTEGERS.index(kind) < _INTEGERS.index(wanted.split()[0])
    families = [next((family for family in _FAMILIES if one.startswith(family)), "") for one in (kind, wanted)]
    return all(families) and _FAMILIES[families[0]] != _FAMILIES[families[1]]


# How the types begin that Django and old libraries use, and which of them take each other's values.
_FAMILIES = {
    "smallint": 1, "integer": 1, "bigint": 1, "serial": 1, "bigserial": 1, "character": 2, "varchar": 2, "text": 2,
    "timestamp": 3, "date": 4, "bytea": 5, "boolean": 6, "jsonb": 7, "double": 8, "uuid": 9,
}  # fmt: skip
