"""kill -9, a full disk and a broken disk at any moment of a crawl: nothing lost, doubled or out of balance.

The short form; `make faults` is the long one. The kills through RQ mostly wait, so they run beside the others.
"""

import time
from collections.abc import Iterator
from concurrent.futures import Future, ThreadPoolExecutor
from pathlib import Path

import pytest

from tests.faults import injection, series, through_rq
from tests.faults.through_rq import Kills
from tests.requirements import need

SHORT = {"fdatasync": 14, "pwrite64": 14, "connect": 6, "recvfrom": 6}
ERRORS, DOUBLES = 4, 5
AT_LEAST = 60  # kill points that count, of both kinds
THROUGH_RQ = 8  # each way once
RQ_SECONDS = 80.0


@pytest.fixture(scope="module", autouse=True)
def kills_through_rq() -> Iterator[Future[Kills]]:
    with ThreadPoolExecutor(1) as beside:
        yield beside.submit(through_rq.kill_runs, THROUGH_RQ, THROUGH_RQ, time.monotonic() + RQ_SECONDS)


def test_no_system_call_is_a_bad_moment_to_be_killed(tmp_path: Path) -> None:
    need("strace", injection.available(), "strace is not installed")
    figures = series.play(tmp_path, SHORT, ERRORS, DOUBLES)
    print("\n" + figures.table())
    assert figures.faults == []
    assert figures.in_time >= AT_LEAST - THROUGH_RQ, figures.table()


def test_workers_their_horses_and_redis_may_be_killed(kills_through_rq: Future[Kills]) -> None:
    kills = kills_through_rq.result()
    print("\n" + kills.table())
    assert kills.figures.faults == []
    assert kills.figures.in_time >= THROUGH_RQ - 1, kills.table()
