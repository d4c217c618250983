"""Owns: importing crawl points and exclude URLs from a short CSV: what each line would do, and doing it, all in one.

Does not: read files, ask who may. Long lists go through import_steps. Called by: the import screens, the API.
"""

from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from django.db import transaction

from clearinghouse.audit import services as audit
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document

from .. import point_checks, services
from ..bulk_changes import Changed
from ..models import CrawlPoint
from ..point_checks import Invalid
from ..points_by_address import PointsByAddress
from ..queries import neighbours_of, patterns_of
from . import import_rows
from .line_verdicts import ADD, CHANGE, ERROR, UNCHANGED, VALUES, Judge, PlannedLine, shown_value, stored
from .point_csv import AT_ONCE, UnreadablePointCsv, read

__all__ = [
    "ADD",
    "CHANGE",
    "ERROR",
    "EXCLUDE_COLUMNS",
    "POINT_COLUMNS",
    "UNCHANGED",
    "ImportPlan",
    "PlannedLine",
    "shown_value",
]
POINT_COLUMNS = (
    "document_id", "document_title", "crawl_point_id", *VALUES, "last_crawl", "pages", "errors",
)  # fmt: skip
EXCLUDE_COLUMNS = ("document_id", "document_title", "exclude_url", "kind", "matched")
MOST_EXCLUDES = 2_000  # each of them is held against every address that a crawl finds


@dataclass(frozen=True, slots=True)
class ImportPlan:
    lines: list[PlannedLine]
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


def plan_points(document: Document, text: str) -> ImportPlan:
    """Raises csv_lines.Unreadable."""
    sheetful = read(text, POINT_COLUMNS, "url", AT_ONCE)
    return ImportPlan(Judge(document).plan(sheetful.lines), sheetful.ignored)


def import_points(document: Document, text: str) -> tuple[ImportPlan, Changed]:
    """Every line that can be done; the others are left out. What it did can be taken back as one. Raises StaleRecord
    when somebody changed one of the crawl points meanwhile."""
    plan = plan_points(document, text)  # nobody waits for that
    with transaction.atomic():
        return plan, _import_points(document, plan)


def _import_points(document: Document, plan: ImportPlan) -> Changed:
    changed = Changed()
    new = [line for line in plan.lines if line.outcome == ADD]
    changed.added = import_rows.NewPoints(document, new, shown=True).write()
    points = CrawlPoint.objects.in_bulk(changed.added)
    told = [(points[pk], line.typed) for pk, line in zip(changed.added, new, strict=True)]
    audit.record_many(import_rows.told_added(document, told))
    for point in points.values():
        changed.left(point)
    _change(document, [line for line in plan.lines if line.outcome == CHANGE], changed)
    return changed


def _change(document: Document, lines: list[PlannedLine], changed: Changed) -> None:
    met = [(line, line.point) for line in lines if line.point]
    rows = [(point.pk, point.version, line.values | {"key": line.key}) for line, point in met]
    if import_rows.PointChanges(rows).write() != len(rows):
        raise StaleRecord("one of these crawl points was changed meanwhile")
    fresh = CrawlPoint.objects.in_bulk([point.pk for _, point in met])
    told = []
    for line, point in met:
        now = fresh[point.pk]
        before, after = services.facts(point), services.facts(now)
        told.append((now, before, after))
        names = [VALUES[column] for column, _, _ in line.changes]
        changed.before[point.pk] = {name: stored(point)[name] for name in names}
        changed.left(now)
    audit.record_many(import_rows.told_changed(document, told))


# ---- exclude URLs ----


def plan_excludes(document: Document, text: str) -> ImportPlan:
    """A CSV with a column exclude_url, or simply one address or pattern in each line."""
    known, lines = dict.fromkeys(patterns_of(document)), []
    points = PointsByAddress(neighbours_of(document))
    ignored: list[str] = []
    for number, pattern, problem in _patterns(document, text, ignored):
        try:
            if problem:
                raise Invalid({"pattern": [problem]})
            if pattern in known:
                lines.append(PlannedLine(number, UNCHANGED, pattern))
                continue
            lines.append(PlannedLine(number, ADD, point_checks.check_exclude(pattern, points, known)))
            known[pattern] = None
        except Invalid as wrong:
            lines.append(PlannedLine(number, ERROR, pattern, str(wrong)))
    return ImportPlan(lines, ignored)


def _patterns(document: Document, text: str, ignored: list[str]) -> Iterator[tuple[int, str, str]]:
    first = text.removeprefix("\ufeff").lstrip().partition("\n")[0].lower().replace(" ", "_")
    if "exclude_url" not in first:
        numbered = point_checks.numbered_lines(text.removeprefix("\ufeff"))
        if len(numbered) > MOST_EXCLUDES:
            raise UnreadablePointCsv(
                f"At most {MOST_EXCLUDES:,} lines can be imported at once. There are {len(numbered):,}"
            )
        yield from ((number, line, "") for number, line in numbered)
        return
    sheetful = read(text, EXCLUDE_COLUMNS, "exclude_url", MOST_EXCLUDES)
    ignored += sheetful.ignored
    for line in sheetful.lines:
        doc_id = line.cells.get("document_id", "").strip()
        other = bool(doc_id) and doc_id != str(document.pk)
        problem = f"This line belongs to document {doc_id[:20]}, not to {document.pk}" if other else ""
        yield line.number, line.cells["exclude_url"].strip() if "exclude_url" in line.cells else "", problem


def import_excludes(document: Document, text: str) -> tuple[ImportPlan, Changed]:
    """The same for exclude URLs. Raises StaleRecord when somebody added one of them meanwhile."""
    plan = plan_excludes(document, text)
    new = [line.name for line in plan.lines if line.outcome == ADD]
    return plan, Changed(excludes=import_rows.add_excludes(document, new))
