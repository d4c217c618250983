"""A fresh house for each test, copied from one that was prepared once."""

import shutil
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from tests.flow import elsewhere
from tests.flow.house import House
from tests.postgres import EVERYTHING, durable

PREPARED = pytest.StashKey[Path]()


@pytest.fixture(scope="session")
def prepared_folder(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Path:
    return prepared_once(request.config, tmp_path_factory)


def prepared_once(config: pytest.Config, folders: pytest.TempPathFactory) -> Path:
    """In the whole session: a module that imports the fixture has a fixture of its own, but no house of its own."""
    if PREPARED not in config.stash:
        folder = folders.mktemp("prepared")
        if config.pluginmanager.hasplugin(EVERYTHING):
            elsewhere.prepare(folder, durable(config))
        else:
            House(folder).manage("prepare")
        config.stash[PREPARED] = folder
    return config.stash[PREPARED]


@contextmanager
def fresh_house(prepared: Path) -> Iterator[House]:
    """Prepared, nothing started. Its folder has a short name, because Redis listens on a socket in it."""
    above = Path(tempfile.mkdtemp(prefix="house-"))
    shutil.copytree(prepared, above / "var")
    house = elsewhere.moved_in(above / "var")
    try:
        yield house
    finally:
        house.close()
        shutil.rmtree(above, ignore_errors=True)


@pytest.fixture
def house(prepared_folder: Path) -> Iterator[House]:
    with fresh_house(prepared_folder) as house:
        yield house
