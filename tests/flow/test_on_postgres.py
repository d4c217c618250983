"""The same path with all four databases on a real PostgreSQL, each in a database of its own: by commands and through
workers, with kills, propagation, rollback and search."""

from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.flow import elsewhere
from tests.flow.conftest import fresh_house
from tests.flow.house import House
from tests.flow.test_commands import (  # noqa: F401 - run again, here
    test_a_page_entered_by_commands_is_found_by_search,
    test_the_demo_crawls_propagates_and_can_be_rolled_back,
)
from tests.flow.test_through_rq import (  # noqa: F401
    test_a_killed_worker_leaves_no_orphan_and_loses_nothing,
    test_a_launched_run_is_crawled_by_workers_and_found_by_search,
)
from tests.postgres import durable, programs
from tests.requirements import need


@pytest.fixture(scope="module")
def prepared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    need("postgres", programs() is not None, "initdb, pg_ctl and postgres are not installed")
    return elsewhere.prepare(tmp_path_factory.mktemp("prepared"), durable(request.config))


@pytest.fixture
def house(prepared_folder: Path) -> Iterator[House]:
    with fresh_house(prepared_folder) as house:
        yield house


def test_no_file_of_a_database_is_made_where_all_are_elsewhere(house: House) -> None:
    house.manage("add_document", "Measures")
    house.manage("propagate")
    assert list(house.folder.glob("*.sqlite3*")) == []
