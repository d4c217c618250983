"""Addresses as w3lib (of Scrapy) writes them: the equations its tests assert, read from their Python, not run.

Asked is whether both take the two sides of an equation for the same address: ours has one canonical form for them.
"""

import ast
from collections.abc import Iterator
from pathlib import Path

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from tests.suites import Result

NAME = "w3lib, addresses"
FOLDER = "w3lib"

_FUNCTIONS = ("safe_url_string", "canonicalize_url")


def run(folder: Path) -> Result:
    result = Result()
    for function, given, wanted in _equations(ast.parse((folder / "tests/test_url.py").read_text())):
        ours, theirs = _written(given), _written(wanted)
        if ours != theirs and function == "canonicalize_url" and "?" in given:
            result.differ("parameters keep their order and their form: a site may read them so")
        else:
            result.judge(f"{function}({given!r})", ours, theirs)
    return result


def _equations(tree: ast.AST) -> Iterator[tuple[str, str, str]]:
    """assert function("…") == "…", where both are texts and the function is given nothing else."""
    for node in ast.walk(tree):
        match node:
            case ast.Compare(
                left=ast.Call(func=ast.Name(id=name), args=[ast.Constant(value=str(given))], keywords=[]),
                comparators=[ast.Constant(value=str(wanted))],
            ) if name in _FUNCTIONS:
                yield name, given, wanted


def _written(url: str) -> str:
    found = parse(url)
    return found.reason if isinstance(found, Refusal) else found.href
