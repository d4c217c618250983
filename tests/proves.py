"""python -m tests.proves: docs/coverage.md, each row with the tests that are marked to prove it.

A test is marked where it stands: @proves("rule 2", "goal 10"). Marks are read from the text, nothing is imported.
"""

import ast
import re
from collections import defaultdict
from collections.abc import Iterator
from pathlib import Path

import pytest

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "coverage.md"
ROW = re.compile(
    r"^\| ((?:rule |goal )?[A-Z]?\d+) \| ([^|]+) \| (.*) ?\|$", re.M
)  # name, what must hold, why not tested


def proves(*rows: str) -> pytest.MarkDecorator:
    """These rows of docs/coverage.md do not hold any more when this test fails."""
    return pytest.mark.proves(*rows)


def marks() -> dict[str, list[str]]:
    """Of each row the tests that prove it."""
    found: dict[str, list[str]] = defaultdict(list)
    for path in sorted(TESTS.rglob("test_*.py")):
        text = path.read_text()
        if "@proves(" in text:
            for row, test in _marks_in(ast.parse(text)):
                found[row].append(f"{path.relative_to(TESTS.parent)}::{test}")
    return found


def _marks_in(tree: ast.Module) -> Iterator[tuple[str, str]]:
    for node in tree.body:
        for mark in node.decorator_list if isinstance(node, ast.FunctionDef) else ():
            if isinstance(mark, ast.Call) and isinstance(mark.func, ast.Name) and mark.func.id == proves.__name__:
                yield from ((ast.literal_eval(row), node.name) for row in mark.args)


def table() -> str:
    """The page, with tests."""
    found = marks()

    def row(match: re.Match[str]) -> str:
        name, words, why = match.groups()
        cells = "<br>".join([*(f"`{test}`" for test in found[name]), *([why.strip()] if why.strip() else [])])
        return f"| {name} | {words} | {cells} |"

    return ROW.sub(row, PAGE.read_text().replace("| not tested |", "| tests |"))


if __name__ == "__main__":
    print(table(), end="")
