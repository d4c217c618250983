"""The longest files of the suite run first: those that are named are there, and come in the order of their seconds."""

from pathlib import Path

import pytest

from tests.order import SECONDS, seconds

TESTS = Path(__file__).resolve().parents[1]


def test_every_file_that_is_to_run_early_exists() -> None:
    assert [name for name in SECONDS if not (TESTS / name).exists()] == []


def test_the_longest_files_of_a_session_come_first(request: pytest.FixtureRequest) -> None:
    order = [seconds(item.nodeid) for item in request.session.items]
    assert order == sorted(order, reverse=True)
