"""Owns: writing many crawl points and exclude URLs at once, each with its audit entry. The cost of a row does not grow
with their number.

Does not: decide what may be written (importing). Called by: importing, import_steps.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import IntegrityError, connections, router, transaction
from django.utils import timezone

from clearinghouse.audit import services as audit
from clearinghouse.audit.services import AuditLine
from clearinghouse.database import bulk_insert
from clearinghouse.database.bulk_insert import RowsToInsert
from clearinghouse.database.records import StaleRecord, actor
from clearinghouse.library.models import Document
from clearinghouse.library.services import crawl_point_field

from .. import services
from ..models import CrawlPoint, CrawlPointLink, ExcludeUrl
from .line_verdicts import PlannedLine

BATCH = 500


class NewPoints:
    """The crawl points of these lines, made ready: what is left to do while others wait is to write them."""

    def __init__(self, document: Document, lines: Sequence[PlannedLine], *, shown: bool) -> None:
        """`shown` False: the crawl points stand there as if they were deleted, with their links."""
        self.keys = [line.key for line in lines]
        by = actor()
        points = [CrawlPoint(**line.values, key=line.key, deleted=int(not shown), updated_by=by) for line in lines]
        self._points = bulk_insert.ready(CrawlPoint, points)
        field = crawl_point_field(document) if lines else None
        links = [CrawlPointLink(document=document, field=field, crawl_point_id=0, updated_by=by) for _ in lines]
        self._links = bulk_insert.ready(CrawlPointLink, links)

    def write(self) -> list[int]:
        """Their ids, in the order of the lines. Raises StaleRecord when somebody added one of them meanwhile."""
        try:
            with transaction.atomic():
                self._points.write()
        except IntegrityError:
            raise StaleRecord("one of these crawl points was added meanwhile") from None
        found: dict[str | None, int] = {}
        for at in range(0, len(self.keys), BATCH):
            some = CrawlPoint.everything.filter(key__in=self.keys[at : at + BATCH])
            found |= dict(some.values_list("key", "pk"))
        ids = [found[key] for key in self.keys]
        self._links.write(crawl_point_id=ids)
        return ids


class PointChanges:
    """Changes of crawl points, made ready. Of each: id, version that was seen, values.

    Lines that change the same columns go through one prepared statement: a hundred thousand take a third of a second.
    """

    def __init__(self, changes: Iterable[tuple[int, int | None, dict[str, Any]]]) -> None:
        self._alias = router.db_for_write(CrawlPoint)
        self._rows: dict[str, list[tuple[Any, ...]]] = {}
        self.count = 0
        stamp = (actor(), connections[self._alias].ops.adapt_datetimefield_value(timezone.now()))
        statements: dict[tuple[str, ...], str] = {}
        for pk, version, values in changes:
            names = tuple(sorted(values))
            statement = statements.get(names) or statements.setdefault(names, _change(self._alias, names))
            row = (*(values[name] for name in names), *stamp, (version or 0) + 1, pk, version or 0)
            self._rows.setdefault(statement, []).append(row)
            self.count += 1

    def write(self) -> int:
        """How many rows still had the version that was seen, and were changed."""
        return sum(_counted(connections[self._alias], sql, rows) for sql, rows in self._rows.items())


def _change(alias: str, names: tuple[str, ...]) -> str:
    quote, columns = connections[alias].ops.quote_name, {one.name: one.column for one in CrawlPoint._meta.fields}
    written = [columns[name] for name in (*names, "updated_by", "updated_at", "version")]
    sets = ", ".join(f"{quote(column)} = %s" for column in written)
    return (
        f"UPDATE {quote(CrawlPoint._meta.db_table)} SET {sets}, {quote('dirty_fl')} = 1 "  # noqa: S608
        f"WHERE {quote('crawl_point_id')} = %s AND COALESCE({quote('ts')}, 0) = %s"
    )


def _counted(connection: Any, sql: str, rows: list[tuple[Any, ...]]) -> int:
    """How many rows all of these changed together; the driver of SQL Server counts one statement only."""
    with connection.cursor() as cursor:
        if connection.vendor != "microsoft":
            cursor.executemany(sql, rows)
            return int(cursor.rowcount)
        changed = 0
        for row in rows:
            cursor.execute(sql, row)
            changed += cursor.rowcount
        return changed


def told_added(document: Document, lines: Iterable[tuple[CrawlPoint, dict[str, str]]]) -> list[AuditLine]:
    """`lines`: each crawl point, with what was typed as its URL where that differs."""
    return [
        AuditLine("add", point, f"Added crawl point {point.url}", document.pk, after=services.facts(point) | typed)
        for point, typed in lines
    ]


def told_changed(
    document: Document, lines: Iterable[tuple[CrawlPoint, dict[str, Any], dict[str, Any]]]
) -> list[AuditLine]:
    return [
        AuditLine("change", point, f"Changed crawl point {point.url}", document.pk, before=before, after=after)
        for point, before, after in lines
    ]


def told_deleted(document: Document, points: Iterable[CrawlPoint]) -> list[AuditLine]:
    return [AuditLine("delete", point, f"Deleted crawl point {point.url}", document.pk) for point in points]


def add_excludes(document: Document, patterns: Sequence[str]) -> list[int]:
    """Their ids. Raises StaleRecord when somebody added one of them meanwhile."""
    by = actor()
    keys = [services.exclude_key(document.pk, pattern) for pattern in patterns]
    rows = [
        ExcludeUrl(document=document, pattern=pattern, key=key, updated_by=by)
        for pattern, key in zip(patterns, keys, strict=True)
    ]
    ready = bulk_insert.ready(ExcludeUrl, rows)
    try:
        with transaction.atomic():
            return _excludes_written(document, ready, keys)
    except IntegrityError:
        raise StaleRecord("one of these exclude URLs was added meanwhile") from None


def _excludes_written(document: Document, ready: RowsToInsert, keys: Sequence[str]) -> list[int]:
    ready.write()
    written: list[ExcludeUrl] = []
    for at in range(0, len(keys), BATCH):
        written += ExcludeUrl.objects.filter(key__in=keys[at : at + BATCH])
    audit.record_many(
        AuditLine("add", one, f"Added exclude URL {one.pattern}", document.pk, after={"pattern": one.pattern})
        for one in written
    )
    return [one.pk for one in written]
