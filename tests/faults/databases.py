"""The small site crawled into PostgreSQL, and what can happen to a database meanwhile.

Each crawl is the real command `crawl`, on databases copied from prepared ones; afterwards the ledger is compared with
that of an undisturbed crawl on SQLite, and proved by the product's check_ledger.
"""

import sqlite3
import subprocess
import time
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import psycopg

from tests.faults import site
from tests.faults.house import House, prepared_once
from tests.postgres import Server
from tests.sites.graph import Page, Site, serve

NAMES = {"DB": "library", "DB_WEBCRAWL": "crawl"}  # the others stay files: nothing is propagated
FATES = "SELECT l.doc_id, l.url, l.outcome, l.reason, l.depth, l.hop FROM ledger l"
TWICE = "SELECT doc_id, max(url) FROM page_version GROUP BY doc_id, url_key HAVING count(*) > 1"
UNDER_WAY = "SELECT 1 FROM run WHERE finished_at IS NULL AND EXISTS (SELECT 1 FROM ledger WHERE status > 0)"
SECONDS = 150.0
Fates = dict[tuple[int, str], tuple[Any, ...]]  # (document, path) -> outcome, reason, depth, hop


def slow_pages(delay: float) -> dict[str, Page]:
    """The site of the kills, each page as late as this: time for something to happen."""
    pages = site.pages()
    for page in pages.values():
        page.delay = delay
    return pages


@dataclass
class Databases:
    """Where one house keeps its rows."""

    house: House
    server: Server | None = None
    names: dict[str, str] = field(default_factory=dict)

    def rows(self, query: str) -> list[tuple[Any, ...]]:
        if self.server:
            return self.server.execute(query, database=self.names["DB_WEBCRAWL"])
        with closing(sqlite3.connect(self.house.var / "webcrawl.sqlite3", timeout=30)) as connection:
            return connection.execute(query).fetchall()

    def fates(self) -> Fates:
        """Under a maximum the set is not fixed, its size is: those pages are counted only."""
        found: Fates = {}
        for doc, url, *fate in self.rows(FATES):
            path = "/" + url.split("/", 3)[-1]
            if not path.startswith(site.LIMITED):
                found[doc, path] = tuple(fate)
            elif fate[0] == "crawled":
                found[doc, site.LIMITED] = (found.get((doc, site.LIMITED), (0,))[0] + 1,)
        return found

    def faults(self, expected: Fates) -> list[str]:
        """What is not as after the undisturbed crawl."""
        now = self.fates()
        found = [
            f"{key}: {now.get(key)}, not {expected.get(key)}"
            for key in sorted(expected.keys() | now.keys())
            if now.get(key) != expected.get(key)
        ]
        found += [f"two versions: {row}" for row in self.rows(TWICE)]
        state = self.rows("SELECT state FROM run")
        found += [f"the run ended {state}"] * (state != [("finished_at_limit",)])
        checked = subprocess.run(
            self.house.command("check_ledger"), env=self.house.environment, capture_output=True, text=True, timeout=60
        )
        return found + ([checked.stdout + checked.stderr] if checked.returncode else [])


class Bench:
    """One site, and a prepared house on each kind of database."""

    def __init__(self, folder: Path, served: Site) -> None:
        self.folder, self.site = folder, served
        self.number = 0
        self._sqlite = prepared_once().copy(folder / "prepared")
        site.make(self._sqlite, self._documents())
        self._postgres: dict[str, str] = {}

    def _documents(self) -> list[list[list[str]]]:
        return site.documents(self.site.address)

    def on_sqlite(self) -> Databases:
        self.number += 1
        return Databases(self._sqlite.copy(self.folder / f"house{self.number}"))

    def on_postgres(self, server: Server) -> Databases:
        """Prepared once in a cluster; each crawl gets copies, which PostgreSQL makes from templates.

        A cluster serves all tests of a process: the databases of a bench have its name.
        """
        mine = self.folder.name
        if str(server.folder) not in self._postgres:
            self._postgres[str(server.folder)] = "prepared"
            urls = {f"CLEARINGHOUSE_{key}": server.url(f"{mine}_{name}") for key, name in NAMES.items()}
            site.make(House(self.folder / "postgres", urls), self._documents())
        self.number += 1
        names = {key: f"{mine}_{name}{self.number}" for key, name in NAMES.items()}
        for key, name in names.items():
            server.url(name, like=f"{mine}_{NAMES[key]}")
        urls = {f"CLEARINGHOUSE_{key}": server.address(name) for key, name in names.items()}
        return Databases(House(self.folder / "postgres", urls), server, names)


@contextmanager
def benches(folder: Path, delay: float) -> Iterator[Bench]:
    with serve(slow_pages(delay)) as served:
        yield Bench(folder, served)


@contextmanager
def crawling(where: Databases, *options: str) -> Iterator[subprocess.Popen[str]]:
    """A crawl under way: something may be done to its database; afterwards it must have ended well."""
    process = where.house.start("crawl", "--speed", "fast", "--json", *options)
    try:
        yield process
        said, complained = process.communicate(timeout=SECONDS)
        assert process.returncode == 0, f"exit {process.returncode}\n{said}\n{complained[-3000:]}"
    finally:
        process.kill()
        process.communicate()


def again_and_again(
    process: subprocess.Popen[str], where: Databases, blow: Callable[[], Any], every: float, most: int
) -> int:
    """Strike while pages come in; how many blows fell between its first and its last commit."""
    struck = 0
    while process.poll() is None and struck < most:
        time.sleep(every)
        if process.poll() is None and under_way(where):
            blow()
            struck += 1
    return struck


def under_way(where: Databases) -> bool:
    with suppress(psycopg.OperationalError):
        return where.rows(UNDER_WAY) == [(1,)]
    return False


def crash_and_start(server: Server, away: float) -> None:
    server.crash()
    time.sleep(away)
    server.start()


def terminate_connections(where: Databases) -> int:
    """As an administrator would: every connection to the WebCrawl database ends, whatever it is doing."""
    assert where.server
    query = f"SELECT pg_terminate_backend(pid) FROM pg_stat_activity WHERE datname = '{where.names['DB_WEBCRAWL']}'"
    return len(where.server.execute(query, database="postgres"))
