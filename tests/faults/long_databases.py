"""The long form of the faults of databases: rounds of crawls in which PostgreSQL crashes or cuts every connection, and
one in which somebody holds the SQLite file for a minute. Beside the kills in `python -m tests.faults`.
"""

import sqlite3
import subprocess
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path
from typing import Any

from tests.faults import databases
from tests.faults.databases import Bench, Databases, Fates, crawling
from tests.faults.series import Figures
from tests.postgres import Server

DELAY = 0.6  # of each page: a crawl of a quarter of a minute, and time for five blows
CRASHES, CUTS = 20, 60
HELD = 60.0  # seconds
CRASH, CUT, HOLD = "PostgreSQL crashes (stop -m immediate)", "every connection is cut", "the file held for a minute"


def play(folder: Path, share: float, deadline: float) -> Figures:
    """A share of 1 strikes all of it; as far as the time allows."""
    figures, server = Figures(), Server.installed()
    if server is None:
        figures.faults.append("PostgreSQL is not installed: its crashes were not tried")
        return figures
    try:
        with databases.benches(folder, DELAY) as bench:
            calm = _calm(bench)
            crash = lambda where: databases.crash_and_start(server, 0.1)  # noqa: E731
            _rounds(
                figures, CRASH, round(CRASHES * share), lambda: bench.on_postgres(server), crash, 1.5, calm, deadline
            )
            cut = databases.terminate_connections
            _rounds(figures, CUT, round(CUTS * share), lambda: bench.on_postgres(server), cut, 2.0, calm, deadline)
            if share >= 1 and time.monotonic() < deadline:
                _hold(figures, bench.on_sqlite(), calm)
    finally:
        server.stop()
    return figures


def _calm(bench: Bench) -> Fates:
    where = bench.on_sqlite()
    with crawling(where):
        pass
    return where.fates()


def _rounds(
    figures: Figures, phase: str, blows: int, fresh: Callable[[], Databases], blow: Callable[[Databases], Any],
    every: float, calm: Fates, deadline: float,
) -> None:  # fmt: skip
    while figures.row(phase, deadly=phase == CRASH).in_time < blows and time.monotonic() < deadline:
        where = fresh()

        def strike(process: "subprocess.Popen[str]", where: Databases = where) -> int:
            return databases.again_and_again(process, where, lambda: blow(where), every, most=blows)

        if not _crawl(figures, phase, where, strike, calm):
            return


def _hold(figures: Figures, where: Databases, calm: Fates) -> None:
    def hold(process: "subprocess.Popen[str]") -> int:
        while not databases.under_way(where):
            time.sleep(0.05)
        with closing(sqlite3.connect(where.house.var / "webcrawl.sqlite3", isolation_level=None)) as holder:
            holder.execute("PRAGMA busy_timeout = 20000")
            holder.execute("BEGIN EXCLUSIVE")
            time.sleep(HELD)
            holder.execute("ROLLBACK")
        return 1

    _crawl(figures, HOLD, where, hold, calm)


def _crawl(
    figures: Figures, phase: str, where: Databases, blows: Callable[["subprocess.Popen[str]"], int], calm: Fates
) -> bool:
    """One crawl with its blows; False when none of them fell into it."""
    row, struck, wrong = figures.row(phase, deadly=phase == CRASH), 0, []
    try:
        with crawling(where) as process:
            struck = blows(process)
        wrong = where.faults(calm)
    except (AssertionError, subprocess.TimeoutExpired) as error:
        wrong = [str(error)]
    row.points += struck
    row.in_time += struck
    row.lost += len(wrong)
    figures.faults += [f"{phase}: {sentence}" for sentence in wrong]
    return struck > 0
