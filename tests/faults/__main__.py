"""python -m tests.faults: the long form, and the table of its figures. Exit 1 when anything came apart.

Seven tenths of the kill points by system call, in two lanes; the rest through RQ, in two houses beside them.
"""

import argparse
import sys
import tempfile
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.faults import injection, series, through_rq
from tests.faults.through_rq import Kills

SHARES = {"fdatasync": 0.30, "pwrite64": 0.30, "connect": 0.09, "recvfrom": 0.11}  # the rest: errors and doubles
HOUSES = 2
PER_RUN = 9


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.faults", description="Kill crawls and prove the rows.")
    parser.add_argument("--points", type=int, default=1000, metavar="N", help="kill points (default 1000)")
    parser.add_argument("--minutes", type=float, default=60.0, metavar="M", help="stop after so many (default 60)")
    options = parser.parse_args()
    if not injection.available():
        print("strace is not installed; the kills by system call cannot be run", file=sys.stderr)
        return 2
    begun, seconds = time.monotonic(), options.minutes * 60
    through = options.points * 3 // 10
    with tempfile.TemporaryDirectory(prefix="faults-") as folder, ThreadPoolExecutor(HOUSES) as beside:
        each = (through // HOUSES, PER_RUN, begun + seconds, True)
        futures = [beside.submit(through_rq.kill_runs, *each) for _ in range(HOUSES)]
        figures = _by_system_call(Path(folder), options.points - through, seconds)
        kills = through_rq.together([future.result() for future in futures])
    return _report(figures, kills, time.monotonic() - begun)


def _by_system_call(folder: Path, points: int, seconds: float) -> series.Figures:
    wanted = {name: round(points * share) for name, share in SHARES.items()}
    left = points - sum(wanted.values())
    return series.play(folder, wanted, errors=left // 3, doubles=left // 3, seconds=seconds)


def _report(figures: series.Figures, kills: Kills, seconds: float) -> int:
    faults = figures.faults + kills.figures.faults
    print(figures.table(), "\n", sep="")
    print(kills.table(), "\n", sep="")
    counted = figures.in_time + kills.figures.in_time
    print(f"{counted} kill points that count, in {seconds / 60:.0f} minutes; {len(faults)} faults")
    print(*faults, sep="\n")
    return 1 if faults else 0


if __name__ == "__main__":
    sys.exit(main())
