"""Owns: the statements in the product's source that somebody wrote by hand, found in its syntax trees.

Called by: test_statements, which wants each of them seen in the form that SQL Server is sent.
"""

import ast
import re
from collections.abc import Iterator
from dataclasses import dataclass

from tests.house.tree import modules

# Whole modules that SQL Server never reaches: each begins with a question that only another server is asked.
OF_OTHER_SERVERS = {
    "clearinghouse.database.adoption.usable": "SQLite's files; a server examines its own",
    "clearinghouse.database.adoption.dialects.sqlite_migrations": "SQLite's editor of tables",
    "clearinghouse.database.adoption.dialects.create_table": "SQLite's way to make a table anew",
    "clearinghouse.database.adoption.dialects.postgresql": "the dialect of another server",
    "clearinghouse.database.adoption.dialects.sqlite": "the dialect of another server",
    "clearinghouse.database.adoption.saved_ddl": "what PostgreSQL takes down with a view; SQL Server lets it stand",
    "clearinghouse.database.adoption.durability_check": "of the other two; SQL Server's page says it itself",
    "clearinghouse.database.aliases": "SQLite's settings of a connection",
    "clearinghouse.database.sqlite_open_files": "SQLite's files, which are kept open",
    "clearinghouse.postgres_columns": "what only PostgreSQL is told of a column",
    "clearinghouse.search.backends.postgres_text": "the index of another server",
    "clearinghouse.search.backends.sqlite_text": "the index of another server",
    "clearinghouse.search.statement_timeout": "PostgreSQL's limit; SQL Server's is the driver's (query_timeout)",
    "crawler.upkeep.backup.postgres_dump": "a backup of SQL Server is the server's",
    "crawler.upkeep.backup.sqlite_copy": "a backup of SQL Server is the server's",
    "crawler.propagation.loading.late_flush": "only of servers that may write later what was committed",
    "crawler.propagation.loading.index_merging": "SQLite's full text index",
}
# Single statements, by how they begin.
NOT_SENT = {
    "CREATE TABLE IF NOT EXISTS published_facts": "SQL Server's own form stands in backends.mssql",
    "COPY {} FROM STDIN": "how PostgreSQL takes rows",
    "PRAGMA journal_mode": "asked of SQLite only",
    "SELECT now()": "asked of PostgreSQL only",
    "SELECT attname FROM pg_attribute": "asked of PostgreSQL only",
    "CREATE TEMP TABLE clearinghouse_room": "asked of PostgreSQL only",
    "SELECT count(*) FROM (SELECT repeat(": "asked of PostgreSQL only",
    "SET LOCAL work_mem": "asked of PostgreSQL only",
    "SELECT EXTRACT(EPOCH": "asked of PostgreSQL only",
    "SELECT DATEDIFF_BIG": "SQL Server's own; SQLite, whose statements are recorded, has no clock to be asked",
    "IF NOT EXISTS ({}) {}": "two further statements, both seen",
}
_BEGINS = re.compile(
    r"\s*(?:ALTER|ANALYZE|BEGIN|COPY|CREATE|DBCC|DELETE|DROP|EXEC|GRANT|IF|INSERT|MERGE|PRAGMA|REINDEX|SELECT|SET"
    r"|TRUNCATE|UPDATE|VACUUM|WITH)[ \n]+\S"
)


@dataclass(frozen=True)
class Written:
    place: str
    parts: tuple[str, ...]  # what stands between the values that are put in

    @property
    def text(self) -> str:
        return "{}".join(self.parts)

    def seen_in(self, statements: str) -> bool:
        return bool(re.search(r"[^\n]*?".join(re.escape(on_one_line(part)) for part in self.parts), statements))


def on_one_line(sql: str) -> str:
    return re.sub(r"\s+", " ", sql)


def everywhere() -> list[Written]:
    return [one for name, module in modules().items() for one in _in(module.tree, name)]


def statements() -> list[Written]:
    """All that SQL Server may be sent."""
    return [
        one
        for one in everywhere()
        if one.place.partition(":")[0] not in OF_OTHER_SERVERS and not one.text.startswith(tuple(NOT_SENT))
    ]


def _in(node: ast.AST, name: str) -> Iterator[Written]:
    for child in ast.iter_child_nodes(node):
        parts = _parts(child)
        if parts and _BEGINS.match("{}".join(parts)):
            yield Written(f"{name}:{getattr(child, 'lineno', 0)}", tuple(parts))
        elif not parts:
            yield from _in(child, name)


def _parts(node: ast.AST) -> list[str]:
    """The text of a string, cut where something is put in; nothing for what is no string."""
    if isinstance(node, ast.Constant):
        return [node.value] if isinstance(node.value, str) else []
    if isinstance(node, ast.JoinedStr):
        parts = [""]
        for value in node.values:
            if isinstance(value, ast.Constant):
                parts[-1] += str(value.value)
            else:
                parts.append("")
        return parts
    if isinstance(node, ast.BinOp) and isinstance(node.op, ast.Add):
        left, right = _parts(node.left), _parts(node.right)
        if left or right:
            left, right = left or [""], right or [""]
            return [*left, *right] if not (_parts(node.left) and _parts(node.right)) else _joined(left, right)
    return []


def _joined(left: list[str], right: list[str]) -> list[str]:
    return [*left[:-1], left[-1] + right[0], *right[1:]]
