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
from tests.postgres import programs
from tests.proves import proves
from tests.requirements import need

SHORT = {"fdatasync": 11, "pwrite64": 11, "connect": 5, "recvfrom": 5, "sendto": 5}
ERRORS, DOUBLES = 4, 4
ON_POSTGRES = 3  # at each of two system calls
THROUGH_RQ = 9  # each way once
AT_LEAST = 60  # kills that count, of all kinds
RQ_SECONDS = 300.0  # the kills end sooner; a busy machine needs longer


@pytest.fixture(scope="module", autouse=True)
def kills_through_rq() -> Iterator[Future[Kills]]:
    """In a house on PostgreSQL where that is installed: there the database can be killed too."""
    with ThreadPoolExecutor(1) as beside:
        deadline = time.monotonic() + RQ_SECONDS
        yield beside.submit(through_rq.on_postgres, THROUGH_RQ, THROUGH_RQ, deadline)


@proves(
    "rule 3",
    "rule 4",
    "I1",
    "I2",
    "I3",
    "I4",
    "I6",
    "A1",
    "A2",
    "A3",
    "A14",
    "A15",
    "F15",
    "goal 1",
    "goal 2",
    "goal 6",
    "goal 11",
)
def test_no_system_call_is_a_bad_moment_to_be_killed(tmp_path: Path) -> None:
    need("strace", injection.available(), "strace is not installed")
    figures = series.play(tmp_path, SHORT, ERRORS, DOUBLES)
    print("\n" + figures.table())
    assert figures.faults == []
    assert figures.kills >= AT_LEAST - THROUGH_RQ - 2 * ON_POSTGRES, figures.table()
    assert figures.row(series.DOUBLE).in_time >= DOUBLES


@proves("A4", "goal 1")
def test_nor_is_any_word_to_or_from_postgresql(tmp_path: Path) -> None:
    need("strace", injection.available(), "strace is not installed")
    need("postgres", programs() is not None, "initdb, pg_ctl and postgres are not installed")
    figures = series.play_postgres(tmp_path, ON_POSTGRES)
    print("\n" + figures.table())
    assert figures.faults == []
    assert figures.kills >= 2 * ON_POSTGRES, figures.table()


@proves("rule 6", "I2", "I7", "A5", "A11", "B2", "B3", "goal 1", "goal 3", "goal 4")
def test_workers_their_horses_redis_and_the_database_may_be_killed(kills_through_rq: Future[Kills]) -> None:
    kills = kills_through_rq.result()
    print("\n" + kills.table())
    assert kills.figures.faults == []
    assert kills.figures.kills >= THROUGH_RQ, kills.table()
    asleep_or_emptied = [row.phase for row in kills.figures.rows.values() if not row.deadly]
    assert through_rq.FLUSHED in asleep_or_emptied, "a Redis that was only emptied is no kill"
