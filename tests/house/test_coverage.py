"""docs/coverage.md names a test for every rule, fault and goal, or a reason; the tests it names exist."""

import ast
import re
from functools import cache

from tests.house.tree import BASE

PAGE = BASE / "docs" / "coverage.md"
ROW = re.compile(r"^\| ((?:rule |goal )?[A-Z]?\d+) \| ([^|]+) \| (.+) \|$", re.M)
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")
REASON = re.compile(r"not tested: \S.{9,}")


def numbered(name: str, *numbers: int) -> list[str]:
    return [f"{name}{number}" for number in numbers]


IDS = [
    *numbered("rule ", *range(1, 20)),
    *numbered("I", *range(1, 13)),
    *numbered("A", *range(1, 23)),
    *numbered("B", *range(1, 14)),
    *numbered("C", *range(1, 14)),
    *numbered("D", *range(1, 32)),
    *numbered("E", *range(1, 20)),
    *numbered("F", *range(1, 16)),
    *numbered("G", *range(1, 7)),
    *numbered("goal ", *range(1, 16), 21, 22, 23, 27, 28, 29, 30),
    *numbered("J", *range(1, 8)),
]


def rows() -> list[tuple[str, str, str]]:
    return ROW.findall(PAGE.read_text())


def test_every_rule_fault_and_goal_has_exactly_one_row():
    assert [name for name, _, _ in rows()] == IDS


def test_every_row_names_a_test_or_a_reason():
    silent = [name for name, _, cell in rows() if not TEST.findall(cell) and not REASON.fullmatch(cell)]
    assert silent == []


def test_every_test_that_is_named_exists():
    named = {pair for _, _, cell in rows() for pair in TEST.findall(cell)}
    assert len(named) > 100
    missing = [f"{file}::{name}" for file, name in sorted(named) if name not in functions_of(file)]
    assert missing == []


def test_a_cell_holds_nothing_but_tests_or_a_reason():
    odd = [(name, rest) for name, _, cell in rows() if (rest := left_over(cell))]
    assert odd == []


def left_over(cell: str) -> str:
    """What a cell says beside tests: only one reason, for all or for the part that has none."""
    return REASON.sub("", TEST.sub("", cell)).replace("<br>", "").strip()


@cache
def functions_of(file: str) -> set[str]:
    """The functions of a test module by their text: nothing is imported."""
    path = BASE / file
    if not path.is_file():
        return set()
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}
