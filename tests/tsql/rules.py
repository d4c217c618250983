"""Owns: what SQL Server takes for right, as far as a parser and a few rules can tell. Pure."""

import logging
import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

MOST_PARAMETERS = 2_100
DIALECT = "tsql"
_FOREIGN = re.compile(
    r"\bON CONFLICT\b|\bRETURNING\b|\bILIKE\b|\bLIMIT\b|::|->>|\bPRAGMA\b|\bREGEXP\b|\bTRUE\b|\bFALSE\b|\bMATCH\b"
    r"|\bjson_each\b|\bjson_extract\b|\bgenerate_series\b|\bIS (?:NOT )?DISTINCT\b|\bFOR UPDATE\b|\browid\b|\|\|"
    r"|\bWITH RECURSIVE\b|\bNULLS (?:FIRST|LAST)\b|\bCREATE TABLE IF NOT EXISTS\b|\bINSERT OR\b"
    r"|\bOFFSET\s+\S+(?=\s*$|\s+(?!ROWS?\b))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"N?'(?:[^']|'')*'|\[[^\]]*\]|\"[^\"]*\"")
# Words that cannot be the name of a column without brackets.
_RESERVED = re.compile(
    r"(?:[.(,]|SET|WHERE|AND|BY)\s*(?:key|left|right|user|order|index|group|plan|rule|table|file|read|public|current|"
    r"external|percent|primary|add|all|as|begin|check|close|column|default|desc|end|from|kill|open|option|over|proc|"
    r"schema|select|statistics|top|trigger|union|unique|view|when|with)\s*(?:=|,|\)|<|>)",
    re.IGNORECASE,
)
_CONDITIONS = (exp.Exists, exp.And, exp.Or, exp.Not, exp.In, exp.Between, exp.Like, exp.EQ, exp.NEQ, exp.GT, exp.GTE,
               exp.LT, exp.LTE, exp.Is)  # fmt: skip
_VALUES = (exp.Column, exp.Literal, exp.Boolean, exp.Placeholder, exp.Case)
_AS_THEY_STAND = {"EXEC", "SET", "DBCC", "IF", "DECLARE"}  # what sqlglot passes through
# What the parser does not know: the part of that grammar which is used here.
_BEYOND_THE_PARSER = re.compile(
    r"CREATE FULLTEXT CATALOG \w+ WITH ACCENT_SENSITIVITY = (?:ON|OFF)"
    r"|CREATE FULLTEXT INDEX ON \w+ \((?:\w+(?: TYPE COLUMN \w+)? LANGUAGE \d+(?:, )?)+\) "
    r"KEY INDEX \w+ ON \w+ WITH \(CHANGE_TRACKING = AUTO, STOPLIST = OFF\)"
    r"|ALTER TABLE \[\w+\] ADD DEFAULT NEXT VALUE FOR \[\w+\] FOR \[\w+\]"
    r"|DBCC CHECKIDENT \('\w+', RESEED, \d+\)"
)
logging.getLogger("sqlglot").setLevel(logging.ERROR)


def faults(sql: str, parameters: int) -> list[str]:
    """What is wrong with a statement; nothing when it may be sent."""
    bare = _QUOTED.sub("x", sql)
    found = [f"{parameters} parameters"] if parameters > MOST_PARAMETERS else []
    found += [f"{word.group(0)} is no T-SQL" for word in _FOREIGN.finditer(bare)]
    found += [f"a reserved word for a name: {word.group(0)}" for word in _RESERVED.finditer(bare)]
    if _BEYOND_THE_PARSER.fullmatch(sql):
        return found
    try:
        trees = sqlglot.parse(_readable(sql), read=DIALECT)
    except SqlglotError as error:
        return [*found, f"cannot be parsed: {str(error).splitlines()[0]}"]
    for tree in filter(None, trees):
        found += [*_not_understood(tree), *_columns(tree), *_orders(tree), *_conditions(tree)]
    return found


def _readable(sql: str) -> str:
    """Placeholders as the driver sends them, and a percent sign that is one; CONTAINSTABLE's last word is not known."""
    return sql.replace("%s", "?").replace("%%", "%").replace("?, LANGUAGE 1033)", "?)")


def _not_understood(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Command):
        said = f"{node.this} {str(node.expression).strip()}"
        if str(node.this).upper() not in _AS_THEY_STAND and not _BEYOND_THE_PARSER.fullmatch(said):
            yield f"is not understood: {node.sql()[:60]}"


def _columns(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Select):
        for column in node.expressions:
            if isinstance(column.unalias(), _CONDITIONS):
                yield f"a condition stands as a column: {column.sql(DIALECT)[:60]}"


def _orders(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Select):
        if node.args.get("offset") and not node.args.get("order"):
            yield "OFFSET without ORDER BY"
        inside = isinstance(node.parent, exp.Subquery | exp.CTE | exp.In | exp.Exists)
        if inside and node.args.get("order") and not (node.args.get("limit") or node.args.get("offset")):
            yield "ORDER BY in a subquery without TOP"
    for node in tree.find_all(exp.Order):
        for each in node.expressions:
            if isinstance(each.this, _CONDITIONS):
                yield f"ordered by a condition: {each.sql(DIALECT)[:60]}"


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
    """A condition is a comparison: a column or a number is none, however much it means yes or no."""
    if isinstance(node, exp.Paren | exp.Not):
        yield from _bare(node.this)
    elif isinstance(node, exp.And | exp.Or):
        yield from _bare(node.left)
        yield from _bare(node.right)
    elif isinstance(node, _VALUES):
        yield f"no comparison: {node.sql(DIALECT)[:60]}"
