"""Installs on SQLite and on PostgreSQL: four databases of their own, prepared by the real command."""

import json
import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

from tests.adoption import old_library
from tests.postgres import postgres  # noqa: F401  a fixture

PROJECT = Path(__file__).parents[2]
FILES = {"default": "doc_library", "webcrawl": "webcrawl", "primary": "primary", "backup": "backup"}
VARIABLES = {"default": "DB", "webcrawl": "DB_WEBCRAWL", "primary": "DB_PRIMARY", "backup": "DB_BACKUP"}


class Install:
    """Four databases in one folder, or in one PostgreSQL cluster."""

    def __init__(self, folder: Path, server: Any = None) -> None:
        self.folder, self.server = folder, server
        self.vendor = "postgresql" if server else "sqlite"
        self.urls = {alias: server.url() for alias in FILES} if server else {}
        self.env = os.environ | {"CLEARINGHOUSE_VAR": str(folder), "DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
        self.env |= {f"CLEARINGHOUSE_{VARIABLES[alias]}": url for alias, url in self.urls.items()}

    def old_library(self, alias: str = "default", **how: Any) -> None:
        if self.server:
            old_library.make_postgres(self.server, self.urls[alias], **how)
        else:
            old_library.make_sqlite(self.file(alias), **how)

    def execute(self, alias: str, *statements: str) -> None:
        for statement in statements:
            self.rows(alias, statement)

    def file(self, alias: str) -> Path:
        return self.folder / f"{FILES[alias]}.sqlite3"

    def command(self, *arguments: str) -> subprocess.CompletedProcess:
        return self._run("manage.py", *arguments)

    def prepare(self) -> dict[str, str]:
        """alias -> state; fails the test when the command fails."""
        done = self.command("prepare", "--json")
        assert done.returncode == 0, done.stderr
        return {one["alias"]: one["state"] for one in json.loads(done.stdout)["databases"]}

    def killed_prepare(self, seconds: float) -> bool:
        """Start `prepare` and kill it when it has used so much processor time; whether it was still at work."""
        process = subprocess.Popen(
            [sys.executable, "manage.py", "prepare"], cwd=PROJECT, env=self.env, stdout=subprocess.DEVNULL
        )
        while (working := process.poll() is None) and _used(process.pid) < seconds:
            time.sleep(0.01)
        process.send_signal(signal.SIGKILL)
        process.wait()
        return working

    def python(self, code: str) -> str:
        """What this code prints when run inside the product."""
        done = self._run("-c", f"import django; django.setup()\n{code}")
        assert done.returncode == 0, done.stderr
        return done.stdout.strip()

    def rows(self, alias: str, sql: str) -> list[tuple]:
        if self.server:
            found = self.server.execute(sql, database=old_library.database_of(self.urls[alias]))
        else:
            connection = sqlite3.connect(self.file(alias), timeout=20)
            found = connection.execute(sql).fetchall()
            connection.commit()
            connection.close()
        return [tuple(row) for row in found]

    def columns(self, alias: str, table: str) -> set[str]:
        if self.server:
            sql = f"SELECT column_name FROM information_schema.columns WHERE table_name = '{table}'"
            return {name for (name,) in self.rows(alias, sql)}
        return {row[1] for row in self.rows(alias, f"PRAGMA table_info({table})")}

    def _run(self, *arguments: str) -> subprocess.CompletedProcess:
        return subprocess.run(
            [sys.executable, *arguments], cwd=PROJECT, env=self.env, capture_output=True, text=True, check=False
        )


def _used(pid: int) -> float:
    """Seconds of processor time; nothing a busy machine could stretch."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def make_install(request: Any, folder: Path, kind: str) -> Install:
    return Install(folder, request.getfixturevalue("postgres") if kind == "postgresql" else None)


@pytest.fixture(params=["sqlite", "postgresql"])
def install(request: Any, tmp_path: Path) -> Install:
    """Empty databases, to be filled by the test."""
    return make_install(request, tmp_path, request.param)


@pytest.fixture(scope="module", params=["sqlite", "postgresql"])
def fresh(request: Any, tmp_path_factory: Any) -> Iterator[Install]:
    """A new install, prepared. Tests only add rows of their own."""
    install = make_install(request, tmp_path_factory.mktemp("fresh"), request.param)
    assert set(install.prepare().values()) == {"created"}
    yield install
