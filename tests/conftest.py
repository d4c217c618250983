"""What every test may use."""

import gc
from typing import Any

import pytest

pytest_plugins = ["tests.people", "tests.requirements", "tests.order"]


def pytest_collection_finish() -> None:
    """What a session keeps to its end is not looked through for garbage again and again: a twentieth of its time."""
    gc.freeze()


@pytest.fixture
def everywhere(db: Any, django_db_blocker: Any) -> None:
    """Marker-like fixture: see pytest.mark.django_db(databases="__all__") in modules that need all four databases."""


@pytest.fixture(autouse=True)
def sites_in_no_need_of_a_pause(monkeypatch: pytest.MonkeyPatch) -> None:
    """A look at a site of a test does not wait between its requests; the tests of that pace set it back."""
    monkeypatch.setattr("crawler.preview.throttled_client.pause_of_looks", lambda: 0.0)
