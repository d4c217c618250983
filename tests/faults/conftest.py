"""One prepared house for the tests of this room that need an empty one: they copy it."""

import pytest

from tests.faults.house import House


@pytest.fixture(scope="session")
def bare(tmp_path_factory: pytest.TempPathFactory) -> House:
    house = House(tmp_path_factory.mktemp("bare") / "house")
    house.manage("prepare")
    return house
