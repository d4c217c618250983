"""What was recorded before the modules moved equals what is; and a difference would be seen and named.

The parts that are cheap run here; `python -m tests.recorded` compares all of them.
"""

import copy
import subprocess
import sys
from typing import Any

from tests.house.tree import BASE
from tests.recorded import files
from tests.recorded.differences import differences
from tests.recorded.parts import PARTS
from tests.recorded.rules import settled

SECONDS = 600  # on a machine with other things to do


def test_what_was_recorded_equals_what_is() -> None:
    """In a process of its own: ids, and what a process keeps, are those of one that has done nothing yet."""
    command = [sys.executable, "-m", "tests.recorded", "--short"]
    done = subprocess.run(command, cwd=BASE, capture_output=True, text=True, timeout=SECONDS, check=False)
    assert done.returncode == 0, f"{done.stdout}{done.stderr}"


def test_every_part_was_recorded() -> None:
    assert [part.name for part in PARTS if not files.read(part.name)] == []


def one_sentence(record: dict[str, Any]) -> None:
    record["api/me.json"]["GET no key"]["answer"]["body"]["error"] = "Something else."


def one_status(record: dict[str, Any]) -> None:
    record["statuses.json"]["GET /settings/"]["reader"] = "200"


def one_column(record: dict[str, Any]) -> None:
    record["schema-sqlite.json"]["webcrawl"]["tables"]["excursion"]["columns"]["sort"] = "varchar(10) not null"


def one_address(record: dict[str, Any]) -> None:
    del record["openapi.json"]["operations"]["GET /me/"]


def test_a_difference_is_named_with_its_place() -> None:
    told = {
        one_sentence: "changed  api/me.json > GET no key > answer > body > error: was",
        one_status: 'changed  statuses.json > GET /settings/ > reader: was "403", is "200"',
        one_column: "added    schema-sqlite.json > webcrawl > tables > excursion > columns > sort: ",
        one_address: "removed  openapi.json > operations > GET /me/: {",
    }
    before = files.read("api") | files.read("statuses") | files.read("schema-sqlite") | files.read("openapi")
    for change, line in told.items():
        now = copy.deepcopy(before)
        change(now)
        (found,) = differences(before, now)
        assert found.startswith(line)


def test_a_row_more_or_less_of_a_list_is_named() -> None:
    assert list(differences({"rows": [1, 2, 3]}, {"rows": [1, 3]})) == ["removed  rows: 2"]
    assert list(differences({"rows": [1]}, {"rows": [1, True]})) == ["added    rows: true"]
    assert list(differences({"rows": [1, 2]}, {"rows": [2, 1]})) == [
        "changed  rows > 1: was 1, is 2",
        "changed  rows > 2: was 2, is 1",
    ]


def test_nothing_is_not_zero_nor_empty() -> None:
    assert len(list(differences({"a": None, "b": 0, "c": ""}, {"a": 0, "b": False, "c": None}))) == 3


def test_moments_and_durations_are_settled_and_what_is_empty_stays() -> None:
    told = {
        "at": "2026-11-20T07:30:39.1+00:00",
        "seconds": 3,
        "undo": "",
        "page": 2,
        "text": "on 2026-11-20",
        "n": None,
    }
    assert settled(told) == {
        "at": "<moment>",
        "seconds": "<duration>",
        "undo": "",
        "page": 2,
        "text": "on <date>",
        "n": None,
    }
