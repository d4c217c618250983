"""Owns: the schema of the four databases on SQLite."""

import re
import sqlite3
import tempfile
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

_BESIDE = re.compile(r"_(data|idx|content|docsize|config)$")  # tables that SQLite makes beside one of full text
_CHECK = re.compile(r"\bCHECK\s*\(", re.IGNORECASE)


def record(before: dict[str, Any]) -> dict[str, Any]:
    from tests.flow.house import House
    from tests.upgrade.record import FILES

    with tempfile.TemporaryDirectory(prefix="schema-") as folder:
        House(Path(folder)).manage("prepare")
        told = {alias: _of_file(Path(folder, f"{file}.sqlite3")) for alias, file in FILES.items()}
    return {"schema-sqlite.json": told}


def _of_file(path: Path) -> dict[str, Any]:
    with closing(sqlite3.connect(path)) as connection:
        made = connection.execute("SELECT type, name, tbl_name, sql FROM sqlite_master ORDER BY name").fetchall()
        names = [name for kind, name, _, _ in made if kind == "table" and _ours(name)]
        sql = {name: text or "" for _, name, _, text in made}
        return {
            "tables": {name: _table(connection, name, sql[name]) for name in names},
            "views": {name: one_line(text) for kind, name, _, text in made if kind == "view"},
            "triggers": {name: one_line(text) for kind, name, _, text in made if kind == "trigger"},
            "migrations": migrations(connection.execute("SELECT app, name FROM django_migrations").fetchall()),
            "content types": _content_types(connection) if "django_content_type" in names else [],
        }


def _content_types(connection: sqlite3.Connection) -> list[str]:
    """By these names rights and entries of the admin's log belong to a model."""
    rows = connection.execute("SELECT app_label, model FROM django_content_type")
    return sorted(f"{app}.{model}" for app, model in rows)


def migrations(rows: list[tuple[str, str]]) -> list[str]:
    return sorted(f"{app}.{name}" for app, name in rows)


def one_line(sql: str) -> str:
    return " ".join(sql.split())


def _ours(name: str) -> bool:
    return not name.startswith("sqlite_") and not _BESIDE.search(name)


def _table(connection: sqlite3.Connection, name: str, sql: str) -> dict[str, Any]:
    if "VIRTUAL TABLE" in sql.upper():
        return {"virtual": one_line(sql)}
    columns = connection.execute(f'PRAGMA table_xinfo("{name}")').fetchall()
    keys = connection.execute(f'PRAGMA foreign_key_list("{name}")').fetchall()
    return {
        "columns": {one[1]: _column(one) for one in columns},
        "indexes": dict(_indexes(connection, name)),
        "foreign keys": {key[3]: f"{key[2]}.{key[4]}, on delete {key[6]}" for key in keys},
        "checks": sorted(_checks(sql)),
        "numbered anew": "AUTOINCREMENT" in sql.upper(),
    }


def _column(one: Any) -> str:
    _, _, kind, required, default, key, _ = one
    words = [kind, "not null" if required else "null"]
    words += [f"default {default}"] if default is not None else []
    return " ".join([*words, "primary key"] if key else words)


def _indexes(connection: sqlite3.Connection, table: str) -> Iterator[tuple[str, str]]:
    """Those that were made by name as their SQL; those of a constraint by their columns."""
    for _, name, unique, origin, *_ in connection.execute(f'PRAGMA index_list("{table}")').fetchall():
        if origin == "c":
            (sql,) = connection.execute("SELECT sql FROM sqlite_master WHERE name = ?", (name,)).fetchone()
            yield name, one_line(sql)
        else:
            columns = [one[2] or "" for one in connection.execute(f'PRAGMA index_info("{name}")')]
            kind = "primary key" if origin == "pk" else "unique" if unique else "index"
            yield f"{kind} of {', '.join(columns)}", kind


def _checks(sql: str) -> Iterator[str]:
    """What stands in the brackets of each CHECK, to the one that closes it."""
    for found in _CHECK.finditer(sql):
        depth, place = 1, found.end()
        while depth:
            depth += {"(": 1, ")": -1}.get(sql[place], 0)
            place += 1
        yield one_line(sql[found.end() : place - 1])
