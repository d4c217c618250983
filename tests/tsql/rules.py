"""Owns: what SQL Server takes for right, as far as a parser and a few rules can tell. Pure."""

import logging
import re
from collections.abc import Iterator

import sqlglot
from sqlglot import exp
from sqlglot.errors import SqlglotError

from tests.tsql import shapes
from tests.tsql.shapes import DIALECT
from tests.tsql.words import BEFORE_PARENTHESES, FUNCTIONS

MOST_PARAMETERS = 2_100
_FOREIGN = re.compile(
    r"\bON CONFLICT\b|\bRETURNING\b|\bILIKE\b|\bLIMIT\b|::|->>|\bPRAGMA\b|\bREGEXP\b|\bTRUE\b|\bFALSE\b|\bMATCH\b"
    r"|\bjson_each\b|\bjson_extract\b|\bgenerate_series\b|\bIS (?:NOT )?DISTINCT\b|\bFOR UPDATE\b|\browid\b|\|\|"
    r"|\bWITH RECURSIVE\b|\bNULLS (?:FIRST|LAST)\b|\bCREATE TABLE IF NOT EXISTS\b|\bINSERT OR\b"
    r"|\bINTERVAL\b|\bAS (?:BOOLEAN|BYTEA|BLOB|CLOB|JSONB?|TIMESTAMPTZ?|REAL)\b|\bEXCEPT ALL\b"
    r"|\bIS (?:NOT )?(?:TRUE|FALSE)\b|\bOFFSET\s+\S+(?=\s*$|\s+(?!ROWS?\b))",
    re.IGNORECASE,
)
_QUOTED = re.compile(r"N?'(?:[^']|'')*'|\[[^\]]*\]|\"[^\"]*\"")
_CALLED = re.compile(r"(?<!INTO )(?<!ON )(?<!TABLE )\b([A-Za-z_]\w*)\(")
_CALLABLE = FUNCTIONS | BEFORE_PARENTHESES
_NARROW = re.compile(r"@\w+ VARBINARY(?! *\()", re.IGNORECASE)  # as mssql-django declares a digest
# What sqlglot passes through as it stands: no statement can hide in it.
_VARIABLE = r"@var\d+ [A-Z0-9 ]+(?:\((?:\d+|max)\))? = \? *"
_AS_IT_STANDS = re.compile(
    rf"SET NOCOUNT (?:ON|OFF)|SET IDENTITY_INSERT \S+ (?:ON|OFF)|DECLARE {_VARIABLE}(?:,{_VARIABLE})*"
    r"|EXEC(?:UTE)? \w+(?: @\w+ = '?[\w. ]+'?,?)*",
    re.IGNORECASE,
)
_BEFORE = re.compile(rf"^(SET NOCOUNT ON|DECLARE {_VARIABLE}(?:,{_VARIABLE})*)\s+(?=INSERT|SELECT|MERGE|WITH)")
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
    bare = _QUOTED.sub("¤", sql)
    found = [f"{parameters} parameters"] if parameters > MOST_PARAMETERS else []
    found += [f"{word.group(0)} is no T-SQL" for word in _FOREIGN.finditer(bare)]
    found += [f"{name} is no function of T-SQL" for name in _CALLED.findall(bare) if name.upper() not in _CALLABLE]
    found += [f"{word.group(0)} holds one byte or letter" for word in _NARROW.finditer(bare)]
    if _BEYOND_THE_PARSER.fullmatch(sql):
        return found
    try:
        trees = sqlglot.parse(readable(sql), read=DIALECT)
    except SqlglotError as error:
        return [*found, f"cannot be parsed: {str(error).splitlines()[0]}"]
    for tree in filter(None, trees):
        found += [*_not_understood(tree), *shapes.faults(tree)]
    return found


def readable(sql: str) -> str:
    """Placeholders as the driver sends them, and a percent sign that is one; CONTAINSTABLE's last word is not known.

    The parser takes what follows DECLARE and SET for part of them: a semicolon stands between.
    """
    sql = sql.replace("%s", "?").replace("%%", "%")
    sql = re.sub(r"(\?|@var\d+), LANGUAGE 1033\)", r"\1)", sql)
    return _BEFORE.sub(r"\1; ", sql)


def _not_understood(tree: exp.Expression) -> Iterator[str]:
    for node in tree.find_all(exp.Command):
        said = f"{node.this} {str(node.expression).strip()}"
        if not _AS_IT_STANDS.fullmatch(said) and not _BEYOND_THE_PARSER.fullmatch(said):
            yield f"is not understood: {said[:60]}"
