"""python -m tests.tsql.tables: every statement that makes a table, index or view on SQL Server, as one JSON object.

The migrations run on a connection that never connects, and what they would send is kept. In a process of its own: the
back end for SQL Server changes Django.
"""

import json
import os
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from django.db.backends.base.introspection import TableInfo
from django.db.migrations.state import ProjectState

TABLE = re.compile(r"CREATE TABLE \[(\w+)\] \((.*)\);?$", re.DOTALL)
_CHANGED = re.compile(r"ALTER TABLE \[(\w+)\] (?:ADD|ALTER COLUMN) (\[.*)$")
_COLUMN = re.compile(r"\[(\w+)\] ([a-z0-9]+(?: precision)?(?:\([^)]*\))?)((?: (?!\[)[^,]*)?)")
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
    from clearinghouse.database.adoption import database_views
    from clearinghouse.search.backends import sql_server_text

    made = [database_views.view_sql(alias, name, "microsoft") for name in database_views.NAMES]
    return made if alias == "webcrawl" else [*made, sql_server_text.FACTS, *sql_server_text.SETUP]


def adoption() -> list[str]:
    """What an adoption asks of a library that stands already, and what it changes there."""
    from django.db import connections

    from clearinghouse.database.adoption import database_views, introspection
    from clearinghouse.database.adoption.dialects import microsoft as dialect
    from clearinghouse.database.adoption.rows import odd_rows, old_results

    server, asked = _asked()
    none, answer = 0, asked.answer
    with dialect.locked(server):
        pass
    dialect.stored_view(server, "doc_crawl_page")
    dialect.is_numbered_by_server(server, "doc", "ts")
    answer[:] = [("name_str", "nvarchar", 20, "YES", None, none)]
    dialect.widen(server, "doc", [_Wide()])
    dialect.required(server, "doc")
    dialect.all_columns(server)
    answer[:] = [(none,)]
    dialect.give_ids(server, "doc", "doc_id")
    dialect.start_ids_above(server, "doc", "doc_id", 5)
    introspection.count(server, "doc")
    examined = odd_rows.Examined(server)
    examined.noughts.append(("doc", "deleted_fl"))
    odd_rows.forget_noughts(examined)
    connections["default"] = server
    old_results._highest("default", "doc", "doc_id")
    answer[:] = []
    old_results._metas_of("default", [1, 2])
    database_views.drop_views("default")
    return asked.sent


def rare() -> list[str]:
    """What no test of the ordinary choice brings about in its own process."""
    from django.db import connections

    from crawler.upkeep.doctor import database_tests
    from crawler.upkeep.pruning import bodies
    from crawlpoints.imports import import_rows

    server, asked = _asked()
    connections["default"] = connections["webcrawl"] = server
    database_tests._not_writable("default")
    bodies._alone()
    import_rows._counted(server, "UPDATE doc SET ts = %s WHERE doc_id = %s", [(2, 1), (2, 3)])
    return asked.sent


class _Asked:
    """A cursor that keeps what it is sent; what it answers is given to it."""

    rowcount = 0

    def __init__(self) -> None:
        self.sent: list[str] = []
        self.answer: list[Any] = []

    def __call__(self) -> "_Asked":
        return self

    def __enter__(self) -> "_Asked":
        return self

    def __exit__(self, *_: object) -> None:
        pass

    def execute(self, sql: str, parameters: Any = None) -> None:
        self.sent.append(sql)

    def fetchall(self) -> list[Any]:
        return self.answer


def _asked() -> tuple[Any, _Asked]:
    """A connection to SQL Server that stands in a library made before, and what it is sent."""
    from tests.tsql.server import connection

    server, asked = connection(), _Asked()
    tables = [TableInfo(name, "t") for name in ("doc", "crawl_page_meta_before")]
    server.introspection.get_table_list = lambda cursor: [*tables, TableInfo("doc_crawl_page", "v")]
    server.introspection.get_table_description = lambda cursor, table: [_Wide(name="deleted_fl")]
    server.__dict__ |= {"cursor": asked, "savepoint_ids": [], "_savepoint": lambda name: None}
    return server, asked


def columns(statements: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Table, column, type, and what is said of it besides."""
    for statement in statements:
        if found := TABLE.match(statement) or _CHANGED.match(statement):
            for name, kind, rest in _COLUMN.findall(found[2]):
                yield found[1], name, kind, rest


@dataclass
class _Wide:
    """A column that asks for more room."""

    name: str = "name_str"
    max_length: int = 50

    @property
    def column(self) -> str:
        return self.name

    def db_type(self, connection: Any) -> str:
        return "nvarchar(50)"


def main() -> None:
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "tests.settings")
    import django

    django.setup()
    made: dict[str, Any] = {alias: {"tables": migrations(alias), "beside": beside(alias)} for alias in DATABASES}
    print(json.dumps(made | {"adoption": adoption(), "rare": rare()}))


if __name__ == "__main__":
    sys.exit(main())
