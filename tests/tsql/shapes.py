"""Owns: what SQL Server refuses, or takes for something else than we mean, in the shape of a parsed statement. Pure.

What is no fault there, although it is one elsewhere: whole numbers are divided to whole numbers (as by SQLite and
PostgreSQL), text + NULL is NULL (as ||), long texts may be grouped, ordered and made distinct (only the old types text
and image may not; test_tables.py finds those). Called by: rules.
"""

from collections.abc import Callable, Iterable, Iterator
from typing import Any

from sqlglot import exp

from tests.tsql.words import RESERVED

DIALECT = "tsql"
MOST_ROWS = 1_000  # of one VALUES
_CONDITIONS = (exp.Exists, exp.And, exp.Or, exp.Not, exp.In, exp.Between, exp.Like, exp.EQ, exp.NEQ, exp.GT, exp.GTE,
               exp.LT, exp.LTE, exp.Is, exp.Escape)  # fmt: skip
_COMPARED = (exp.EQ, exp.NEQ, exp.GT, exp.GTE, exp.LT, exp.LTE, exp.In, exp.Between)
_RANKS = (exp.RowNumber, exp.Rank, exp.DenseRank)
_QUERY = (exp.Select, exp.SetOperation)


def said(node: exp.Expression, length: int = 60) -> str:
    return node.sql(DIALECT)[:length]


def faults(tree: exp.Expression) -> Iterator[str]:
    for look in _LOOKS:
        yield from look(tree)
    for select in tree.find_all(exp.Select):
        for look in _LOOKS_AT_A_SELECT:
            yield from look(select)


# Conditions and values --------------------------------------------------------------------------------------------


def _conditions(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Where, exp.Having):
        yield from _bare(node.this)
    for node in tree.find_all(exp.Join):
        if node.args.get("on"):
            yield from _bare(node.args["on"])
    for node in tree.find_all(exp.If):
        if isinstance(node.parent, exp.Case) and node.parent.this is None:
            yield from _bare(node.this)


def _bare(node: exp.Expression) -> Iterator[str]:
    """A condition is a comparison: a column, a number or a call is none, however much it means yes or no."""
    if isinstance(node, exp.Paren | exp.Not):
        yield from _bare(node.this)
    elif isinstance(node, exp.And | exp.Or):
        yield from _bare(node.left)
        yield from _bare(node.right)
    elif not isinstance(node, _CONDITIONS):
        yield f"no comparison: {said(node)}"


