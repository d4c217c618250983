"""Spreadsheets (XLSX): the cells of each sheet that can be seen, as a reader sees them: strings, numbers, dates.

A hidden sheet is left out: whoever opens the file does not see it. Hidden rows and columns are read: a filter hides
them for a moment.
"""

import io
import re
import sys
from collections.abc import Iterator
from contextlib import suppress
from datetime import UTC, datetime, timedelta
from decimal import Decimal
from typing import Any

from lxml import etree

from ..gathered import Gathered
from .ooxml import SPREADSHEET as _S
from .ooxml import id_of
from .zip_package import SAFE, Package, Relationship, root_of, usable

_DATES = frozenset({*range(14, 23), *range(27, 37), *range(45, 48), *range(50, 59)})  # formats that need no words
_TIMES_ONLY = frozenset({18, 19, 20, 21, 32, 33, 34, 35, 45, 46, 47, 55, 56})
_WITH_SECONDS = frozenset({19, 21, 33, 35, 45, 46, 47})
_TIMES = _TIMES_ONLY | {22}
_DAY, _MINUTES, _SECONDS, _NO_DATE = "%Y-%m-%d", "%H:%M", "%H:%M:%S", (False, "")
_QUOTED = re.compile(r'"[^"]*"|\\.|_.|\*.|\[(?![hms]+\])[^\]]*\]', re.IGNORECASE)
_CALLED = re.compile(r'HYPERLINK\(\s*"([^"]+)"', re.IGNORECASE)
_ESCAPED = re.compile("_x([0-9A-Fa-f]{4})_")
_HEADER_CODE = re.compile(r'&(?:"[^"]*"|K[0-9A-Fa-f]{6}|\d+|[A-Za-z]|&)')
_SINCE_1900, _SINCE_1904 = datetime(1899, 12, 30, tzinfo=UTC), datetime(1904, 1, 1, tzinfo=UTC)
_LAST_DAY = 2_957_003  # within the year 9999, whichever day is the first


def _tags(names: str) -> tuple[str, ...]:
    return tuple(f"{{{namespace}}}{name}" for namespace in _S for name in names.split())


_ROW, _CELL, _LINK, _ITEM = _tags("row"), _tags("c"), _tags("hyperlink"), _tags("si")
_HEADERS = _tags("oddHeader oddFooter evenHeader evenFooter firstHeader firstFooter")
_SKIPPED = frozenset(_tags("rPh"))
_T = frozenset(_tags("t"))


class Workbook:
    """What the sheets of a workbook share."""

    def __init__(self, package: Package, main: str, root: Any, gathered: Gathered) -> None:
        self._package, self._gathered = package, gathered
        parts = {one.kind: one.target for one in reversed(package.related(main)) if not one.external}
        self._since = _SINCE_1904 if _is_since_1904(root) else _SINCE_1900
        self._strings = list(_strings(package.read(parts.get("sharedStrings", ""))))
        self._formats = _formats(package.root(parts.get("styles", "")))

    def read(self, name: str, part: str, related: list[Relationship]) -> None:
        """A sheet: its name and cells. Links by relationship and by formula are links."""
        gathered = self._gathered
        gathered.add(f"{name} ")
        targets = {one.id: one.target for one in related if one.external}
        for element in _elements(self._package.read(part), (*_ROW, *_LINK, *_HEADERS)):
            if element.tag in _ROW:
                for cell in element.iterchildren(*_CELL):
                    if text := self._shown(cell):
                        gathered.add(f"{text} ")
            elif element.tag in _LINK:
                gathered.link(targets.get(id_of(element), ""), element.get("display") or element.get("tooltip") or "")
            else:
                gathered.add(_HEADER_CODE.sub(" ", element.text or "") + " ")

    def _shown(self, cell: Any) -> str:
        kind, value = cell.get("t") or "n", ""
        for child in cell:
            name = child.tag.rpartition("}")[2]
            if name == "v":
                value = child.text or ""
            elif name == "is":
                return _text_of(child)
            elif name == "f" and child.text and (called := _CALLED.search(child.text)):
                self._gathered.link(called[1])
        if kind == "s":
            return self._strings[number] if (number := _number_in(value)) < len(self._strings) else ""
        if kind == "n" and value:
            return self._number(value, cell.get("s") or "0")
        if kind == "b":
            return "TRUE" if value == "1" else "FALSE"
        return "" if kind == "e" else value

    def _number(self, value: str, style: str) -> str:
        number = _number_in(style)
        day, clock = self._formats[number] if number < len(self._formats) else _NO_DATE
        if not (day or clock):
            return _written_out(value) if len(value) > 12 or "E" in value else value
        if not _is_number(value) or not 0 <= float(value) < _LAST_DAY:
            return value
        days = float(value)
        if days < 60 and day and self._since == _SINCE_1900:
            days += 1  # it takes 1900 for a leap year
        moment = self._since + timedelta(seconds=round(days * 86_400))
        return moment.strftime(f"{_DAY} {clock}".strip() if day else clock)


