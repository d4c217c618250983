"""Owns: the moment in which a long import becomes visible, the moment in which it is taken back, and their history.

Each moment is a few statements in a transaction of the caller. Does not: move the row of the import.
Called by: import_steps.
"""

from collections.abc import Sequence
from typing import Any

from django.db.models import QuerySet

from clearinghouse.records import StaleRecord

from . import import_rows, services
from .models import CrawlPoint, CrawlPointLink, Import, ImportLine

WRITTEN, SHOWN, HIDDEN = 1, 2, 3  # the versions of an added crawl point


def _added(row: Import) -> QuerySet[Any]:
    return row.rows.filter(adds=True).values("point_id")


def show(row: Import) -> None:
    """Raises StaleRecord when a crawl point it changes was changed since it was compared."""
    CrawlPoint.everything.filter(pk__in=_added(row)).update(deleted=0)
    CrawlPointLink.everything.filter(crawl_point__in=_added(row)).update(deleted=0)
    changes = [
        (pk, version, values["after"])
        for pk, version, values in row.rows.filter(adds=False).values_list("point_id", "version", "values")
    ]
    if import_rows.change_points(changes) != len(changes):
        raise StaleRecord("one of these crawl points was changed meanwhile")


def record(row: Import, lines: Sequence[ImportLine]) -> None:
    points = CrawlPoint.everything.in_bulk([line.point_id for line in lines])
    known = [(line, points[line.point_id]) for line in lines if line.point_id in points]
    import_rows.record_added(row.document, [(point, line.values) for line, point in known if line.adds])
    import_rows.record_changed(
        row.document,
        [(point, _audited(point, line, "before"), _audited(point, line, "after")) for line, point in known
         if not line.adds],
    )  # fmt: skip


def _audited(point: CrawlPoint, line: ImportLine, which: str) -> dict[str, Any]:
    """Everything of it, as other entries have it; of what this line changed the values of then."""
    then = {name: value for name, value in line.values[which].items() if name in services.COLUMNS}
    return services.facts(point) | then


def hide(row: Import) -> tuple[int, int]:
    """How many crawl points are as they were before, and how many somebody changed since and that stay."""
    untouched = CrawlPoint.objects.filter(pk__in=_added(row), version=SHOWN)
    back = untouched.update(deleted=1)  # what else a deletion does is done with its history, in short steps
    changes = [
        (pk, (version or 0) + 1, values["before"])
        for pk, version, values in row.rows.filter(adds=False).values_list("point_id", "version", "values")
    ]
    back += import_rows.change_points(changes)
    return back, row.rows.count() - back


def record_back(row: Import, lines: Sequence[ImportLine]) -> None:
    points = CrawlPoint.everything.in_bulk([line.point_id for line in lines])
    known = [(line, points[line.point_id]) for line in lines if line.point_id in points]
    deleted = [point for line, point in known if line.adds and point.version == HIDDEN and point.deleted]
    import_rows.record_deleted(row.document, deleted)
    ids = [point.pk for point in deleted]
    CrawlPointLink.objects.filter(crawl_point__in=ids).update(deleted=1)
    # Not our update(): it was changed when it was hidden.
    QuerySet.update(CrawlPoint.everything.filter(pk__in=ids), key=None)
    changed = [
        (point, _audited(point, line, "after"), _audited(point, line, "before"))
        for line, point in known
        if not line.adds and point.version == (line.version or 0) + 2
    ]
    import_rows.record_changed(row.document, changed)
