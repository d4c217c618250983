"""A propagation killed at any system call, while people search (faults C1 and C3): the short form of `make faults`."""

import time
from pathlib import Path

from tests.faults import injection, propagation
from tests.faults.house import House
from tests.proves import proves
from tests.requirements import need

POINTS, SECONDS = 14, 240.0  # less than a minute on a machine that has nothing else to do
WAIT = 10.0  # seconds: of a reader who waited for a writer; one that only shares a busy machine takes less
AT_LEAST = 12  # of these must have killed a propagation that was at work


@proves("C1", "goal 7")
def test_readers_see_whole_generations_and_the_public_comes_home(tmp_path: Path, bare: House) -> None:
    need("strace", injection.available(), "strace is not installed")
    totals = propagation.play(tmp_path, POINTS, time.monotonic() + SECONDS, bare)
    print("\n" + totals.table())
    assert totals.faults == []
    assert totals.kills >= AT_LEAST, totals.table()
    assert totals.reads["reads"] > 200
    assert totals.reads["empty"] == totals.reads["mixed"] == totals.reads["refused"] == 0
    assert totals.slowest < WAIT
