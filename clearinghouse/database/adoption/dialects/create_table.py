"""Owns: reading and editing the text of a CREATE TABLE of SQLite, Pure. Called by: dialects.sqlite."""

import re

_TOKEN = re.compile(
    r"""(?P<blank>\s+|--[^\n]*|/\*.*?\*/)"""
    r"""|(?P<quoted>"(?:[^"]|"")*"|`(?:[^`]|``)*`|\[[^\]]*\]|'(?:[^']|'')*')"""
    r"""|(?P<word>\w+)|(?P<other>.)""",
    re.DOTALL,
)
_AFTER_TYPE = {"CONSTRAINT", "PRIMARY", "NOT", "NULL", "UNIQUE", "CHECK", "DEFAULT", "COLLATE", "REFERENCES"} | {
    "GENERATED",
    "AS",
}


class UnreadableCreateTable(ValueError):
    """The text is not a CREATE TABLE with a column of that name."""


def name_of(token: str) -> str:
    """An identifier without its quotes."""
    if token[:1] in {'"', "`", "'"}:
        return token[1:-1].replace(token[0] * 2, token[0])
    return token[1:-1] if token[:1] == "[" else token


def with_type(sql: str, column: str, kind: str) -> str:
    """The same table, this column being declared as `kind`."""
    tokens = [(match.lastgroup or "", match.group()) for match in _TOKEN.finditer(sql)]
    opening = next((place for place, (_, text) in enumerate(tokens) if text == "("), None)
    if opening is None:
        raise UnreadableCreateTable(f"The definition of a table cannot be read: {sql[:80]}")
    start = _start_of(tokens, opening, column)
    end = _end_of_type(tokens, start + 1)
    before, after = "".join(text for _, text in tokens[: start + 1]), "".join(text for _, text in tokens[end:])
    return f"{before} {kind} {after}"


def renamed(sql: str, table: str) -> str:
    """The same table under another name, with row ids."""
    body = re.sub(r"\)\s*WITHOUT\s+ROWID\s*$", ")", sql[sql.index("(") :], flags=re.IGNORECASE)
    return f'CREATE TABLE "{table}" {body}'


def _start_of(tokens: list[tuple[str, str]], opening: int, column: str) -> int:
    """The place of the column's name: the first token after the opening parenthesis or a comma of the first level."""
    level, fresh = 0, False
    for place, (group, text) in enumerate(tokens[opening:], start=opening):
        if group == "blank":
            continue
        if fresh and name_of(text).lower() == column.lower():
            return place
        level += (text == "(") - (text == ")")
        fresh = level == 1 and text in {"(", ","}
    raise UnreadableCreateTable(f"The definition of a table has no column {column}")


def _end_of_type(tokens: list[tuple[str, str]], place: int) -> int:
    level = 0
    while place < len(tokens):
        group, text = tokens[place]
        level += (text == "(") - (text == ")")
        if level < 0 or (level == 0 and (text == "," or (group == "word" and text.upper() in _AFTER_TYPE))):
            return place
        place += 1
    return place
