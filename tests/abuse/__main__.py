"""make abuse: what people wait while one reader does his worst by every address he may call, and while others drip.

--seconds N at each address (60), --only WORD… addresses with one of them in their name, --part 1/4 a quarter of the
addresses (all of them take more than two hours), --drips N connections (200).
Prints a table; exit 1 when somebody waits for more than twice as long as in an idle house.
"""

import argparse
import statistics
import sys
import tempfile
import time
from pathlib import Path

from tests.flow.house import House

from .drips import Drips, all_drips
from .measure import READER, Waits, calls_of, measured, prepare, silent_site
from .people import Worker
from .reader import Reader

MOST = 2.0
_MS = "search {:,.0f} ms, sign-in {:,.0f} ms, launch {:,.0f} ms"


def main() -> int:
    parser = argparse.ArgumentParser(prog="python -m tests.abuse", description=__doc__)
    parser.add_argument("--seconds", type=float, default=60.0)
    parser.add_argument("--drips", type=int, default=200)
    parser.add_argument("--only", nargs="+", default=[""], metavar="WORD")
    parser.add_argument("--part", type=_part, default=(1, 1), metavar="K/N")
    given = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="abuse-") as folder, silent_site() as silent:
        house = House(Path(folder) / "var")
        house.folder.mkdir()
        try:
            house.manage("prepare")
            prepare(house, silent)
            return abuse(house, silent, given)
        finally:
            house.close()


def abuse(house: House, silent: str, given: argparse.Namespace) -> int:
    worker, reader = Worker(house.port, house.folder), Worker(house.port, house.folder, READER)
    worker.sign_in()
    reader.sign_in()
    idle = measured(house, worker, 6)
    print(f"idle: {_MS.format(*(1000 * one for one in idle))}\n\n| what | search | sign-in | launch | answers |")
    print("| --- | --- | --- | --- | --- |", flush=True)
    missed = 0
    for drip in all_drips(worker.stylesheet()):
        if given.drips and _asked_for(drip.name, given.only):
            with Drips(house.port, drip, given.drips):
                missed += row(f"{given.drips} × {drip.name}", measured(house, worker, 6), idle, "")
    part, parts = given.part
    for call in calls_of(house, silent)[part - 1 :: parts]:
        if _asked_for(call.name, given.only):
            with Reader(house.port, reader, [call]) as worst:
                waits = throughout(house, worker, given.seconds)
            told = ", ".join(f"{count} × {status}" for status, count in worst.statuses.most_common(3))
            missed += row(f"{call.method} {call.name}", waits, idle, told)
    print(f"\n{missed} beyond {MOST} × of idle")
    return 1 if missed else 0


def _part(text: str) -> tuple[int, int]:
    part, parts = map(int, text.split("/"))
    if not 1 <= part <= parts:
        raise argparse.ArgumentTypeError(f"{text} is no part")
    return part, parts


def _asked_for(name: str, words: list[str]) -> bool:
    return any(word in name for word in words)


def throughout(house: House, worker: Worker, seconds: float) -> Waits:
    """Of all rounds that begin within these seconds, because what piles up is met late."""
    until, rounds = time.monotonic() + seconds, list[Waits]()
    while not rounds or time.monotonic() < until:
        rounds.append(measured(house, worker, 3))
    return Waits(*map(statistics.median, zip(*rounds, strict=True)))


def row(name: str, waits: Waits, idle: Waits, told: str) -> bool:
    ratios = waits.beside(idle)
    print(f"| {name} | {' | '.join(f'{one:.1f} ×' for one in ratios)} | {told} |", flush=True)
    return max(ratios) > MOST


if __name__ == "__main__":
    sys.exit(main())