def _comparisons(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(*_COMPARED):
        if any(isinstance(side, exp.Tuple) for side in (node.this, node.args.get("expression"))):
            yield f"rows are compared: {said(node)}"
        if isinstance(node, exp.In) and not (node.expressions or node.args.get("query")):
            yield f"IN of nothing: {said(node)}"
        sides = [node.this, node.args.get("expression")]
        if any(isinstance(_inside(side), _CONDITIONS) for side in sides if side):
            yield f"a condition is compared: {said(node)}"
    for node in tree.find_all(exp.Is):
        if not isinstance(node.expression, exp.Null):
            yield f"IS of something else than NULL: {said(node)}"


def _columns(select: exp.Select) -> Iterator[str]:
    for column in select.expressions:
        if isinstance(_inside(column.unalias()), _CONDITIONS):
            yield f"a condition stands as a column: {said(column)}"


def _inside(node: exp.Expression) -> exp.Expression:
    return node.unnest()


# Order, and how much of it ----------------------------------------------------------------------------------------


def _orders(select: exp.Select) -> Iterator[str]:
    order, offset, limit = (select.args.get(name) for name in ("order", "offset", "limit"))
    if offset and not order:
        yield "OFFSET without ORDER BY"
    if offset and isinstance(limit, exp.Limit):
        yield "TOP beside OFFSET"
    if isinstance(limit, exp.Fetch) and not offset:
        yield "FETCH without OFFSET"
    inside = isinstance(select.parent, exp.Subquery | exp.CTE | exp.In | exp.Exists)
    if inside and order and not (limit or offset):
        yield "ORDER BY in a subquery without TOP"
    if not order:
        return
    keys = [each.this for each in order.expressions]
    yield from (f"ordered by a condition: {said(key)}" for key in keys if isinstance(_inside(key), _CONDITIONS))
    yield from (f"ordered twice by {one}" for one in _twice(said(key, 500).lower() for key in keys))
    if select.args.get("distinct"):
        shown = {said(one, 2_000).lower() for column in select.expressions for one in (column, column.unalias())}
        shown |= {column.alias_or_name.lower() for column in select.expressions}
        for key in keys:
            if not isinstance(key, exp.Literal) and said(key, 2_000).lower() not in shown:
                yield f"DISTINCT, but ordered by what is not selected: {said(key)}"


def _windows(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Window):
        order = node.args.get("order")
        if isinstance(node.this, _RANKS) and not order:
            yield f"a rank without ORDER BY: {said(node)}"
        if order and any(isinstance(each.this, exp.Literal) for each in order.expressions):
            yield f"a window ordered by a number: {said(node)}"


# Groups -----------------------------------------------------------------------------------------------------------


def _groups(select: exp.Select) -> Iterator[str]:
    group = select.args.get("group")
    keys = list(group.expressions) if group else []
    aliases = {one.alias.lower() for one in select.expressions if one.alias and not isinstance(one.this, exp.Column)}
    for key in keys:
        if isinstance(key, exp.Literal):
            yield f"grouped by a number: {said(key)}"
        if key.find(exp.Placeholder):
            yield f"grouped by a parameter, which is another one than in SELECT: {said(key)}"
        if key.find(exp.Subquery, exp.Select):
            yield f"grouped by a subquery: {said(key)}"
        if isinstance(key, exp.Column) and not key.table and key.name.lower() in aliases:
            yield f"grouped by a name that SELECT only gives: {said(key)}"
    if keys or any(_of_this(one, select) for one in select.find_all(exp.AggFunc)):
        yield from _not_grouped(select, {said(key, 5_000).lower() for key in keys})


def _of_this(node: exp.Expression, select: exp.Select) -> bool:
    """An aggregate of this SELECT, and not of one inside it, nor over a window."""
    return node.find_ancestor(exp.Select) is select and not isinstance(node.parent, exp.Window)


def _not_grouped(select: exp.Select, keys: set[str]) -> Iterator[str]:
    """SQLite takes a column that is not grouped from any row; PostgreSQL does when the key is grouped."""
    names = {key.rpartition(".")[2] for key in keys}
    having = select.args.get("having")
    for part in [*select.expressions, *([having.this] if having else [])]:
        for column in _outside(part, select, keys):
            if column.name.lower() not in names and said(column.this).lower() not in names:
                yield f"neither grouped nor counted: {said(column)}"


def _outside(node: exp.Expression, select: exp.Select, keys: set[str]) -> Iterator[exp.Column]:
    """Columns that stand neither in an aggregate nor in a whole expression that is grouped by."""
    if isinstance(node, exp.AggFunc | exp.Window) or said(node, 5_000).lower() in keys or isinstance(node, _QUERY):
        return
    if isinstance(node, exp.Column):
        yield node
        return
    for child in node.iter_expressions():
        yield from _outside(child, select, keys)


def _aggregates(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.AggFunc):
        if isinstance(node.parent, exp.Window):
            continue
        if any(inner is not node for inner in node.find_all(exp.AggFunc)):
            yield f"an aggregate of an aggregate: {said(node)}"
        if node.find(exp.Select, exp.Exists):
            yield f"an aggregate of a subquery: {said(node)}"
        if isinstance(node, exp.Avg) and not isinstance(node.this, exp.Cast | exp.Convert):
            yield f"AVG of whole numbers is a whole number there: {said(node)}"
    for node in tree.find_all(exp.Filter):
        yield f"FILTER is no T-SQL: {said(node)}"


# Tables in FROM ---------------------------------------------------------------------------------------------------


def _derived(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Subquery):
        if isinstance(node.parent, exp.From | exp.Join):
            if not node.alias:
                yield f"a table without a name: {said(node)}"
            if not node.alias_column_names:
                yield from _names_of_columns(node.this)
    for node in tree.find_all(exp.CTE):
        if not node.alias_column_names:
            yield from _names_of_columns(node.this)
    for node in tree.find_all(exp.With):
        if node.parent is not tree and not isinstance(node.parent.parent, exp.Create | exp.Insert):
            yield f"WITH inside a statement: {said(node)}"


def _names_of_columns(query: exp.Expression) -> Iterator[str]:
    while isinstance(query, exp.SetOperation | exp.Subquery):
        query = query.this
    if isinstance(query, exp.Select):
        names = [one.output_name.lower() for one in query.expressions if not isinstance(one.unalias(), exp.Star)]
        yield from (f"a column of a table in FROM has no name: {said(query)}" for name in names if not name)
        yield from (f"two columns of a table in FROM are called {name}" for name in _twice(names) if name)


def _targets(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Update, exp.Delete):
        if isinstance(node.this, exp.Table) and node.this.alias:
            yield f"{node.key.upper()} of a table with another name: {said(node)}"
    for node in tree.find_all(exp.Merge):
        yield f"MERGE, which two at once may both win: {said(node)}"


# Rows that are written --------------------------------------------------------------------------------------------


def _rows(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Values):
        if len(node.expressions) > MOST_ROWS:
            yield f"{len(node.expressions)} rows in one VALUES"
    for node in tree.find_all(exp.IfBlock):
        asked = node.this.find(exp.Select)
        if asked and node.args["true"].find(exp.Insert):
            hints = {hint.name.upper() for hint in asked.find_all(exp.Var)}
            if not {"UPDLOCK", "HOLDLOCK"} <= hints:
                yield f"two at once may both see nothing: {said(node)}"


def _names(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Identifier):
        if not node.args.get("quoted") and node.name.upper() in RESERVED and not node.find_ancestor(exp.Set):
            yield f"a reserved word for a name: {node.name}"


def _cascades(tree: exp.Expression) -> Iterator[str]:
    """Two ways from one table to another are refused (error 1785); Django deletes by itself, so there need be none."""
    for node in tree.find_all(exp.Reference, exp.ForeignKey):
        if any("CASCADE" in str(option).upper() for option in [*node.args.get("options", []), node.args.get("delete")]):
            yield f"deletes go on to other tables: {said(node)}"


def _twice(names: Iterable[str]) -> list[str]:
    seen = list(names)
    return sorted({name for name in seen if seen.count(name) > 1})


_LOOKS: tuple[Callable[[Any], Iterator[str]], ...] = (
    _conditions, _comparisons, _windows, _aggregates, _derived, _targets, _rows, _names, _cascades,
)  # fmt: skip
_LOOKS_AT_A_SELECT: tuple[Callable[[Any], Iterator[str]], ...] = (_columns, _orders, _groups)
