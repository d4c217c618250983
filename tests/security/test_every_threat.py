"""SECURITY.md: each threat has one row, which names its defence and tests; both exist."""

import ast
import re
from functools import cache

from tests.house.test_coverage import REASON
from tests.house.tree import BASE

ROW = re.compile(r"^\| T(\d+) \| ([^|]+) \| ([^|]+) \| (.+) \|$", re.M)
MODULE = re.compile(r"`([\w/]+\.py)`")
TEST = re.compile(r"`(tests/[\w/]+\.py)::(test_\w+)`")


def rows() -> list[tuple[str, str, str, str]]:
    return ROW.findall((BASE / "SECURITY.md").read_text())


def test_every_threat_has_exactly_one_row() -> None:
    numbers = [int(number) for number, *_ in rows()]
    assert numbers == sorted(set(numbers)) and numbers[:36] == list(range(1, 37))


def test_every_row_names_tests_and_only_tests_that_exist() -> None:
    for number, _, _, cell in rows():
        tests = TEST.findall(cell)
        assert tests, f"T{number}"
        assert [f"{file}::{name}" for file, name in tests if name not in functions_of(file)] == []
        rest = TEST.sub("", cell).replace("<br>", "").strip()
        assert not rest or REASON.fullmatch(rest), f"T{number}"


def test_every_defence_stands_where_the_table_says() -> None:
    named = [file for _, _, defence, _ in rows() for file in MODULE.findall(defence)]
    assert len(named) > 40 and [file for file in named if not (BASE / file).is_file()] == []


@cache
def functions_of(file: str) -> set[str]:
    """The functions of a test module by their text: nothing is imported."""
    path = BASE / file
    if not path.is_file():
        return set()
    return {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.FunctionDef)}
