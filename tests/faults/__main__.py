"""python -m tests.faults: the long form, and the table of its figures. Exit 1 when anything came apart.

Half of the points by one kill at a system call of a crawl, on SQLite or PostgreSQL; two tenths are double failures,
three tenths through RQ, half of them with the crawls in a PostgreSQL that is killed too; the databases crash beside
them, and three tenths as many points strike a propagation while readers search. Only what died in time counts as a
kill: errors of the disk, FLUSHALL, sleep and cut connections stand in lines of their own. The table is printed as well
when the minutes are over before the points.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults import cases, injection, long_databases, propagation, series, through_rq
from tests.faults.series import Figures
from tests.faults.through_rq import Kills

# Of all points; a double failure is one point here, though two kills strike.
SHARES = {"fdatasync": 0.15, "pwrite64": 0.15, "connect": 0.05, "recvfrom": 0.05, "sendto": 0.05}
ON_POSTGRES = 0.03  # at each of its two system calls
ERRORS, DOUBLES, THROUGH_RQ = 0.05, 0.21, 0.32
HOUSES = (through_rq.kill_runs, through_rq.on_postgres)
PER_RUN = 9
OF_PROPAGATION = 0.3
SQLITE_FIRST = 0.8  # of the time, at most, before the same on PostgreSQL
WHOLE = 1000  # points at which the databases crash as often as the long form promises


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Kill crawls and prove the rows.")
    parser.add_argument("--points", type=int, default=WHOLE, metavar="N", help="kill points (default 1000)")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="stop after so many (default 60)")
    parser.add_argument(
        "--only", choices=["propagation", "postgres", "cases"], help="only this part, with all the points"
    )
    parser.add_argument(
        "--cases", nargs="*", metavar="WORD", help="only the troubles whose title has one of these words"
    )
    options = parser.parse_args()
    if options.only == "cases" or options.cases is not None:
        faults = cases.play(options.cases)
        print(*faults, sep="\n")
        return 1 if faults else 0
    if not injection.available():
        print("strace is not installed; the kills by system call cannot be run", file=sys.stderr)
        return 2
    begun = time.monotonic()
    deadline = begun + options.minutes * 60
    with tempfile.TemporaryDirectory(prefix="faults-") as above:
        if options.only == "postgres":
            figures = series.play_postgres(Path(above), options.points // 2, options.minutes * 60, series.LANES)
            print(figures.table(), *figures.faults, sep="\n")
            return 1 if figures.faults else 0
        if options.only:
            faults = _propagation(Path(above), options.points, deadline)
            print(*faults, sep="\n")
            return 1 if faults else 0
        return _everything(Path(above), options.points, deadline, begun)


def _everything(folder: Path, points: int, deadline: float, begun: float) -> int:
    share = min(1.0, points / WHOLE)
    with ThreadPoolExecutor(len(HOUSES) + 2) as beside:
        each = (round(points * THROUGH_RQ / len(HOUSES)), PER_RUN, deadline)
        houses = [beside.submit(runs, *each, asleep=True) for runs in HOUSES]
        for name in ("databases", "propagation"):
            (folder / name).mkdir()
        crashes = beside.submit(long_databases.play, folder / "databases", share, deadline)
        published = beside.submit(_propagation, folder / "propagation", round(points * OF_PROPAGATION), deadline)
        figures = _by_system_call(folder, points, deadline - time.monotonic())
        kills = through_rq.together([house.result() for house in houses])
        databases, others = crashes.result(), published.result()
    others += cases.play()
    return _report(figures, kills, databases, others, time.monotonic() - begun)


def _propagation(folder: Path, points: int, deadline: float) -> list[str]:
    """On SQLite and on PostgreSQL; prints both tables, and gives what was wrong."""
    begun = time.monotonic()
    totals = propagation.play(folder, points, begun + SQLITE_FIRST * (deadline - begun))
    there = propagation.play_postgres(folder, round(points * propagation.ON_POSTGRES), deadline)
    print(f"Propagation\n{totals.table()}\nPropagation on PostgreSQL\n{there.table()}\n")
    return totals.faults + there.faults


def _by_system_call(folder: Path, points: int, seconds: float) -> Figures:
    wanted = {name: round(points * share) for name, share in SHARES.items()}
    deadline = time.monotonic() + seconds
    figures = series.play(
        folder, wanted, errors=round(points * ERRORS), doubles=round(points * DOUBLES), seconds=seconds
    )
    (folder / "postgres").mkdir()
    left = deadline - time.monotonic()
    figures.merge(series.play_postgres(folder / "postgres", round(points * ON_POSTGRES), left, series.LANES))
    return figures


def _report(figures: Figures, kills: Kills, databases: Figures, others: list[str], seconds: float) -> int:
    faults = figures.faults + kills.figures.faults + databases.faults + others
    for title, table in (
        ("By system call", figures.table()),
        ("Through RQ", kills.table()),
        ("Databases", databases.table()),
    ):
        print(f"{title}\n{table}\n")
    counted = {"by system call": figures.kills, "through RQ": kills.figures.kills, "databases": databases.kills}
    told = ", ".join(f"{number} {name}" for name, number in counted.items())
    twice = figures.row(series.DOUBLE).in_time
    print(
        f"{sum(counted.values())} kills that count ({told}), {twice} of them the second of a double failure, "
        f"in {seconds / 60:.0f} minutes; {len(faults)} faults"
    )
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
