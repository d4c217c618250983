"""The wall clock of real processes jumps while they crawl: nobody stands still for the length of it (fault C11).

Its monotonic clock goes on, as the kernel's does when the time is set. The long form (CLEARINGHOUSE_CLOCKS=all) makes
every jump at every speed.
"""

import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.faults import site as sites
from tests.faults.house import BASE, House
from tests.flow.house import until
from tests.sites.graph import Page, Site, serve

HOUR, TEN = 3600, 600
JUMPS = [(0, -HOUR), (0, HOUR), (HOUR, 0)]  # before the crawl, and when it is under way
MORE = [(0, -TEN), (0, TEN), (TEN, 0), (-HOUR, 0), (HOUR, -HOUR), (-HOUR, HOUR)]
SPEEDS = {"polite": (1.0, 6), "medium": (0.2, 20)}  # its pause, and pages
SLACK = 12.0  # seconds of the machine: a jump may cost two
CRAWLED = "SELECT coalesce(sum(crawled), 0) FROM excursion"


_MOVED = """
import sys, time
from datetime import timedelta
from pathlib import Path
place, *words = sys.argv[1:]
real = time.time
ahead = lambda: float(Path(place).read_text())
time.time = lambda: real() + ahead()
import django
from django.utils import timezone
now = timezone.now
timezone.now = lambda: now() + timedelta(seconds=ahead())
django.setup()
from django.core.management import call_command
call_command(*words)
"""


class Clock:
    """How far the wall clock of a process is ahead: a file that it reads whenever it asks for the time."""

    def __init__(self, path: Path) -> None:
        self.path = path
        self.jump(0)

    def jump(self, seconds: int) -> None:
        fresh = self.path.with_suffix(".new")
        fresh.write_text(str(seconds))
        fresh.rename(self.path)

    def start(self, house: House, *words: str) -> "subprocess.Popen[str]":
        """A command of the product; what it asks for the time is what all its modules ask: time.time, timezone.now."""
        environment = house.environment | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
        return subprocess.Popen(
            [sys.executable, "-c", _MOVED, str(self.path), *words], cwd=BASE, env=environment, text=True,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE, start_new_session=True,
        )  # fmt: skip


@contextmanager
def crawled_at(bare: House, folder: Path, pages: int) -> Iterator[tuple[House, Site, Clock]]:
    chain = {f"/{n}": Page([f"/{n + 1}"] if n + 1 < pages else []) for n in range(pages)}
    with serve(chain) as site:
        house = bare.copy(folder)
        sites.make(house, [[[site.url("/0"), "--depth", "99"]]])
        yield house, site, Clock(folder.parent / "clock")


def jumped(bare: House, folder: Path, speed: str, jumps: tuple[int, int]) -> float:
    """How much longer a crawl took than its pauses, whose clock jumped before it and in the middle of it."""
    pause, pages = SPEEDS[speed]
    with crawled_at(bare, folder, pages) as (house, site, clock):
        clock.jump(jumps[0])
        process = clock.start(house, "crawl", "--speed", speed, "--json")
        begun = time.monotonic()
        until(lambda: int(house.rows(CRAWLED)[0][0]) >= 3, "it is under way", 60)
        clock.jump(jumps[1])
        _, said = process.communicate(timeout=pages * pause + 60)
        took = time.monotonic() - begun
        assert process.returncode == 0, said
        assert int(house.rows(CRAWLED)[0][0]) == pages
        assert {site.requests[f"/{n}"] for n in range(pages)} == {1}
        # A second crawl, whose clock is right again: the rows of the first one must not keep it away.
        clock.jump(0)
        begun = time.monotonic()
        house.manage("crawl", "--speed", speed)
        again = time.monotonic() - begun
        house.manage("check_ledger", "1")
        print(f"{speed}, {jumps[0]:+d} s then {jumps[1]:+d} s: {took:.1f} s, again {again:.1f} s for {pages} pages")
        return max(took, again) - pages * pause


@pytest.mark.parametrize("speed", SPEEDS)
@pytest.mark.parametrize("jumps", JUMPS + (MORE if os.environ.get("CLEARINGHOUSE_CLOCKS") == "all" else []))
def test_a_jump_of_the_clock_does_not_keep_a_crawl_waiting(
    bare: House, tmp_path: Path, speed: str, jumps: tuple[int, int], record_property: Callable[[str, object], None]
) -> None:
    longer = jumped(bare, tmp_path / "var", speed, jumps)
    record_property("seconds longer than its pauses, starting it included, most", round(longer, 1))
    assert longer < SLACK
