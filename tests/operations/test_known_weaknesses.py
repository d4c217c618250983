"""What is known to be weak is named, by versions read as numbers; what is installed here is above every floor."""

import re

import pytest

from clearinghouse.operations.health.known_weaknesses import (
    LIBRARIES,
    PYTHON,
    Floor,
    installed,
    running,
    weak,
    weak_python,
)
from tests.house.tree import BASE


def test_no_library_of_ours_is_older_than_its_floor() -> None:
    here = installed()
    assert [floor.name for floor in LIBRARIES if floor.name not in here] == []
    assert weak(here) == []


def test_a_fresh_install_gets_none_that_is() -> None:
    pinned = dict(re.findall(r"^([\w.-]+)==(.+)$", (BASE / "constraints.txt").read_text().lower(), re.M))
    assert weak(pinned) == [] and len(pinned) > 50


@pytest.mark.parametrize(
    ("here", "least", "old"),
    [
        ("2.6.3", "2.7.0", True),
        ("2.7.0", "2.7.0", False),
        ("2.7", "2.7.0", False),
        ("2.10.0", "2.7.0", False),
        ("10", "9.9.9", False),
        ("2.7.0rc1", "2.7.1", True),
        ("2.7.post1", "2.7.0", False),
        ("nonsense", "0.1", True),
    ],
)
def test_versions_are_compared_as_numbers(here: str, least: str, old: bool) -> None:
    assert bool(weak({"urllib3": here}, [Floor("urllib3", least, "x")])) is old


def test_each_says_what_is_installed_and_where_it_is_mended() -> None:
    assert weak({"urllib3": "2.6.3", "django": "5.2.19"}) == [
        "urllib3 2.6.3: CVE-2026-44432, CVE-2026-44431: limits of unpacking are passed by, headers go along; "
        "fixed in 2.7.0"
    ]


def test_an_old_python_is_warned_of() -> None:
    assert len(weak_python("3.11.7")) == len(PYTHON) == 4
    assert [line.partition(":")[2][:15] for line in weak_python("3.11.13")] == [" CVE-2025-6069:"]
    assert weak_python("3.11.14") == []
    assert running().startswith("3.11.")
