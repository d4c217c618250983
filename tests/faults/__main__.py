"""python -m tests.faults: the long form, and the table of its figures. Exit 1 when anything came apart.

Half of the points by one kill at a system call of a crawl, on SQLite or PostgreSQL; two tenths are double failures,
three tenths through RQ, half of them with the crawls in a PostgreSQL that is killed too; the databases crash beside
them. Only what died in time counts as a kill: errors of the disk, FLUSHALL, sleep and cut connections stand in lines of
their own. The table is printed as well when the minutes are over before the points.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults import injection, long_databases, series, through_rq
from tests.faults.series import Figures
from tests.faults.through_rq import Kills

# Of all points; a double failure is one point here, though two kills strike.
SHARES = {"fdatasync": 0.15, "pwrite64": 0.15, "connect": 0.05, "recvfrom": 0.05, "sendto": 0.05}
ON_POSTGRES = 0.03  # at each of its two system calls
ERRORS, DOUBLES, THROUGH_RQ = 0.05, 0.21, 0.32
HOUSES = (through_rq.kill_runs, through_rq.on_postgres)
PER_RUN = 9
WHOLE = 1000  # points at which the databases crash as often as the long form promises


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Kill crawls and prove the rows.")
    parser.add_argument("--points", type=int, default=WHOLE, metavar="N", help="kill points (default 1000)")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="stop after so many (default 60)")
    options = parser.parse_args()
    if not injection.available():
        print("strace is not installed; the kills by system call cannot be run", file=sys.stderr)
        return 2
    begun, seconds = time.monotonic(), options.minutes * 60
    deadline = begun + seconds
    with tempfile.TemporaryDirectory(prefix="faults-") as above, ThreadPoolExecutor(len(HOUSES) + 1) as beside:
        folder, share = Path(above), min(1.0, options.points / WHOLE)
        each = (round(options.points * THROUGH_RQ / len(HOUSES)), PER_RUN, deadline)
        houses = [beside.submit(runs, *each, asleep=True) for runs in HOUSES]
        (folder / "databases").mkdir()
        crashes = beside.submit(long_databases.play, folder / "databases", share, deadline)
        figures = _by_system_call(folder, options.points, seconds)
        kills = through_rq.together([house.result() for house in houses])
        databases = crashes.result()
    return _report(figures, kills, databases, time.monotonic() - begun)


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


def _report(figures: Figures, kills: Kills, databases: Figures, seconds: float) -> int:
    faults = figures.faults + kills.figures.faults + databases.faults
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
