"""Owns: importing crawl points and exclude URLs from CSV: what each line would do, and doing it, all in one.

Does not: read files, ask who may. Called by: the import screens.
"""

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction

from clearinghouse.access import options
from clearinghouse.library.models import Document

from . import checks, services
from .bulk import Changed
from .checks import Around, Invalid, Neighbour
from .csv_lines import CsvLine, read
from .models import AuthType, CrawlPoint
from .queries import neighbours_of, patterns_of, points_of

ADD, CHANGE, UNCHANGED, ERROR = "add", "change", "unchanged", "error"
# Column -> the crawl point's own name for it.
VALUES = {
    "url": "url", "root_string": "root", "depth_limit": "depth", "maximum_pages": "max_pages",
    "authentication": "auth_type", "user_id": "login", "active": "active", "append": "append", "note": "note",
}  # fmt: skip
POINT_COLUMNS = (
    "document_id", "document_title", "crawl_point_id", *VALUES, "last_crawl", "pages", "errors",
)  # fmt: skip
EXCLUDE_COLUMNS = ("document_id", "document_title", "exclude_url", "kind", "matched")
_YES, _NO = {"1", "yes", "true", "y"}, {"0", "no", "false", "n"}


@dataclass(slots=True)
class Planned:
    """What one line would do."""

    number: int
    outcome: str
    name: str  # the URL or pattern, as it would be stored
    message: str = ""
    changes: list[tuple[str, str, str]] = field(default_factory=list)  # column, old, new
    values: dict[str, Any] = field(default_factory=dict)
    point: CrawlPoint | None = None


@dataclass(frozen=True, slots=True)
class Plan:
    lines: list[Planned]
    ignored: list[str]

    def count(self, outcome: str) -> int:
        return Counter(line.outcome for line in self.lines)[outcome]

    @property
    def seen(self) -> str:
        """The crawl points that would be changed, each with the version that was compared."""
        met = [line.point for line in self.lines if line.outcome == CHANGE and line.point]
        return " ".join(f"{point.pk}:{point.version}" for point in met)

    @property
    def effective(self) -> int:
        return self.count(ADD) + self.count(CHANGE)


# ---- crawl points ----


def plan_points(document: Document, text: str) -> Plan:
    """Raises csv_lines.Unreadable."""
    sheetful = read(text, POINT_COLUMNS, "url")
    points = {point.pk: point for point in points_of(document)}
    around = neighbours_of(document)
    patterns = patterns_of(document)
    lines, seen = [], set[int]()
    new = services.NEW | options.starting_limits()
    for line in sheetful.lines:
        planned = _plan_point(document, line, points, Around(around, patterns), new)
        if planned.point and planned.outcome != ERROR:
            if planned.point.pk in seen:
                planned.outcome, planned.message = ERROR, "This crawl point stands there twice"
            seen.add(planned.point.pk)
        if planned.outcome == ADD:
            around.append(Neighbour(0, planned.values["url"], planned.values["root"]))
        lines.append(planned)
    return Plan(lines, sheetful.ignored)


def _plan_point(
    document: Document, line: CsvLine, points: dict[int, CrawlPoint], around: Around, new: Mapping[str, Any]
) -> Planned:
    shown = line.cells.get("url", "").strip()
    try:
        given = _values(line.cells)
        point = _meant(document, line, given, points)
        start = _stored(point) if point else dict(new)
        entries = start | given
        if point and not _differing(start, entries):
            return Planned(line.number, UNCHANGED, point.url, point=point)
        if point is None and not str(entries.get("root") or "").strip():
            entries["root"] = checks.suggested_root(str(entries.get("url", "")))
        others = [one for one in around.points if point is None or one.id != point.pk]
        kept = bool(point and point.password)
        clean = checks.check_point(entries, Around(others, around.excludes, has_password=kept))
    except Invalid as wrong:
        return Planned(line.number, ERROR, shown, _sentence(wrong))
    values = {name: clean[name] for name in VALUES.values()}
    if point is None:
        return Planned(line.number, ADD, clean["url"], values=values)
    changes = [
        (column, shown_value(VALUES[column], start[VALUES[column]]), shown_value(VALUES[column], clean[VALUES[column]]))
        for column in _differing(start, clean)
    ]
    message = ""
    if point.password and {"url", "root", "auth_type"} & {VALUES[column] for column, _, _ in changes}:
        message = "The saved password may be removed, because it is bound to the site and root string"
    return Planned(line.number, CHANGE if changes else UNCHANGED, clean["url"], message, changes, values, point)


def _sentence(wrong: Invalid) -> str:
    text = str(wrong)
    return f"{text}. Passwords are never in a CSV: use the dialog" if "password" in wrong.errors else text


def _values(cells: dict[str, str]) -> dict[str, Any]:
    """The cells that a crawl point has, by its own names; an empty one is a value, a missing column is none."""
    given: dict[str, Any] = {name: cells[column].strip() for column, name in VALUES.items() if column in cells}
    if "active" in given:
        word = given["active"].lower()
        if word not in _YES | _NO | {""}:
            raise Invalid({"active": [f"active must be 1 or 0. It is {given['active'][:40]!r}"]})
        given["active"] = int(word not in _NO)
    if "auth_type" in given:
        given["auth_type"] = _auth_type(given["auth_type"])
    if given.get("depth") == "":
        del given["depth"]
    return given


