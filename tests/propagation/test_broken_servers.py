"""Faults C2, C3, C9, C10 and C13 with real commands: servers that go down, processes that die, five at once."""

import json
import sqlite3
import sys
import time
from collections.abc import Iterator
from contextlib import closing
from pathlib import Path
from typing import Any

import psycopg
import pytest

from tests.faults.house import House as Bare
from tests.faults.site import make
from tests.faults.test_naughty import crawled, pages
from tests.flow.conftest import house, prepared_folder  # noqa: F401 - fixtures
from tests.flow.house import House
from tests.postgres import Server, programs
from tests.postgres import postgres as shared  # noqa: F401 - a fixture
from tests.proves import proves
from tests.requirements import need
from tests.sites.misbehaving import Site

from .cutting import Door
from .test_servers import Servers

OWNER = "SELECT serving, owner, deadline FROM public_switch"
PRIMARY_AT = (
    "SELECT COUNT(*) FROM propagation_step s JOIN propagation p ON p.id = s.propagation_id "
    "WHERE p.state = 'working' AND s.target = 'primary' AND s.state <> 'waiting'"
)


@pytest.fixture
def own() -> Iterator[Server]:
    """A server for this test alone: it is going to crash."""
    folder = programs()
    need("postgres", folder is not None, "initdb, pg_ctl and postgres are not installed")
    assert folder is not None
    server = Server(folder)
    yield server
    server.stop()


def with_primary(home: House, address: str) -> Servers:
    home.env["CLEARINGHOUSE_DB_PRIMARY"] = address
    home.manage("prepare")
    return Servers(home, {"primary": address})


def row(servers: Servers, sql: str) -> Any:
    with closing(servers.connect("webcrawl")) as connection:
        return connection.execute(sql).fetchone()


def old_everywhere_but_on(servers: Servers, old: Any, new: Any, *moved: str) -> bool:
    return all(servers.shown(name) == (new if name in moved else old) for name in ("development", "primary", "backup"))


@proves("C2")
@pytest.mark.sqlite
def test_primary_may_go_down_before_and_at_every_step(house, own):  # noqa: F811
    """Fault C2: it keeps its generation, backup is not loaded, the public is on backup only while primary is away."""
    servers = with_primary(house, own.url("primary"))
    old = servers.crawl(1)
    house.manage("propagate")
    new = servers.crawl(2)
    own.crash()
    assert house.run("propagate").returncode == 1
    assert servers.shown("development") == new and servers.shown("backup") == old
    assert row(servers, OWNER)[0] == "backup"
    own.start()
    house.manage("tick", "--once")
    assert row(servers, OWNER)[0] == "primary"
    assert servers.shown("primary") == old
    for number, step in enumerate((1, 2, 3, 4), start=3):
        process = house.start_manage("propagate")
        while process.poll() is None and row(servers, PRIMARY_AT)[0] < step:
            time.sleep(0.002)
        own.crash()
        process.wait()
        own.start()
        assert servers.shown("primary") in (old, new)
        house.manage("propagate")
        assert row(servers, OWNER)[0] == "primary"
        assert old_everywhere_but_on(servers, new, new)
        old, new = new, servers.crawl(number)


@proves("C3")
@pytest.mark.sqlite
def test_killed_on_backup_the_public_is_brought_home_by_the_tick(house):  # noqa: F811
    """Fault C3: the row names an owner and a deadline; the watchdog needs neither to bring it back."""
    servers = Servers(house, {})
    servers.crawl(1)
    house.manage("propagate")
    for number in range(2, 8):
        servers.crawl(number)
        process = house.start_manage("propagate")
        while process.poll() is None and row(servers, OWNER)[0] != "backup":
            time.sleep(0.001)
        process.kill()
        process.wait()
        serving, owner, deadline = row(servers, OWNER)
        if serving == "backup":
            break
    assert serving == "backup" and owner and deadline
    began = time.monotonic()
    house.manage("tick", "--once")
    assert row(servers, OWNER)[:2] == ("primary", None)
    assert time.monotonic() - began < 60
    house.manage("propagate")
    assert servers.shown("primary") == servers.shown("backup")


