"""Threat T43: connections that drip hold the threads of the web server until nobody else is answered.

The short form of `make abuse`: the front, both web processes and the demo as they run, 60 drips of each kind.
"""

import pytest

from tests.abuse.drips import Drips, all_drips, waited
from tests.abuse.people import Worker
from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House

__all__ = ["house", "prepared_folder"]


@pytest.fixture
def worker(house: House) -> Worker:
    house.manage("load_demo")
    house.collect_static()
    house.start_front()
    return Worker(house.port, house.folder)


@pytest.mark.parametrize("number", range(4), ids=["headers", "bodies", "reading a file", "reading a search"])
def test_t43_people_work_while_others_drip(number: int, house: House, worker: Worker) -> None:
    worker.search()
    worker.sign_in()
    with Drips(house.port, all_drips(worker.stylesheet())[number], 60):
        for ask in (worker.search, worker.sign_in):
            times = waited(ask, 5)
            assert times[len(times) // 2] < 3, times