def _auth_type(text: str) -> int:
    names = {label.casefold(): number for number, label in AuthType.choices} | {"": 0, "ntlm": int(AuthType.NTLM)}
    number = names.get(text.casefold(), text)
    if str(number) not in {str(one) for one in AuthType.values}:
        raise Invalid({"auth_type": [f"{text[:40]!r} is no authentication; use None, Basic, Digest, NTLM"]})
    return int(number)


def _meant(
    document: Document, line: CsvLine, given: dict[str, Any], points: dict[int, CrawlPoint]
) -> CrawlPoint | None:
    """The crawl point of this line: by its number, or else by URL and root string."""
    doc_id, number = (line.cells.get(name, "").strip() for name in ("document_id", "crawl_point_id"))
    if doc_id and doc_id != str(document.pk):
        raise Invalid({"document_id": [f"This line belongs to document {doc_id[:20]}, not to {document.pk}"]})
    if number:
        if not (number.isascii() and number.isdigit() and int(number) in points):
            raise Invalid({"crawl_point_id": [f"This document has no crawl point {number[:20]}"]})
        return points[int(number)]
    root = given.get("root") or checks.suggested_root(given.get("url", ""))
    key = services.point_key(document.pk, given.get("url", ""), root)
    return next((point for point in points.values() if point.key == key), None)


def _stored(point: CrawlPoint) -> dict[str, Any]:
    values = {name: getattr(point, name) for name in services.COLUMNS}
    return values | {"auth_type": point.auth_type or 0, "max_pages": point.max_pages or 0}


def _differing(one: Mapping[str, Any], other: Mapping[str, Any]) -> list[str]:
    """The columns in which two crawl points differ."""
    return [column for column, name in VALUES.items() if _comparable(name, one[name]) != _comparable(name, other[name])]


def _comparable(name: str, value: Any) -> str:
    if name == "active":
        return str(int(bool(value)))
    empty = value in (None, "") or (name == "max_pages" and str(value) == "0")
    return "" if empty else str(value).replace("\r\n", "\n")


def shown_value(name: str, value: Any) -> str:
    if name == "auth_type":
        return str(AuthType(int(value or 0)).label)
    if name == "max_pages":
        return str(value) if value else "no limit"
    return _comparable(name, value) or "empty"


@transaction.atomic
def import_points(document: Document, text: str) -> tuple[Plan, Changed]:
    """Every line that can be done; the others are left out. What it did can be taken back as one."""
    plan = plan_points(document, text)
    changed = Changed()
    for line in plan.lines:
        if line.outcome == ADD:
            point = services.add_crawl_point(document, line.values)[0]
            changed.added.append(point.pk)
            changed.left(point)
        elif line.outcome == CHANGE and line.point:
            names = [VALUES[column] for column, _, _ in line.changes]
            before = {name: getattr(line.point, name) for name in names}
            services.update_crawl_point(line.point, {name: line.values[name] for name in names})
            changed.before[line.point.pk] = before
            changed.left(line.point)
    return plan, changed


# ---- exclude URLs ----


def plan_excludes(document: Document, text: str) -> Plan:
    """A CSV with a column exclude_url, or simply one address or pattern in each line."""
    here, points, lines = set(patterns_of(document)), neighbours_of(document), []
    ignored: list[str] = []
    seen: set[str] = set()
    for number, pattern, problem in _patterns(document, text, ignored):
        try:
            if problem:
                raise Invalid({"pattern": [problem]})
            if pattern in here or pattern in seen:
                lines.append(Planned(number, UNCHANGED, pattern))
                continue
            lines.append(Planned(number, ADD, checks.check_exclude(pattern, points, [*here, *seen])))
            seen.add(pattern)
        except Invalid as wrong:
            lines.append(Planned(number, ERROR, pattern, str(wrong)))
    return Plan(lines, ignored)


def _patterns(document: Document, text: str, ignored: list[str]) -> Iterator[tuple[int, str, str]]:
    first = text.removeprefix("\ufeff").lstrip().partition("\n")[0].lower().replace(" ", "_")
    if "exclude_url" not in first:
        for number, line in enumerate(text.removeprefix("\ufeff").splitlines(), start=1):
            if line.strip():
                yield number, line.strip(), ""
        return
    sheetful = read(text, EXCLUDE_COLUMNS, "exclude_url")
    ignored += sheetful.ignored
    for line in sheetful.lines:
        doc_id = line.cells.get("document_id", "").strip()
        other = bool(doc_id) and doc_id != str(document.pk)
        problem = f"This line belongs to document {doc_id[:20]}, not to {document.pk}" if other else ""
        yield line.number, line.cells["exclude_url"].strip() if "exclude_url" in line.cells else "", problem


@transaction.atomic
def import_excludes(document: Document, text: str) -> tuple[Plan, Changed]:
    plan = plan_excludes(document, text)
    changed = Changed()
    for line in plan.lines:
        if line.outcome == ADD:
            changed.excludes.append(services.add_exclude_url(document, line.name).pk)
    return plan, changed
