"""What every test may use."""

from typing import Any

import pytest

pytest_plugins = ["tests.people", "tests.requirements", "tests.order"]


@pytest.fixture
def everywhere(db: Any, django_db_blocker: Any) -> None:
    """Marker-like fixture: see pytest.mark.django_db(databases="__all__") in modules that need all four databases."""