@proves("C9")
@pytest.mark.sqlite
def test_of_five_that_start_at_once_four_are_refused(house, tmp_path):  # noqa: F811
    """Fault C9."""
    servers, release = Servers(house, {}), tmp_path / "release"
    servers.crawl(1)
    house.manage("propagate")
    new = servers.crawl(2)
    waits = f"import os, time\nwhile not os.path.exists({str(release)!r}): time.sleep(0.05)"
    house.env["CLEARINGHOUSE_SWITCH_COMMAND"] = f'{sys.executable} -c "{waits}"'
    processes = [house.start_manage("propagate") for _ in range(5)]
    deadline = time.monotonic() + 60
    while sum(process.poll() is not None for process in processes) < 4 and time.monotonic() < deadline:
        time.sleep(0.02)
    release.touch()
    assert sorted(process.wait(60) for process in processes) == [0, 1, 1, 1, 1]
    assert house.log.count("a second one has to wait until it is done") == 4
    assert row(servers, "SELECT COUNT(*) FROM propagation")[0] == 2
    assert old_everywhere_but_on(servers, None, new, "development", "primary", "backup")


@proves("C13")
@pytest.mark.sqlite
def test_a_connection_cut_in_the_middle_of_a_batch_leaves_no_part_of_it(house, own):  # noqa: F811
    """Fault C13: whole transactions or nothing on PostgreSQL; the next try ends in the same rows."""
    address = own.url("primary")
    with Door(own.folder) as door:
        servers = with_primary(house, address.replace(str(own.folder), str(door.folder)))
        old = servers.crawl(1)
        house.manage("propagate")
        new, size = servers.crawl(2), 0
        for share in (0.3, 0.5, 0.6, 0.7, 0.8, 0.9):
            door.cut_after(int(share * size) or 60_000)
            code = house.run("propagate").returncode
            size = size or door.said
            assert broken(own) == []
            if code == 0:  # the cut came later than the last byte
                old, new = new, servers.crawl(door.cuts + 20)
            else:
                assert servers.shown("primary") in (old, new)
        assert door.cuts >= 3
        door.cut_after(-1)
        house.manage("propagate")
        assert servers.shown("primary") == servers.shown("backup") == new


def broken(server: Server) -> list[Any]:
    """Pages without their meta tag, meta tags without their page, intervals without a page: parts of a batch."""
    sql = (
        "SELECT v.published_id FROM published_version v FULL JOIN published_meta m ON m.published_id = v.published_id "
        "WHERE v.published_id IS NULL OR m.published_id IS NULL "
        "UNION ALL SELECT i.published_id FROM published_interval i "
        "LEFT JOIN published_version v ON v.published_id = i.published_id WHERE v.published_id IS NULL"
    )
    with psycopg.connect(host=str(server.folder), port=5432, user="tester", dbname="primary") as connection:
        return connection.execute(sql).fetchall()


@proves("C10")
def test_what_no_database_takes_is_the_same_on_all_three(tmp_path: Path, shared: Server) -> None:  # noqa: F811
    """Fault C10: NUL, half pairs, four-byte letters, endless texts: propagated to SQLite and to PostgreSQL."""
    home = Bare(tmp_path / "var", {"CLEARINGHOUSE_DB_PRIMARY": shared.url("naughty_primary")})
    with Site() as site:
        site.pages = pages()
        make(home, [[[site.url("/"), "--depth", "3"]]])
        crawled(home)
    result = home.manage("propagate")
    assert all(target["pages"] > 10 for target in result["targets"])
    columns = "crawl_page_url, title_str, headings, metas, anchors, text, language, page_ext, host"
    texts = f"SELECT {columns} FROM published_version ORDER BY 1"
    metas = "SELECT name_str, content_str FROM published_meta ORDER BY 1, 2"
    for sql in (texts, metas):
        there = sorted(shared.execute(sql, database="naughty_primary"))
        assert len(there) > 5
        for file in ("doc_library", "backup"):
            with closing(sqlite3.connect(home.var / f"{file}.sqlite3")) as connection:
                assert sorted(connection.execute(sql).fetchall()) == there
    assert "\\u0000" not in json.dumps(there)
