"""The short form of `make abuse`: a reader calls everything he may, at random, and people search, sign in and launch.

Twice an idle house is the promise, measured on a machine that does nothing else; here others may be at work beside it.
"""

from collections.abc import Iterator

import pytest

from tests.abuse.addresses import LEAVES, Call
from tests.abuse.measure import AS, READER, calls_of, measured, prepare, silent_site
from tests.abuse.people import Worker
from tests.abuse.reader import Reader
from tests.accounts.matrix import PEOPLE, ROWS
from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House

__all__ = ["house", "prepared_folder"]
MOST, MARGIN = 2.0, 1.5  # times idle, and seconds for what else this machine does


@pytest.fixture
def silent() -> Iterator[str]:
    with silent_site() as address:
        yield address


def test_a_reader_at_his_worst_holds_up_nobody(house: House, silent: str) -> None:
    prepare(house, silent)
    worker, reader = Worker(house.port, house.folder), Worker(house.port, house.folder, READER)
    worker.sign_in()
    reader.sign_in()
    calls = calls_of(house, silent)
    assert missing(calls) <= NOT_IN_THE_DEMO
    idle = measured(house, worker, 3)
    with Reader(house.port, reader, calls) as worst:
        beside = measured(house, worker, 3)
        for _ in range(5):
            worker.healthz()
    assert all(mine <= MOST * theirs + MARGIN for mine, theirs in zip(beside, idle, strict=True)), (beside, idle)
    assert worst.statuses[200] and not worst.statuses[500], worst.statuses


# Addresses of rows that the demo has not got, so that nobody can call them there.
NOT_IN_THE_DEMO = {
    name
    for name, (get, *_) in ROWS.items()
    if any(
        word in name
        for word in ("preview", "note", "api-finding", "request", "generation", "propagation", "schedule", "rule")
    )
} | {"index-page", "api-index-page", "api-error-mark", "run-error", "finding-decide"}


def missing(calls: list[Call]) -> set[str]:
    """What the matrix gives this reader, and is not called."""
    place, called = PEOPLE.index(AS), {call.name for call in calls}
    given = {name for name, (get, post, *_) in ROWS.items() if "Y" in (get[place], post[place])}
    return given - called - LEAVES
