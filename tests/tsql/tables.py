"""python -m tests.tsql.tables: every statement that makes a table, index or view on SQL Server, as one JSON object.

The migrations run on a connection that never connects, and what they would send is kept. In a process of its own: the
back end for SQL Server changes Django.
"""

import json
import os
import sys
from typing import Any

from django.db.migrations.state import ProjectState

DATABASES = ("default", "webcrawl", "primary")  # backup is made as primary is


def migrations(alias: str) -> list[str]:
    """What `prepare` would send to an empty database of this name."""
    from django.db.migrations.loader import MigrationLoader

    from tests.tsql.server import connection

    loader, server, state = MigrationLoader(None), connection(alias), ProjectState()
    with server.schema_editor(collect_sql=True, atomic=False) as editor:
        for node in _in_order(loader):
            state = loader.graph.nodes[node].apply(state, editor, collect_sql=True)
        # The indexes and references wait in the editor until it is left.
        editor.__exit__(None, None, None)
        made = list(editor.collected_sql)
        editor.deferred_sql = []
    return [sql for sql in made if not sql.startswith("--")]


def _in_order(loader: Any) -> list[Any]:
    plan: dict[Any, None] = {}
    for leaf in loader.graph.leaf_nodes():
        plan |= dict.fromkeys(loader.graph.forwards_plan(leaf))
    return list(plan)


def beside(alias: str) -> list[str]:
    """What is made beside the tables: the seed's views and, on a target, the full text index."""
    from clearinghouse.adoption import views
    from clearinghouse.search.backends import mssql

    made = [views.view_sql(alias, name, "microsoft") for name in views.NAMES]
    return made if alias == "webcrawl" else [*made, mssql.FACTS, *mssql.SETUP]


def adoption() -> list[str]:
    """What an adoption asks of a library that stands already, and what it changes there."""
    from clearinghouse.adoption.dialects import microsoft as dialect
    from tests.tsql.server import connection

    server, sent = connection(), list[str]()
    none, answer = 0, list[Any]()

    class Cursor:
        rowcount = 0

        def __enter__(self) -> "Cursor":
            return self

        def __exit__(self, *_: object) -> None:
            pass

        def execute(self, sql: str, parameters: Any = None) -> None:
            sent.append(sql)

        def fetchall(self) -> list[Any]:
            return answer

    server.__dict__["cursor"] = Cursor
    with dialect.locked(server):
        pass
    dialect.stored_view(server, "doc_crawl_page")
    dialect.is_numbered_by_server(server, "doc", "ts")
    answer[:] = [("name_str", "nvarchar", 20, "YES", None, none)]
    dialect.widen(server, "doc", [_Wide()])
    dialect.required(server, "doc")
    answer[:] = [(none,)]
    dialect.give_ids(server, "doc", "doc_id")
    dialect.start_ids_above(server, "doc", "doc_id", 5)
    return sent


class _Wide:
    """A column that asks for more room."""

    column, max_length = "name_str", 50

    def db_type(self, connection: Any) -> str:
        return "nvarchar(50)"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    made: dict[str, Any] = {alias: {"tables": migrations(alias), "beside": beside(alias)} for alias in DATABASES}
    print(json.dumps(made | {"adoption": adoption()}))


if __name__ == "__main__":
    sys.exit(main())
