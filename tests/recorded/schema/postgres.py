"""Owns: the schema of the four databases on PostgreSQL."""

import tempfile
from pathlib import Path
from typing import Any

from tests.recorded.schema.sqlite import migrations, one_line

_COLUMNS = """
SELECT c.relname, a.attname, format_type(a.atttypid, a.atttypmod)
       || CASE WHEN a.attnotnull THEN ' not null' ELSE ' null' END
       || coalesce(' default ' || pg_get_expr(d.adbin, d.adrelid), '')
       || CASE a.attidentity WHEN '' THEN '' ELSE ' identity' END
       || coalesce(' collate ' || (SELECT collname FROM pg_collation
                                    WHERE oid = a.attcollation AND collname <> 'default'), '')
  FROM pg_attribute a JOIN pg_class c ON c.oid = a.attrelid AND c.relkind = 'r'
  JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public'
  LEFT JOIN pg_attrdef d ON d.adrelid = a.attrelid AND d.adnum = a.attnum
 WHERE a.attnum > 0 AND NOT a.attisdropped
"""
_INDEXES = "SELECT tablename, indexname, indexdef FROM pg_indexes WHERE schemaname = 'public'"
_CONSTRAINTS = """
SELECT CAST(CAST(conrelid AS regclass) AS text), conname, pg_get_constraintdef(oid) FROM pg_constraint
 WHERE connamespace = CAST('public' AS regnamespace) AND conrelid <> 0
"""
_NAMED = {
    "views": "SELECT viewname, definition FROM pg_views WHERE schemaname = 'public'",
    "functions": "SELECT p.proname, pg_get_functiondef(p.oid) FROM pg_proc p LEFT JOIN pg_depend d ON d.objid = p.oid"
    " AND d.deptype = 'e' WHERE p.pronamespace = CAST('public' AS regnamespace) AND d.objid IS NULL",
    "triggers": "SELECT tgname, pg_get_triggerdef(oid) FROM pg_trigger WHERE NOT tgisinternal",
    "extensions": "SELECT extname, '' FROM pg_extension",
    "text search": "SELECT cfgname, '' FROM pg_ts_config WHERE cfgnamespace = CAST('public' AS regnamespace)"
    " UNION ALL SELECT dictname, '' FROM pg_ts_dict WHERE dictnamespace = CAST('public' AS regnamespace)",
}
_ALIASES = {"default": "library", "webcrawl": "webcrawl", "primary": "primary", "backup": "backup"}


def record(before: dict[str, Any]) -> dict[str, Any]:
    """On a throw-away server; nothing is recorded, and nothing compared, where none is installed."""
    from tests import postgres
    from tests.flow import elsewhere

    programs = postgres.programs()
    if programs is None:
        print("PostgreSQL is not installed: its schema was not looked at")
        return before
    server = postgres.Server(programs, durable=True)
    try:
        with tempfile.TemporaryDirectory(prefix="schema-") as folder:
            elsewhere.prepare(Path(folder), server)
            told = {alias: _of_database(server, f"like_{name}") for alias, name in _ALIASES.items()}
    finally:
        server.stop()
    return {"schema-postgres.json": told}


def _of_database(server: Any, name: str) -> dict[str, Any]:
    def rows(sql: str) -> list[tuple]:
        return server.execute(sql, database=name)

    tables: dict[str, dict[str, dict[str, str]]] = {}
    for kind, sql in (("columns", _COLUMNS), ("indexes", _INDEXES), ("constraints", _CONSTRAINTS)):
        for table, one, text in rows(sql):
            tables.setdefault(table.strip('"'), {}).setdefault(kind, {})[one] = one_line(text)
    told = {kind: {one: one_line(text) for one, text in rows(sql)} for kind, sql in _NAMED.items()}
    applied = migrations(rows("SELECT app, name FROM django_migrations"))
    return {"tables": tables, "migrations": applied} | told
