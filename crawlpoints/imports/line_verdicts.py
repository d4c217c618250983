"""Owns: what each line of a CSV of crawl points would do: add, change, nothing, or why it cannot be done.

Asks the database for all lines of a part at once, so that a line costs the same in a long file as in a short one.
Does not: write. Called by: importing, import_steps.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any, Protocol

from clearinghouse.accounts import options
from clearinghouse.library.models import Document

from .. import point_checks, services
from ..models import OPTIONS, AuthType, CrawlPoint, CrawlPointLink
from ..point_checks import SWITCHES, Around, Invalid
from ..queries import patterns_of, points_of
from .point_csv import CsvLine

ADD, CHANGE, UNCHANGED, ERROR = "add", "change", "unchanged", "error"
# Column -> the crawl point's own name for it.
VALUES = {option.csv: name for name, option in OPTIONS.items() if option.csv}
_YES, _NO = {"1", "yes", "true", "y"}, {"0", "no", "false", "n"}
TWICE = "This crawl point appears twice"


@dataclass(slots=True)
class PlannedLine:
    """What one line would do."""

    number: int
    outcome: str
    name: str  # the URL or pattern, as it would be stored
    message: str = ""
    changes: list[tuple[str, str, str]] = field(default_factory=list)  # column, old, new
    values: dict[str, Any] = field(default_factory=dict)  # every column of a new one; of another what changes
    point: CrawlPoint | None = None
    key: str = ""
    typed: dict[str, str] = field(default_factory=dict)


class Before(Protocol):
    """What the lines before this part already do."""

    def points(self, ids: Collection[int]) -> set[int]: ...

    def keys(self, keys: Collection[str]) -> set[str]: ...


@dataclass(slots=True)
class Nothing:
    """There is no part before."""

    def points(self, ids: Collection[int]) -> set[int]:
        return set()

    def keys(self, keys: Collection[str]) -> set[str]:
        return set()


@dataclass(slots=True)
class _Read:
    """A line whose cells could be read."""

    line: CsvLine
    given: dict[str, Any]
    number: str  # of the crawl point, where it names one
    key: str  # where it does not
    wrong: Invalid | None = None


class Judge:
    def __init__(self, document: Document, before: Before | None = None) -> None:
        self.document = document
        self.before = before or Nothing()
        self.patterns = patterns_of(document)
        self.new = services.NEW | options.starting_limits()
        self._without_key = {
            services.point_key(document.pk, point.url, point.root): point
            for point in points_of(document).filter(key=None)
        }

    def plan(self, lines: Sequence[CsvLine]) -> list[PlannedLine]:
        read = [self._read(line) for line in lines]
        by_id, by_key = self._stored(read)
        planned = [self._planned(one, by_id, by_key) for one in read]
        self._refuse_duplicates(planned)
        return planned

    def _read(self, line: CsvLine) -> _Read:
        doc_id, number = (line.cells.get(name, "").strip() for name in ("document_id", "crawl_point_id"))
        read = _Read(line, {}, number, "")
        try:
            read.given = _values(line.cells)
            if doc_id and doc_id != str(self.document.pk):
                sentence = f"This line belongs to document {doc_id[:20]}, not to {self.document.pk}"
                raise Invalid({"document_id": [sentence]})
        except Invalid as wrong:
            read.wrong = wrong
        if not number:
            url = read.given.get("url", "")
            root = read.given.get("root") or point_checks.suggested_root(url)
            read.key = services.point_key(self.document.pk, url, root)
        return read

    def _stored(self, read: Iterable[_Read]) -> tuple[dict[int, CrawlPoint], dict[str, CrawlPoint]]:
        """The crawl points that lines name by number, and those they name by URL and root string."""
        numbers = {int(one.number) for one in read if _is_number(one.number)}
        links = CrawlPointLink.objects.filter(document=self.document, crawl_point__in=numbers)
        by_id = CrawlPoint.objects.filter(pk__in=links.values("crawl_point")).in_bulk() if numbers else {}
        keys = {one.key for one in read if one.key}
        by_key = {point.key or "": point for point in CrawlPoint.objects.filter(key__in=keys)}
        return by_id, self._without_key | by_key

    def _planned(self, one: _Read, by_id: dict[int, CrawlPoint], by_key: dict[str, CrawlPoint]) -> PlannedLine:
        shown = one.line.cells.get("url", "").strip()
        try:
            if one.wrong:
                raise one.wrong
            if one.number and not (_is_number(one.number) and int(one.number) in by_id):
                raise Invalid({"crawl_point_id": [f"This document has no crawl point {one.number[:20]}"]})
            point = by_id[int(one.number)] if one.number else by_key.get(one.key)
            return self._of_point(one, point) if point else self._of_new(one)
        except Invalid as wrong:
            return PlannedLine(one.line.number, ERROR, shown, _sentence(wrong))

    def _of_new(self, one: _Read) -> PlannedLine:
        entries = dict(self.new) | one.given
        if not str(entries.get("root") or "").strip():
            entries["root"] = point_checks.suggested_root(str(entries.get("url", "")))
        clean = point_checks.check_point(entries, Around((), self.patterns))
        values = {name: clean[name] for name in services.COLUMNS}
        key = services.point_key(self.document.pk, clean["url"], clean["root"])
        typed = str(one.given.get("url") or "").strip()
        told = {"typed": typed} if typed and typed != clean["url"] else {}
        return PlannedLine(one.line.number, ADD, clean["url"], values=values, key=key, typed=told)

    def _of_point(self, one: _Read, point: CrawlPoint) -> PlannedLine:
        start = stored(point)
        entries = start | one.given
        if not _differing(start, entries):
            return PlannedLine(one.line.number, UNCHANGED, point.url, point=point)
        clean = point_checks.check_point(entries, Around((), self.patterns, has_password=bool(point.password)))
        changes = [
            (column, shown_value(VALUES[column], start[VALUES[column]]), shown_value(VALUES[column], clean[name]))
            for column in _differing(start, clean)
            if (name := VALUES[column])
        ]
        if not changes:
            return PlannedLine(one.line.number, UNCHANGED, clean["url"], point=point)
        values = {name: clean[name] for name in services.COLUMNS if clean[name] != getattr(point, name)}
        message = ""
        if point.password and services.binding_changes(point, clean):
            values["password"] = None
            message = "The saved password will be removed, because it is bound to the site and root string"
        key = services.point_key(self.document.pk, clean["url"], clean["root"])
        return PlannedLine(one.line.number, CHANGE, clean["url"], message, changes, values, point, key)

    def _refuse_duplicates(self, planned: Sequence[PlannedLine]) -> None:
        """No two lines for one crawl point, and no crawl point that another one is already."""
        doing = [one for one in planned if one.outcome in (ADD, CHANGE)]
        keys = {one.key for one in doing}
        live = dict(CrawlPoint.objects.filter(key__in=keys).values_list("key", "pk"))
        live = {key: point.pk for key, point in self._without_key.items() if key in keys} | live
        met = [one for one in planned if one.point and one.outcome != ERROR]
        points = self.before.points({one.point.pk for one in met if one.point})
        taken = self.before.keys(keys)
        for one in planned:
            if one.outcome == ERROR:
                continue
            mine = one.point.pk if one.point else None
            if mine in points or (mine is None and one.key in taken):
                one.outcome, one.message = ERROR, TWICE if mine else services.DUPLICATE
            elif one.key and (one.key in taken or live.get(one.key, mine) != mine):
                one.outcome, one.message = ERROR, services.DUPLICATE
            if one.outcome == ERROR:
                continue
            if mine is not None:
                points.add(mine)
            if one.key:
                taken.add(one.key)


def stored(point: CrawlPoint) -> dict[str, Any]:
    values = {name: getattr(point, name) for name in services.COLUMNS}
    return values | {"auth_type": point.auth_type or 0, "max_pages": point.max_pages or 0}


def shown_value(name: str, value: Any) -> str:
    if name == "auth_type":
        return str(AuthType(int(value or 0)).label)
    if name == "max_pages":
        return str(value) if value else "no limit"
    return _comparable(name, value) or "empty"


def _is_number(text: str) -> bool:
    return text.isascii() and text.isdigit() and len(text) < 10


def _sentence(wrong: Invalid) -> str:
    text = str(wrong)
    return f"{text}. Passwords are never in a CSV: use the dialog" if "password" in wrong.errors else text


def _values(cells: dict[str, str]) -> dict[str, Any]:
    """The cells that a crawl point has, by its own names; an empty one is a value, a missing column is none."""
    given: dict[str, Any] = {name: cells[column].strip() for column, name in VALUES.items() if column in cells}
    for name in [one for one in SWITCHES if one in given]:
        word = given[name].lower()
        if word not in _YES | _NO | {""}:
            raise Invalid({name: [f"{OPTIONS[name].csv} must be 1 or 0. It is {given[name][:40]!r}"]})
        given[name] = int(word in _YES) if word else OPTIONS[name].default
    if "auth_type" in given:
        given["auth_type"] = _auth_type(given["auth_type"])
    if given.get("depth") == "":
        del given["depth"]
    return given


def _auth_type(text: str) -> int:
    names = {label.casefold(): number for number, label in AuthType.choices} | {"": 0, "ntlm": int(AuthType.NTLM)}
    number = names.get(text.casefold(), text)
    if str(number) not in {str(one) for one in AuthType.values}:
        raise Invalid({"auth_type": [f"{text[:40]!r} is not a kind of authentication; use None, Basic, Digest, NTLM"]})
    return int(number)


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The columns in which two crawl points differ."""
    return [column for column, name in VALUES.items() if _comparable(name, one[name]) != _comparable(name, other[name])]


def _comparable(name: str, value: Any) -> str:
    if name in SWITCHES:
        return str(int(bool(value)))
    empty = value in (None, "") or (name == "max_pages" and str(value) == "0")
    return "" if empty else str(value).replace("\r\n", "\n")
