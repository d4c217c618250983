"""Owns: the moment in which a long import becomes visible, the moment in which it is taken back, and their history.

Each moment is a few statements in a transaction of the caller; what can be computed before it is.
Does not: move the row of the import. Called by: import_steps.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from clearinghouse.audit import services as audit
from clearinghouse.database.bulk_insert import RowsToInsert
from clearinghouse.database.records import StaleRecord

from .. import services
from ..models import CrawlPoint, CrawlPointLink, Import, ImportLine
from . import import_rows
from .import_rows import PointChanges

SHOWN, HIDDEN = 2, 3  # the versions of an added crawl point; it is written with 1


def _added(row: Import) -> QuerySet[Any]:
    return row.rows.filter(adds=True).values("point_id")


def changes(row: Import) -> PointChanges:
    """What it changes, to be done by `show`."""
    lines = row.rows.filter(adds=False).values_list("point_id", "version", "values").iterator()
    return PointChanges((pk, version, values["after"]) for pk, version, values in lines)


def changes_back(row: Import) -> PointChanges:
    """How that was before, to be done by `hide`."""
    lines = row.rows.filter(adds=False).values_list("point_id", "version", "values").iterator()
    return PointChanges((pk, (version or 0) + 1, values["before"]) for pk, version, values in lines)


def show(row: Import, ready: PointChanges) -> None:
    """Raises StaleRecord when a crawl point it changes was changed since it was compared."""
    CrawlPoint.everything.filter(pk__in=_added(row)).update(deleted=0)
    if ready.write() != ready.count:
        raise StaleRecord("one of these crawl points was changed meanwhile")


def history(row: Import, lines: Sequence[ImportLine]) -> RowsToInsert:
    """Of these lines, ready to be written."""
    points = CrawlPoint.everything.in_bulk([line.point_id for line in lines])
    known = [(line, points[line.point_id]) for line in lines if line.point_id in points]
    told = import_rows.told_added(row.document, [(point, line.values) for line, point in known if line.adds])
    told += import_rows.told_changed(
        row.document,
        [(point, _audited(point, line, "before"), _audited(point, line, "after")) for line, point in known
         if not line.adds],
    )  # fmt: skip
    return audit.ready(told)


def _audited(point: CrawlPoint, line: ImportLine, which: str) -> dict[str, Any]:
    """Everything of it, as other entries have it; of what this line changed the values of then."""
    then = {name: value for name, value in line.values[which].items() if name in services.COLUMNS}
    return services.facts(point) | then


def hide(row: Import, ready: PointChanges) -> int:
    """How many crawl points are as they were before; those that somebody changed since stay as they are."""
    untouched = CrawlPoint.objects.filter(pk__in=_added(row), version=SHOWN)
    return untouched.update(deleted=1) + ready.write()  # what else a deletion does is done with its history


class HistoryBack:
    """What is left to do of taking these lines back, ready to be written: their history, their links and keys."""

    def __init__(self, row: Import, lines: Sequence[ImportLine]) -> None:
        points = CrawlPoint.everything.in_bulk([line.point_id for line in lines])
        known = [(line, points[line.point_id]) for line in lines if line.point_id in points]
        deleted = [point for line, point in known if line.adds and point.version == HIDDEN and point.deleted]
        changed = [
            (point, _audited(point, line, "after"), _audited(point, line, "before"))
            for line, point in known
            if not line.adds and point.version == (line.version or 0) + 2
        ]
        told = import_rows.told_deleted(row.document, deleted) + import_rows.told_changed(row.document, changed)
        self._entries = audit.ready(told)
        self._ids = [point.pk for point in deleted]

    def write(self) -> None:
        self._entries.write()
        still = CrawlPoint.everything.filter(pk__in=self._ids, version=HIDDEN, deleted=1)  # nobody restored it
        CrawlPointLink.objects.filter(crawl_point__in=still.values("pk")).update(deleted=1)
        QuerySet.update(still, key=None)  # not our update(): it was changed when it was hidden
