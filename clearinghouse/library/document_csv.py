"""Owns: reading the CSV of documents into lines of values. Does not: look into the database.

Called by: importing.
"""

import csv
import io
from dataclasses import dataclass, field

from ..addresses.address import Refusal
from ..addresses.parsing import has_userinfo, parse

COLUMNS = ("title", "project", "public", "assigned_to", "status", "web_address")
_LENGTHS = {"title": 255, "project": 100, "status": 50, "web_address": 2048}
_YES, _NO = {"", "1", "yes", "true", "y"}, {"0", "no", "false", "n"}
MAX_LINES = 3_000  # written in one transaction, for which others who write wait: half a second


class UnreadableDocumentCsv(Exception):
    """The text as a whole is not a list of documents; the message is a sentence for the person."""


@dataclass(frozen=True, slots=True)
class DocumentLine:
    number: int  # as an editor counts, the heading is line 1
    title: str = ""
    project: str = ""
    public: bool = True
    assigned_to: tuple[str, ...] = ()
    status: str = ""
    web_address: str = ""
    error: str = ""


@dataclass(frozen=True, slots=True)
class DocumentLines:
    lines: list[DocumentLine] = field(default_factory=list)
    ignored_columns: list[str] = field(default_factory=list)


def read(text: str) -> DocumentLines:
    """Comma, semicolon or tab; headings in any order and case; empty lines do not count."""
    text = text.removeprefix("\ufeff").replace("\0", "")
    heading = text.lstrip().partition("\n")[0]
    separator = max(",;\t", key=heading.count)
    reader = csv.reader(io.StringIO(text), delimiter=separator, strict=True)
    try:
        numbered = [(reader.line_num, row) for row in reader if any(cell.strip() for cell in row)]
    except csv.Error as problem:
        raise UnreadableDocumentCsv(f"Line {reader.line_num} cannot be read as CSV: {problem}") from None
    if not numbered:
        raise UnreadableDocumentCsv("The file is empty. The first line must name the columns: " + ", ".join(COLUMNS))
    names = [cell.strip().lower().replace(" ", "_") for cell in numbered[0][1]]
    _check_names(names)
    if len(numbered) - 1 > MAX_LINES:
        raise UnreadableDocumentCsv(
            f"At most {MAX_LINES:,} documents can be imported at once. There are {len(numbered) - 1:,}"
        )
    lines = [_line(number, dict(zip(names, row, strict=False))) for number, row in numbered[1:]]
    return DocumentLines(lines, [name for name in names if name not in COLUMNS])


def _check_names(names: list[str]) -> None:
    if "title" not in names:
        raise UnreadableDocumentCsv("The first line must name the columns, one of them title: " + ", ".join(COLUMNS))
    twice = sorted({name for name in names if name in COLUMNS and names.count(name) > 1})
    if twice:
        raise UnreadableDocumentCsv(f"The column {twice[0]} appears twice")


def _line(number: int, cells: dict[str, str]) -> DocumentLine:
    given = {name: cells.get(name, "").strip() for name in COLUMNS}
    people = tuple(dict.fromkeys(name.strip() for name in given["assigned_to"].split(";") if name.strip()))
    return DocumentLine(
        number=number,
        title=given["title"],
        project=given["project"],
        public=given["public"].lower() in _YES,
        assigned_to=people,
        status=given["status"],
        web_address=given["web_address"],
        error=_problem(given),
    )


def _problem(given: dict[str, str]) -> str:
    if not given["title"]:
        return "The title is missing"
    for name, limit in _LENGTHS.items():
        if len(given[name]) > limit:
            return f"{name} must be {limit:,} characters or fewer. It is {len(given[name]):,}"
        if not given[name].isprintable():
            return f"{name} contains characters that cannot be shown"
    if given["public"].lower() not in _YES | _NO:
        return f"public must be yes or no. It is {given['public'][:40]!r}"
    return web_address_problem(given["web_address"])


def web_address_problem(text: str) -> str:
    """Empty for no address or a good one; else a sentence."""
    if not text:
        return ""
    if isinstance(parse(text), Refusal):
        return "The web address must start with http:// or https:// and be readable"
    return "Take the user name and password out of the web address" if has_userinfo(text) else ""
