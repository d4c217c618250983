"""Owns: where the houses of the measurements keep their databases: files in their folders, or, with
`python -m tests.bench --postgres …`, databases of one throw-away PostgreSQL that flushes as in production.

A house whose databases are elsewhere says so by a note in its folder.
"""

import json
import os
import shutil
import sqlite3
import sys
from collections.abc import Iterator
from contextlib import closing, contextmanager
from itertools import count
from pathlib import Path
from typing import Any

from tests.postgres import NAMES, Server

SERVER = "BENCH_POSTGRES"  # the folder of the server, for the processes of the measurements
_NOTE = "databases.json"  # {"library": "library1_4711", …}
_FILES = {"library": "doc_library"}
_numbers = count(1)


@contextmanager
def on_postgres() -> Iterator[None]:
    """Every house of the measurements started inside has its databases there."""
    server = Server.installed()
    if server is None:
        sys.exit("NOT RUN: PostgreSQL is missing on this machine")
    os.environ[SERVER] = str(server.folder)
    try:
        yield
    finally:
        server.stop()


def server() -> Server | None:
    return Server.at(Path(os.environ[SERVER])) if SERVER in os.environ else None


def found(var: Path) -> None:
    """Empty databases for a new house, where it does not keep files."""
    _move_in(var, dict.fromkeys(NAMES.values(), "template0"))


def copy(template: Path, var: Path) -> None:
    """A house like a prepared one."""
    shutil.copytree(template, var, dirs_exist_ok=True)
    if known := _names(var):
        _move_in(var, known)


def _move_in(var: Path, like: dict[str, str]) -> None:
    if there := server():
        mine = {name: f"{name}{next(_numbers)}_{os.getpid()}" for name in NAMES.values()}
        for name, database in mine.items():
            there.url(database, like=like[name])
        var.mkdir(parents=True, exist_ok=True)
        (var / _NOTE).write_text(json.dumps(mine))


def environment(var: Path) -> dict[str, str]:
    """What tells a process of this house where its databases are."""
    there, known = server(), _names(var)
    if not there or not known:
        return {}
    return {f"CLEARINGHOUSE_{key}": there.address(known[name]) for key, name in NAMES.items()}


def name_of(var: Path, database: str) -> str:
    """What a database of a house is called on the server."""
    return _names(var)[database]


def rows(var: Path, database: str, sql: str) -> list[tuple[Any, ...]]:
    """Plain SQL in `library`, `webcrawl`, `primary` or `backup`, from outside."""
    if there := server():
        return there.execute(sql, database=name_of(var, database))
    file = f"{var}/{_FILES.get(database, database)}.sqlite3"
    with closing(sqlite3.connect(f"file:{file}?mode=ro", uri=True, timeout=30)) as connection:
        return connection.execute(sql).fetchall()


def _names(var: Path) -> dict[str, str]:
    note = var / _NOTE
    return dict(json.loads(note.read_text())) if note.exists() else {}
