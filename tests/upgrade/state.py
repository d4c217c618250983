"""Inside an install that is empty: make its databases what a released version left behind.

`python -m tests.upgrade.state VERSION`: the migrations of that version as they were, then its rows.
"""

import sys
from typing import Any

from tests.upgrade.released_versions import ALIASES, recorded


def make(version: str) -> None:
    from clearinghouse.database.adoption import database_views, prepare

    for alias in ALIASES:
        with prepare.one_transaction(alias):
            _migrate(alias, [tuple(one) for one in recorded(version)["applied"]])
        with prepare.one_transaction(alias):
            for table, held in recorded(version)["databases"][alias].items():
                _fill(alias, table, held["columns"], held["rows"])
        database_views.create_views(alias)


def _migrate(alias: str, applied: list[tuple[str, str]]) -> None:
    from django.db import connections

    from clearinghouse.database.adoption.executor import AdoptingExecutor

    executor = AdoptingExecutor(connections[alias], lambda tables: None)
    missing = set(applied) - set(executor.loader.graph.nodes)
    assert not missing, f"these migrations were released and are gone: {missing}"
    of_an_app = {key: executor.loader.graph.node_map[key].children for key in applied}
    last = [
        key
        for key, children in of_an_app.items()
        if not any(child.key in of_an_app and child.key[0] == key[0] for child in children)
    ]
    executor.migrate(last)


def _fill(alias: str, table: str, columns: list[str], rows: list[list[Any]]) -> None:
    from django.db import connections

    connection = connections[alias]
    kinds = _kinds(connection, table)
    places = ", ".join(["%s"] * len(columns))
    names = ", ".join(connection.ops.quote_name(name) for name in columns)
    with connection.cursor() as cursor:
        cursor.execute(f"DELETE FROM {connection.ops.quote_name(table)}")
        for row in rows:
            values = [stored(value, kinds[name]) for name, value in zip(columns, row, strict=True)]
            cursor.execute(f"INSERT INTO {connection.ops.quote_name(table)} ({names}) VALUES ({places})", values)
    _number_on(connection, table, kinds)


def stored(value: Any, kind: str) -> Any:
    if isinstance(value, dict):
        return bytes.fromhex(value["hex"])
    return bool(value) if kind == "boolean" and value is not None else value


def _kinds(connection: Any, table: str) -> dict[str, str]:
    from clearinghouse.database.adoption.dialects import dialect

    return {name: kind for home, name, kind, _ in dialect(connection).all_columns(connection) if home == table}


def _number_on(connection: Any, table: str, kinds: dict[str, str]) -> None:
    """A real database of that version had given out the numbers of its rows."""
    if connection.vendor != "postgresql":
        return
    with connection.cursor() as cursor:
        for name in kinds:
            cursor.execute("SELECT pg_get_serial_sequence(%s, %s)", (f'"{table}"', name))
            (sequence,) = cursor.fetchone()
            if sequence:
                cursor.execute(f'SELECT setval(\'{sequence}\', (SELECT greatest(max("{name}"), 1) FROM "{table}"))')


if __name__ == "__main__":
    import django

    django.setup()
    make(sys.argv[1])
