"""One prepared house for the tests of this room that need an empty one: they copy it. And one with a site to crawl, on
each kind of database."""

from collections.abc import Iterator

import pytest

from tests.faults import databases
from tests.faults.databases import Bench, Databases
from tests.faults.house import House, prepared_once
from tests.postgres import postgres  # noqa: F401 - a fixture


@pytest.fixture(scope="session")
def bare() -> House:
    return prepared_once()


@pytest.fixture(scope="module")
def bench(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Bench]:
    """Each page of its site as late as the module says with DELAY."""
    name, delay = request.module.__name__.rpartition(".test_")[2], getattr(request.module, "DELAY", 0.0)
    with databases.benches(tmp_path_factory.mktemp(name), delay) as made:
        yield made


@pytest.fixture(params=["sqlite", "postgres"])
def where(bench: Bench, request: pytest.FixtureRequest) -> Databases:
    if request.param == "sqlite":
        return bench.on_sqlite()
    return bench.on_postgres(request.getfixturevalue("postgres"))
