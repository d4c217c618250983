"""The same on real servers and real processes: files of SQLite, and a throw-away PostgreSQL."""

import json
import random
import signal
import sqlite3
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.flow.conftest import house, prepared_folder  # noqa: F401 - fixtures
from tests.flow.house import BASE, House
from tests.postgres import postgres  # noqa: F401 - a fixture
from tests.proves import proves

ALIASES = {"development": "DB", "primary": "DB_PRIMARY", "backup": "DB_BACKUP"}
NAMES = (*ALIASES, "webcrawl")
PREPARED = pytest.StashKey[dict[str, bytes]]()  # the keys and other files of the house whose databases are copied
_TEXTS = (
    "SELECT v.crawl_page_url, v.text FROM live_generation g JOIN published_interval i "
    "ON i.gen_from <= g.generation AND i.gen_to > g.generation "
    "JOIN published_version v ON v.published_id = i.published_id"
)


class Servers:
    """A house and its three targets, readable from outside by plain SQL."""

    def __init__(self, home: House, urls: dict[str, str]) -> None:
        self.house = home
        self.urls = urls

    def connect(self, target: str) -> Any:
        url = self.urls.get(target)
        if url is None:
            name = "doc_library" if target == "development" else target  # webcrawl, primary, backup
            return sqlite3.connect(self.house.folder / f"{name}.sqlite3", isolation_level=None, timeout=30)
        return psycopg.connect(url.replace("postgres://", "postgresql://"), autocommit=True)

    def shown(self, target: str) -> dict[str, str]:
        connection = self.connect(target)
        try:
            return dict(connection.execute(_TEXTS).fetchall())
        finally:
            connection.close()

    def crawl(self, number: int) -> dict[str, str]:
        done = subprocess.run(
            [sys.executable, "-m", "tests.propagation.scenario", str(number)],
            cwd=BASE, env=self.house.env, capture_output=True, text=True, timeout=120, check=False,
        )  # fmt: skip
        assert done.returncode == 0, done.stderr
        return json.loads(done.stdout)


@pytest.fixture(params=[pytest.param("sqlite", marks=pytest.mark.sqlite), "postgres"])
def servers(request: pytest.FixtureRequest, tmp_path: Path) -> Iterator[Servers]:
    if request.param == "sqlite":
        yield Servers(request.getfixturevalue("house"), {})
        return
    server = request.getfixturevalue("postgres")
    if PREPARED not in request.config.stash:
        first = tmp_path / "prepared"
        on_postgres(first, {name: server.url(f"like_{name}") for name in NAMES}).manage("prepare")
        request.config.stash[PREPARED] = {path.name: path.read_bytes() for path in first.iterdir() if path.is_file()}
    urls = {name: server.url(like=f"like_{name}") for name in NAMES}
    home = on_postgres(tmp_path / "var", urls)
    for name, content in request.config.stash[PREPARED].items():
        (home.folder / name).write_bytes(content)
    yield Servers(home, urls)
    home.close()


def on_postgres(folder: Path, urls: dict[str, str]) -> House:
    folder.mkdir()
    home = House(folder)
    variables = {**ALIASES, "webcrawl": "DB_WEBCRAWL"}
    home.env |= {f"CLEARINGHOUSE_{variables[name]}": url for name, url in urls.items()}
    return home


def test_the_commands_publish_find_roll_back_and_write_everything_again(servers):
    first = servers.crawl(1)
    result = servers.house.manage("propagate")
    counts = [(t["name"], t["pages"], t["added"], t["changed"], t["removed"]) for t in result["targets"]]
    assert counts == [(name, len(first), len(first), 0, 0) for name in ALIASES]
    again = servers.house.manage("propagate")
    assert again["generation"] == result["generation"]
    assert all(t["added"] + t["changed"] + t["removed"] == 0 for t in again["targets"])
    second = servers.crawl(2)
    newer = servers.house.manage("propagate")
    assert servers.shown("primary") == servers.shown("backup") == servers.shown("development") == second
    found = servers.house.manage("search", '"page 7" handover -nowhere', "--limit", "3")
    assert (found["total"], found["generation"]) == (1, newer["generation"])
    assert set(found["results"][0]) == {"url", "title", "snippet", "doc_id", "score"}
    assert servers.house.manage("search", "title:7 type:html", "--target", "backup")["total"] == 1
    assert servers.house.manage("rollback")["generation"] == result["generation"]
    assert servers.shown("primary") == first
    assert servers.house.manage("propagate")["generation"] > newer["generation"]
    views = {target: _views(servers, target) for target in ALIASES}
    assert views["primary"] == views["backup"] == views["development"]
    servers.house.manage("propagate", "--full")
    assert {target: _views(servers, target) for target in ALIASES} == views


def _views(servers: Servers, target: str) -> list[Any]:
    connection = servers.connect(target)
    pages = connection.execute("SELECT * FROM doc_crawl_page ORDER BY doc_crawl_page_id").fetchall()
    metas = connection.execute("SELECT * FROM crawl_page_meta ORDER BY crawl_page_meta_id").fetchall()
    connection.close()
    return [*pages, *metas]


@proves("I8", "C1")
def test_a_propagation_killed_by_the_system_never_shows_a_mixture(servers):
    """kill -9 at random steps, with readers on all targets."""
    wanted = servers.crawl(1)
    servers.house.manage("propagate")
    allowed = [wanted]
    mixed: list[str] = []
    stop = threading.Event()
    readers = [threading.Thread(target=_read, args=(servers, target, allowed, mixed, stop)) for target in ALIASES]
    for reader in readers:
        reader.start()
    chance = random.Random(5)
    try:
        for number in (2, 3):
            wanted = servers.crawl(number)
            allowed.append(wanted)
            for _ in range(2):
                _kill_at(servers, chance.randint(1, 15))
            servers.house.manage("propagate")
            assert servers.shown("primary") == servers.shown("backup") == wanted
    finally:
        stop.set()
        for reader in readers:
            reader.join()
    assert mixed == []


def _kill_at(servers: Servers, step: int) -> None:
    """Starts a propagation and kills it as soon as so many of its steps have begun."""
    process = servers.house.start_manage("propagate")
    connection = servers.connect("webcrawl")
    begun = (
        "SELECT COUNT(*) FROM propagation_step s JOIN propagation p ON p.id = s.propagation_id "
        "WHERE p.state = 'working' AND s.state <> 'waiting'"
    )
    while process.poll() is None and connection.execute(begun).fetchone()[0] < step:
        time.sleep(0.002)
    connection.close()
    process.send_signal(signal.SIGKILL)
    process.wait()


def _read(servers: Servers, target: str, allowed: list[Any], mixed: list[str], stop: threading.Event) -> None:
    connection = servers.connect(target)
    while not stop.is_set():
        shown = dict(connection.execute(_TEXTS).fetchall())
        if shown not in allowed:
            mixed.append(f"{target} showed {len(shown)} pages of no generation")
        time.sleep(0.02)
    connection.close()
