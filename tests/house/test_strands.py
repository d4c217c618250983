"""What an excursion's strand means stands in one table; whoever needs to know asks it."""

import ast

from crawler.engine.strands import STRANDS
from tests.house.tree import modules

TABLE = "crawler.engine.strands"


def test_nothing_but_the_table_of_strands_decides_by_their_names():
    found = [
        f"{name}:{node.lineno}: {ast.unparse(node)}"
        for name, module in modules().items()
        if name.startswith("crawler.") and name != TABLE
        for node in ast.walk(module.tree)
        if isinstance(node, ast.Compare | ast.MatchValue) and any(map(_names_a_strand, ast.walk(node)))
    ]
    assert found == []


def _names_a_strand(node: ast.AST) -> bool:
    if isinstance(node, ast.Constant):
        return node.value in STRANDS
    return isinstance(node, ast.Name | ast.Attribute) and ast.unparse(node).split(".")[-1].lower() in STRANDS
