"""A process that hangs (SIGSTOP) is taken for dead; when it wakes up it writes nothing and goes (fault A7)."""

import os
import signal
import subprocess
import sys
import time
from pathlib import Path

from tests.faults import site as sites
from tests.faults.house import BASE, House
from tests.flow.house import until
from tests.sites.graph import Page, Site, serve

PAGES, SILENCE = 90, 4  # seconds instead of 20, above the beat
_HEIR = f"""
import django
django.setup()
from django.core.management import call_command
from crawler import instances
instances.SILENCE_SECONDS = {SILENCE}.0
call_command("crawl", "--join", "1")
"""


def heir(house: House) -> "subprocess.Popen[bytes]":
    environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    return subprocess.Popen([sys.executable, "-c", _HEIR], cwd=BASE, env=environment, stderr=subprocess.PIPE)


def crawled(house: House) -> int:
    return int(house.rows("SELECT coalesce(sum(crawled), 0) FROM excursion")[0][0])


def site_of() -> dict[str, Page]:
    children = {n: [f"/{child}" for child in (3 * n + 1, 3 * n + 2, 3 * n + 3) if child < PAGES] for n in range(PAGES)}
    return {f"/{n}": Page(links, delay=0.4) for n, links in children.items()}


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


def prove_exact(house: House, site: Site) -> None:
    """Every page once; asked for again were at most those under way when it fell asleep, and one batch."""
    paths = ["/" + url.split("/", 3)[-1] for (url,) in house.rows("SELECT url FROM ledger WHERE outcome = 'crawled'")]
    assert sorted(paths) == sorted(f"/{n}" for n in range(PAGES))
    assert sum(site.requests[path] - 1 for path in paths) <= 16 + 100