def _is_since_1904(root: Any) -> bool:
    found = next(root.iter(*_tags("workbookPr")), None)
    return found is not None and (found.get("date1904") or "") in ("1", "true")


def _number_in(text: str) -> int:
    """The number a cell gives of a string or a style; one that nothing has where it is none. (Python reads no number
    of thousands of digits.)"""
    return int(text) if text.isdecimal() and len(text) < 10 else sys.maxsize


def _is_number(value: str) -> bool:
    try:
        return abs(float(value)) < 1e300
    except ValueError:
        return False


def _written_out(value: str) -> str:
    """A number as a sheet shows it: 15 digits, no powers of ten unless it is very large or small."""
    if not _is_number(value):
        return value
    short = f"{float(value):.15g}"
    return f"{Decimal(short):f}" if "e" in short and 1e-9 < abs(float(value)) < 1e21 else short


def _elements(data: bytes, tags: tuple[str, ...]) -> Iterator[Any]:
    """The elements of these names, one after the other; a large part is not held in memory as a tree."""
    data, plain = usable(data)
    if not data:
        return
    if not plain:
        root = root_of(data)
        yield from () if root is None else root.iter(*tags)
        return
    with suppress(etree.XMLSyntaxError):  # of a part that ends early: what came is read
        for _, element in etree.iterparse(
            io.BytesIO(data), events=("end",), tag=tags, encoding="utf-8", huge_tree=True, **SAFE
        ):
            yield element
            element.clear()
            while (before := element.getprevious()) is not None:
                before.getparent().remove(before)


def _strings(data: bytes) -> Iterator[str]:
    for element in _elements(data, _ITEM):
        yield _text_of(element)


def _text_of(element: Any) -> str:
    """The text of a string; how Japanese is pronounced is no part of it."""
    pieces = []
    for child in element:
        if child.tag in _T:
            pieces.append(child.text or "")
        elif child.tag not in _SKIPPED:
            pieces += [inner.text or "" for inner in child if inner.tag in _T]
    text = "".join(pieces)
    return _ESCAPED.sub(lambda found: chr(int(found[1], 16)), text) if "_x" in text else text


def _formats(root: Any) -> list[tuple[bool, str]]:
    """Of each style: does it show a number as a day, and how as a time?"""
    if root is None:
        return []
    codes = {one.get("numFmtId"): one.get("formatCode") or "" for one in root.iter(*_tags("numFmt"))}
    cells = next(root.iter(*_tags("cellXfs")), None)
    return (
        [] if cells is None else [_shows(one.get("numFmtId") or "0", codes) for one in cells.iterchildren(*_tags("xf"))]
    )


def _shows(number: str, codes: dict[str | None, str]) -> tuple[bool, str]:
    code = codes.get(number)
    if code is None:
        known = _number_in(number)
        return (
            known in _DATES - _TIMES_ONLY,
            _SECONDS if known in _WITH_SECONDS else _MINUTES if known in _TIMES else "",
        )
    code = _QUOTED.sub("", code[:1_000].partition(";")[0]).lower()
    if "general" in code or "0" in code.replace("ss.0", "").replace(".0", "") or "#" in code:
        return _NO_DATE
    clock = _SECONDS if "s" in code else _MINUTES if "h" in code else ""
    return "d" in code or "y" in code or ("m" in code and not clock), clock
