"""The same path with all four databases on a real PostgreSQL, each in a database of its own: by commands and through
workers, with kills, propagation, rollback and search."""

import shutil
import tempfile
from collections.abc import Iterator
from itertools import count
from pathlib import Path
from typing import Any

import pytest

from tests.flow.house import House
from tests.flow.test_commands import (  # noqa: F401 - run again, here
    test_a_page_entered_by_commands_is_found_by_search,
    test_the_demo_crawls_propagates_and_can_be_rolled_back,
)
from tests.flow.test_through_rq import (  # noqa: F401
    test_a_killed_worker_leaves_no_orphan_and_loses_nothing,
    test_a_launched_run_is_crawled_by_workers_and_found_by_search,
)
from tests.postgres import Server, programs
from tests.requirements import need

NAMES = {"DB": "library", "DB_WEBCRAWL": "webcrawl", "DB_PRIMARY": "primary", "DB_BACKUP": "backup"}
_numbers = count(1)


class Elsewhere(House):
    """A house with no database of its own: they are copies of prepared ones, which the server makes from templates."""

    def __init__(self, folder: Path, server: Server, number: int) -> None:
        super().__init__(folder)
        self._server, self._number = server, number
        for key, name in NAMES.items():
            self.env[f"CLEARINGHOUSE_{key}"] = server.url(f"{name}{number}", like=name)

    def _webcrawl(self, sql: str) -> list[tuple[Any, ...]]:
        return self._server.execute(sql, database=f"{NAMES['DB_WEBCRAWL']}{self._number}")


@pytest.fixture(scope="module")
def server() -> Iterator[Server]:
    """It flushes, as in production: workers refuse one that does not."""
    need("postgres", programs() is not None, "initdb, pg_ctl and postgres are not installed")
    found = Server.installed()
    assert found
    yield found
    found.stop()


@pytest.fixture(scope="module")
def prepared(server: Server, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Its databases are the templates of all others; its folder has the keys that belong to them."""
    house = House(tmp_path_factory.mktemp("prepared"))
    house.env |= {f"CLEARINGHOUSE_{key}": server.url(name) for key, name in NAMES.items()}
    house.manage("prepare")
    return house.folder


@pytest.fixture
def house(prepared: Path, server: Server) -> Iterator[House]:
    above = Path(tempfile.mkdtemp(prefix="house-"))  # a short name: Redis listens on a socket in it
    shutil.copytree(prepared, above / "var")
    house = Elsewhere(above / "var", server, next(_numbers))
    try:
        yield house
    finally:
        house.close()
        shutil.rmtree(above, ignore_errors=True)


def test_no_file_of_a_database_is_made_where_all_are_elsewhere(house: House) -> None:
    house.manage("add_document", "Measures")
    house.manage("propagate")
    assert list(house.folder.glob("*.sqlite3*")) == []
