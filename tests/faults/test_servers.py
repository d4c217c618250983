"""Eight instances for one document: one serves it, and when it is killed another takes over (fault B9)."""

import os
import signal
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.faults.house import House, with_document
from tests.flow.house import until
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

EIGHT, KILLS, PAGES = 8, 5, 200
UNWRITTEN = 16 + 100  # in flight towards one host, and one batch
SERVING = "SELECT i.pid FROM active_queue q JOIN instance i ON i.id = q.instance_id WHERE i.alive = 1"


@pytest.fixture
def site() -> Iterator[Site]:
    children = {n: [f"/{child}" for child in (3 * n + 1, 3 * n + 2, 3 * n + 3) if child < PAGES] for n in range(PAGES)}
    with serve({f"/{n}": Page(links, delay=0.7) for n, links in children.items()}) as served:
        yield served


def crawled(house: House) -> int:
    return int(house.rows("SELECT coalesce(sum(crawled), 0) FROM excursion")[0][0])


@proves("rule 7", "I4", "B9", "goal 3", "goal 6")
def test_of_eight_instances_one_serves_and_another_when_it_is_killed(tmp_path: Path, site: Site) -> None:
    house = with_document(tmp_path / "var", site.url("/0"))
    processes = [house.start("crawl", "--speed", "fast", "--json")]
    try:
        until(lambda: (house.var / "webcrawl.sqlite3").exists() and crawled(house), "the crawl is under way")
        processes += [house.start("crawl", "--join", "1") for _ in range(EIGHT - 1)]
        until(lambda: house.rows("SELECT count(*) FROM instance WHERE alive = 1") == [(EIGHT,)], "all eight are there")
        served = [kill_the_one_who_serves(house, processes) for _ in range(KILLS)]
        until(lambda: house.rows("SELECT state FROM run") == [("finished",)], "the run ends", 60)
    finally:
        end(processes)
    assert len(set(served)) == KILLS
    paths = ["/" + url.split("/", 3)[-1] for (url,) in house.rows("SELECT url FROM ledger WHERE outcome = 'crawled'")]
    assert sorted(paths) == sorted(f"/{n}" for n in range(PAGES))
    assert sum(site.requests[path] - 1 for path in paths) <= UNWRITTEN * KILLS
    house.manage("check_ledger")


def kill_the_one_who_serves(house: House, processes: list["subprocess.Popen[str]"]) -> int:
    """Its process id; afterwards somebody else serves, and pages come in again."""
    before = crawled(house)
    until(lambda: crawled(house) > before, "pages come in")
    (pid,) = house.rows(SERVING)[0]
    os.kill(pid, signal.SIGKILL)
    next(process for process in processes if process.pid == pid).wait(timeout=5)
    begun = time.monotonic()
    heirs = until(lambda: [row for row in house.rows(SERVING) if row != (pid,)], "an heir serves")
    assert len(heirs) == 1
    assert time.monotonic() - begun < 10, "whoever is provably gone is inherited at once"
    return int(pid)


def end(processes: list["subprocess.Popen[str]"]) -> None:
    for process in processes:
        process.kill()
        process.communicate()
