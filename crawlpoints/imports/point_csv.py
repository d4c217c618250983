"""Owns: reading the CSV of crawl points or exclude URLs into lines of text. Does not: look into the database.

Called by: importing, import_steps.
"""

import csv
import io
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import chain, islice

MAX_LINES = 100_000
AT_ONCE = 300  # more are read and imported beside the request
PART = 250_000  # characters
_RISKY = ("=", "+", "-", "@", "\t", "\r", "\n")


class UnreadablePointCsv(Exception):
    """The text as a whole is no such list; the message is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class CsvLine:
    number: int  # as an editor counts, the heading is line 1
    cells: dict[str, str]


@dataclass(frozen=True, slots=True)
class PointLines:
    lines: list[CsvLine] = field(default_factory=list)
    ignored: list[str] = field(default_factory=list)  # columns nobody knows


class PointCsv:
    """The heading of a CSV is read at once, its lines one after the other: comma, semicolon or tab; headings in any
    order and case; empty lines do not count. Raises Unreadable, also while it is read."""

    def __init__(self, parts: Iterable[str], columns: Sequence[str], needed: str) -> None:
        self._rows = _rows(iter(parts))
        _, heading = next(self._rows, (0, []))
        self.names = [cell.strip().lower().replace(" ", "_") for cell in heading]
        self.columns = columns
        if needed not in self.names:
            raise UnreadablePointCsv(f"The first line must name the columns, one of them {needed}")
        if twice := [name for name in columns if self.names.count(name) > 1]:
            raise UnreadablePointCsv(f"The column {twice[0]} appears twice")
        self.ignored = [name for name in self.names if name and name not in columns]

    def __iter__(self) -> Iterator[CsvLine]:
        for number, row in self._rows:
            yield CsvLine(number, _cells(self.names, row, self.columns))

    def skip(self, lines: int) -> None:
        next(islice(self._rows, lines, lines), None)

    def count(self) -> int:
        """Uses the lines up. Raises Unreadable for too many of them."""
        lines = sum(1 for _ in self._rows)
        if lines > MAX_LINES:
            raise UnreadablePointCsv(f"At most {MAX_LINES:,} lines can be imported at once. There are {lines:,}")
        return lines


def _rows(parts: Iterator[str]) -> Iterator[tuple[int, list[str]]]:
    first = next(parts, "").removeprefix("\ufeff")
    heading = first.lstrip().partition("\n")[0]
    separator = max(",;\t", key=heading.count)
    # In place of its lines a part is given as a file: they end as in a file, not at every sign Unicode knows.
    files = (io.StringIO(part.replace("\0", ""), newline="") for part in chain([first], parts))
    reader = csv.reader(chain.from_iterable(files), delimiter=separator, strict=True)
    try:
        for row in reader:
            if any(cell.strip() for cell in row):
                yield reader.line_num, row
    except csv.Error as problem:
        raise UnreadablePointCsv(f"Line {reader.line_num} cannot be read as CSV: {problem}") from None


def read(text: str, columns: Sequence[str], needed: str, most: int = MAX_LINES) -> PointLines:
    """All lines of a short text."""
    sheet = PointCsv([text], columns, needed)
    lines = list(sheet)
    if len(lines) > most:
        raise UnreadablePointCsv(f"At most {most:,} lines can be imported at once. There are {len(lines):,}")
    return PointLines(lines, sheet.ignored)


def is_long(text: str) -> bool:
    """Whether this is too much for one request; what cannot be read is not."""
    try:
        return text.count("\n") >= AT_ONCE and sum(1 for _ in _rows(iter([text]))) > AT_ONCE + 1
    except UnreadablePointCsv:
        return False


def parts_of(pieces: Iterable[str]) -> Iterator[str]:
    """A long text in parts of whole lines, however it comes."""
    rest = ""
    for piece in pieces:
        rest += piece
        if len(rest) >= PART:
            whole, end, rest = rest.rpartition("\n")
            if end:
                yield whole + end
    if rest:
        yield rest


def _cells(names: list[str], row: list[str], columns: Sequence[str]) -> dict[str, str]:
    return {name: _plain(cell) for name, cell in zip(names, row, strict=False) if name in columns}


def _plain(cell: str) -> str:
    """Without the apostrophe that our export puts before a risky first character."""
    return cell[1:] if cell.startswith("'") and cell[1:].startswith(_RISKY) else cell
