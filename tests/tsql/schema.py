"""Owns: what the kinds of the columns say about a statement: texts it tells apart, sums of bits, dates.

Called by: plugin.
"""

from collections.abc import Iterable, Iterator

import sqlglot
from sqlglot import exp

from tests.tsql import rules
from tests.tsql.tables import columns

_STATEMENTS = (exp.Select, exp.Update, exp.Delete, exp.Insert)
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Like, exp.Between)
_EXACT = "_BIN2"


class Schema:
    """The columns that the migrations make, of all databases; where two have a table in common, it is the same."""

    def __init__(self, statements: Iterable[str]) -> None:
        self._kinds: dict[str, dict[str, str]] = {}
        for table, name, kind, rest in columns(list(statements)):
            self._kinds.setdefault(table.lower(), {})[name.lower()] = f"{kind} {rest}"

    def read(self, sql: str) -> tuple[set[str], list[str]]:
        """The texts that a statement compares, groups or makes distinct (table.column), and what is wrong with it."""
        texts: set[str] = set()
        wrong: list[str] = []
        for tree in filter(None, sqlglot.parse(rules.readable(sql), read=rules.DIALECT)):
            for column in _told_apart(tree):
                name, kind = self._kind(column)
                if "char" in kind and _EXACT not in kind and not _told_letter_by_letter(column):
                    texts.add(name)
            wrong += self._bits(tree)
            wrong += self._dates(tree)
        return texts, wrong

    def _bits(self, tree: exp.Expression) -> Iterator[str]:
        for node in tree.find_all(exp.Sum, exp.Max, exp.Min, exp.Avg):
            if isinstance(node.this, exp.Column) and self._kind(node.this)[1].startswith("bit"):
                yield f"an aggregate of a bit: {node.sql(rules.DIALECT)}"

    def _dates(self, tree: exp.Expression) -> Iterator[str]:
        for node in tree.find_all(exp.Add, exp.Sub):
            for side in (node.left, node.right):
                if isinstance(side, exp.Column) and self._kind(side)[1].startswith("date"):
                    yield f"a date is reckoned with: {node.sql(rules.DIALECT)}"

    def _kind(self, column: exp.Column) -> tuple[str, str]:
        """table.column and its type, looked for in the statement around it and in those around that one."""
        scope: exp.Expression | None = column
        while scope := scope.find_ancestor(*_STATEMENTS) if scope else None:
            for table in scope.find_all(exp.Table):
                of_this = table.find_ancestor(*_STATEMENTS) is scope
                if of_this and column.table.lower() in {"", table.alias_or_name.lower()}:
                    kind = self._kinds.get(table.name.lower(), {}).get(column.name.lower())
                    if kind:
                        return f"{table.name}.{column.name}".lower(), kind
        return "", ""


def _told_letter_by_letter(column: exp.Column) -> bool:
    return isinstance(column.parent, exp.Collate) and _EXACT in column.parent.expression.sql()


def _told_apart(tree: exp.Expression) -> Iterator[exp.Column]:
    for node in tree.find_all(*_COMPARED):
        if isinstance(node.parent, exp.Update):
            continue  # what is set is not compared
        yield from node.this.find_all(exp.Column)
        if isinstance(node.args.get("expression"), exp.Column):
            yield node.args["expression"]
    for node in tree.find_all(exp.Group):
        yield from node.find_all(exp.Column)
    for node in tree.find_all(exp.Select):
        if node.args.get("distinct"):
            for column in node.expressions:
                yield from column.find_all(exp.Column)
    for node in tree.find_all(exp.Distinct):  # COUNT(DISTINCT …)
        yield from node.find_all(exp.Column)
