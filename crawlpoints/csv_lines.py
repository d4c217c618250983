"""Owns: reading the CSV of crawl points or exclude URLs into lines of text. Does not: look into the database.

Called by: importing.
"""

import csv
import io
from collections.abc import Sequence
from dataclasses import dataclass, field

MAX_LINES = 2_000
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")


class Unreadable(Exception):
    """The text as a whole is no such list; the message is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class CsvLine:
    number: int  # as an editor counts, the heading is line 1
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class Sheetful:
    lines: list[CsvLine] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # columns nobody knows


def read(text: str, columns: Sequence[str], needed: str) -> Sheetful:
    """Comma, semicolon or tab; headings in any order and case; empty lines do not count."""
    text = text.removeprefix("\ufeff").replace("\0", "")
    heading = text.lstrip().partition("\n")[0]
    separator = max(",;\t", key=heading.count)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=separator, strict=True)
    try:
        numbered = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as problem:
        raise Unreadable(f"Line {reader.line_num} cannot be read as CSV: {problem}") from None
    names = [cell.strip().lower().replace(" ", "_") for cell in numbered[0][1]] if numbered else []
    if needed not in names:
        raise Unreadable(f"The first line must name the columns, one of them {needed}")
    twice = [name for name in columns if names.count(name) > 1]
    if twice:
        raise Unreadable(f"The column {twice[0]} stands there twice")
    if len(numbered) - 1 > MAX_LINES:
        raise Unreadable(f"At most {MAX_LINES:,} lines can be imported at once. There are {len(numbered) - 1:,}")
    lines = [CsvLine(number, _cells(names, row, columns)) for number, row in numbered[1:]]
    return Sheetful(lines, [name for name in names if name and name not in columns])


def _cells(names: list[str], row: list[str], columns: Sequence[str]) -> dict[str, str]:
    return {name: _plain(cell) for name, cell in zip(names, row, strict=False) if name in columns}


def _plain(cell: str) -> str:
    """Without the apostrophe that our export puts before a risky first character."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_RISKY) else cell
