"""One prepared house for the tests of this room that need an empty one: they copy it."""

import pytest

from tests.faults.house import House, prepared_once


@pytest.fixture(scope="session")
def bare() -> House:
    return prepared_once()
