"""Threat T43: connections that drip hold the threads of the web server until nobody else is answered.

The short form of `make abuse`: the front, both web processes and the demo as they run, 60 drips of each kind.
"""

import pytest

from tests.abuse.drips import BODIES, HEADERS, Drip, Drips, readers, waited
from tests.abuse.people import Worker
from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House

__all__ = ["house", "prepared_folder"]


@pytest.fixture
def worker(house: House) -> Worker:
    house.manage("load_demo")
    house.start_front()
    return Worker(house.port, house.folder)


@pytest.mark.parametrize("drip", [HEADERS, BODIES, readers("/static/app.css")], ids=lambda drip: drip.name)
def test_t43_people_work_while_others_drip(drip: Drip, house: House, worker: Worker) -> None:
    worker.search()
    worker.sign_in()
    with Drips(house.port, drip, 60):
        for ask in (worker.search, worker.sign_in):
            times = waited(ask, 5)
            assert times[len(times) // 2] < 3, times
