"""A prepared house in a folder of its own, and its commands as real processes."""

import atexit
import json
import os
import shutil
import signal
import sqlite3
import subprocess
import sys
import tempfile
from contextlib import closing
from dataclasses import dataclass, field
from functools import cache
from pathlib import Path
from typing import Any

BASE = Path(__file__).resolve().parent.parent.parent


@dataclass
class House:
    var: Path
    databases: dict[str, str] = field(default_factory=dict)  # further settings: CLEARINGHOUSE_DB… and its address

    @property
    def environment(self) -> dict[str, str]:
        kept = {key: value for key, value in os.environ.items() if not key.startswith(("CLEARINGHOUSE_", "DJANGO_"))}
        return kept | {
            "CLEARINGHOUSE_VAR": str(self.var),
            "CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8",
            "CLEARINGHOUSE_ALLOWED_PORTS": "1-65535",
            "CLEARINGHOUSE_LOG_LEVEL": "ERROR",
            **self.databases,
        }

    def command(self, *arguments: str) -> list[str]:
        return [sys.executable, str(BASE / "manage.py"), *arguments]

    def start(self, *arguments: str, prefix: tuple[str, ...] = ()) -> subprocess.Popen[str]:
        return subprocess.Popen(
            [*prefix, *self.command(*arguments)], env=self.environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip

    def manage(self, *arguments: str, code: int = 0) -> dict[str, Any]:
        done = subprocess.run(
            self.command(*arguments, "--json"), env=self.environment, capture_output=True, text=True, timeout=120
        )
        assert done.returncode == code, f"{arguments}: exit {done.returncode}\n{done.stdout}\n{done.stderr}"
        return json.loads(done.stdout) if done.stdout.strip() else {}

    def python(self, code: str) -> str:
        """What this code prints when run inside the product."""
        done = subprocess.run(
            [sys.executable, "-c", f"import django\ndjango.setup()\n{code}"], cwd=BASE, text=True, timeout=120,
            env=self.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}, capture_output=True,
        )  # fmt: skip
        assert done.returncode == 0, f"{code}\n{done.stderr}"
        return done.stdout

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        with sqlite3.connect(self.var / "webcrawl.sqlite3", timeout=20) as connection:
            return connection.execute(query).fetchall()

    def copy(self, folder: Path) -> "House":
        shutil.copytree(self.var, folder)
        return House(folder)

    @property
    def webcrawl(self) -> str:
        """The database of the crawl as Django names it."""
        return str(self.var / "webcrawl.sqlite3")

    def as_left(self, query: str) -> list[tuple[Any, ...]]:
        """Read from a copy: the next process must find the files exactly as the dead one left them."""
        look = self.var.parent / f"{self.var.name}.look"
        look.mkdir(exist_ok=True)
        for name in ("webcrawl.sqlite3", "webcrawl.sqlite3-wal"):
            (look / name).unlink(missing_ok=True)
            if (self.var / name).exists():
                shutil.copy(self.var / name, look / name)
        with closing(sqlite3.connect(look / "webcrawl.sqlite3")) as connection:
            return connection.execute(query).fetchall()

    def remove(self) -> None:
        shutil.rmtree(self.var)
        for ending in ("out", "strace"):
            self.var.with_name(f"{self.var.name}.{ending}").unlink(missing_ok=True)
        shutil.rmtree(self.var.with_name(f"{self.var.name}.look"), ignore_errors=True)


def kill(process: subprocess.Popen[str]) -> bool:
    """kill -9 of the whole process group; False when it had ended by itself."""
    if process.poll() is not None:
        process.communicate()
        return False
    os.killpg(process.pid, signal.SIGKILL)
    process.communicate()
    return process.returncode == -signal.SIGKILL


@cache
def prepared_once() -> House:
    """For all tests of this process, which copy it."""
    above = Path(tempfile.mkdtemp(prefix="prepared-"))
    atexit.register(shutil.rmtree, above, ignore_errors=True)
    house = House(above / "house")
    house.manage("prepare")
    return house


def with_document(var: Path, start: str, *options: str) -> House:
    house = prepared_once().copy(var)
    house.manage("add_document", "Measures")
    house.manage("add_crawl_point", "1", start, "--depth", "50", *options)
    return house
