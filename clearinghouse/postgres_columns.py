"""Owns: what only PostgreSQL is told of a column, as operations of migrations that do nothing elsewhere.

Called by: migrations, and by search for the index that no migration makes.
"""

from typing import Any

from django.db import migrations

_HAS_LZ4 = "SELECT 'lz4' = ANY(enumvals) FROM pg_settings WHERE name = 'default_toast_compression'"


def quickly_compressed(app: str, model: str, *fields: str) -> migrations.RunPython:
    """Large columns are packed by lz4 in place of pglz, which took two thirds of the time of storing a page."""

    def tell(apps: Any, editor: Any) -> None:
        table, columns = _table(apps, app, model, fields)
        if editor.connection.vendor == "postgresql":
            for statement in compression(editor.connection, table, *columns):
                editor.execute(statement)

    return _operation(tell, model)


def without_statistics(app: str, model: str, *fields: str) -> migrations.RunPython:
    """Columns whose newest value is asked for most, and is younger than the last ANALYZE.

    Statistics say of such a value that no row has it: then every index that begins with the column looks equally good,
    and of 100,000 addresses of a crawl each one was found by reading all. Without statistics the planner expects some
    rows of any value, and takes the index whose other columns are asked for, too.
    """

    def tell(apps: Any, editor: Any) -> None:
        table, columns = _table(apps, app, model, fields)
        if editor.connection.vendor == "postgresql":
            for column, field in zip(columns, fields, strict=True):
                kind = apps.get_model(app, model)._meta.get_field(field).db_parameters(editor.connection)["type"]
                # Saying the type again drops what was counted before, and writes no row anew.
                editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} TYPE {kind}")
                editor.execute(f"ALTER TABLE {table} ALTER COLUMN {column} SET STATISTICS 0")

    return _operation(tell, model)


def compression(connection: Any, table: str, *columns: str) -> list[str]:
    """The statements that choose lz4; none for a server that was built without it. Rows that stand are left alone."""
    with connection.cursor() as cursor:
        cursor.execute(_HAS_LZ4)
        if not (cursor.fetchone() or [False])[0]:
            return []
    return [f"ALTER TABLE {table} ALTER COLUMN {column} SET COMPRESSION lz4" for column in columns]


def _table(apps: Any, app: str, model: str, fields: tuple[str, ...]) -> tuple[str, list[str]]:
    meta = apps.get_model(app, model)._meta
    return meta.db_table, [meta.get_field(field).column for field in fields]


def _operation(tell: Any, model: str) -> migrations.RunPython:
    return migrations.RunPython(tell, migrations.RunPython.noop, hints={"model_name": model.lower()})
