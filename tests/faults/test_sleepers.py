"""A process that hangs (SIGSTOP) is taken for dead; when it wakes up it writes nothing and goes (fault A7)."""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from contextlib import closing
from pathlib import Path

from tests.faults import site as sites
from tests.faults.house import BASE, House
from tests.flow.house import until
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

PAGES, MANY, SILENCE = 90, 1200, 4  # seconds instead of 20, above the beat
_HEIR = f"""
import django
django.setup()
from django.core.management import call_command
from crawler.liveness import instances
instances.SILENCE_SECONDS = {SILENCE}.0
call_command("crawl", "--join", "1")
"""


def heir(house: House) -> "subprocess.Popen[bytes]":
    environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    return subprocess.Popen([sys.executable, "-c", _HEIR], cwd=BASE, env=environment, stderr=subprocess.PIPE)


def crawled(house: House) -> int:
    return int(house.rows("SELECT coalesce(sum(crawled), 0) FROM excursion")[0][0])


def site_of(pages: int = PAGES) -> dict[str, Page]:
    children = {n: [f"/{child}" for child in (3 * n + 1, 3 * n + 2, 3 * n + 3) if child < pages] for n in range(pages)}
    return {f"/{n}": Page(links, delay=0.4) for n, links in children.items()}


@proves("rule 7", "A7")
def test_who_slept_past_its_time_writes_nothing_when_it_wakes(bare: House, tmp_path: Path) -> None:
    with serve(site_of()) as site:
        house = bare.copy(tmp_path / "var")
        sites.make(house, [[[site.url("/0"), "--depth", "99"]]])
        sleeper = house.start("crawl", "--speed", "fast", "--json")
        until(lambda: crawled(house) >= 9, "the crawl is under way")
        os.kill(sleeper.pid, signal.SIGSTOP)
        begun, stored = time.monotonic(), crawled(house)
        rival = heir(house)
        try:
            until(lambda: crawled(house) > stored, "a rival goes on")
            assert time.monotonic() - begun >= SILENCE, "it took a living one for dead"
            os.kill(sleeper.pid, signal.SIGCONT)  # in the middle: what it holds, the rival holds too
            told, said = sleeper.communicate(timeout=60)
            assert '"run": 1' in told and said == "", "it goes without a word: others have the run"
            until(lambda: house.rows("SELECT state FROM run") == [("finished",)], "the run ends", 60)
            assert rival.wait(timeout=20) == 0, rival.communicate()
        finally:
            for process in (sleeper, rival):
                process.kill()
                process.communicate()
        house.manage("check_ledger", "1")
        prove_exact(house, site)


def prove_exact(house: House, site: Site, pages: int = PAGES) -> None:
    """Every page once; asked for again were at most those under way when it fell asleep, and one batch."""
    paths = ["/" + url.split("/", 3)[-1] for (url,) in house.rows("SELECT url FROM ledger WHERE outcome = 'crawled'")]
    assert sorted(paths) == sorted(f"/{n}" for n in range(pages))
    assert sum(site.requests[path] - 1 for path in paths) <= 16 + 100


def locked(house: House) -> bool:
    """Whether somebody holds the write lock of WebCrawl."""
    with closing(sqlite3.connect(house.webcrawl, timeout=0.3, isolation_level=None)) as connection:
        try:
            connection.execute("BEGIN IMMEDIATE")
        except sqlite3.OperationalError:
            return True
        connection.execute("ROLLBACK")
        return False


def asleep_in_a_transaction(house: House, process: "subprocess.Popen[str]") -> bool:
    """Stop a crawl again and again until it has stopped with the lock of the database in its hand."""
    for _ in range(2000):
        os.kill(process.pid, signal.SIGSTOP)
        if locked(house):
            return True
        os.kill(process.pid, signal.SIGCONT)
        time.sleep(0.003)
    return False


@proves("A7")
def test_who_falls_asleep_with_the_lock_in_its_hand_is_ended_and_the_run_goes_on(bare: House, tmp_path: Path) -> None:
    """On SQLite nobody could write until it woke up; a refused writer waits for 20 s, then it looks who sleeps."""
    with serve(site_of(MANY)) as site:
        house = bare.copy(tmp_path / "var")
        sites.make(house, [[[site.url("/0"), "--depth", "99"]]])
        sleeper = house.start("crawl", "--speed", "fast", "--json")
        until(lambda: crawled(house) >= 3, "the crawl is under way")
        rival = house.start("crawl", "--join", "1")
        until(lambda: house.rows("SELECT COUNT(*) FROM instance WHERE alive") == [(2,)], "a rival has come", 60)
        try:
            assert asleep_in_a_transaction(house, sleeper)
            begun = time.monotonic()
            assert sleeper.wait(timeout=70) == -signal.SIGKILL
            until(lambda: house.rows("SELECT state FROM run") == [("finished",)], "the run ends", 90)
            assert time.monotonic() - begun < 120
            assert rival.wait(timeout=20) == 0, rival.communicate()
        finally:
            for process in (sleeper, rival):
                process.kill()
                process.communicate()
        house.manage("check_ledger", "1")
        prove_exact(house, site, MANY)
