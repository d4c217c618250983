"""Owns: writing many crawl points and exclude URLs at once, each with its audit entry. The cost of a row does not grow
with their number.

Does not: decide what may be written (importing). Called by: importing, import_steps.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from django.db import IntegrityError, connections, router, transaction
from django.utils import timezone

from clearinghouse.audit import services as audit
from clearinghouse.audit.services import Told
from clearinghouse.library.models import Document
from clearinghouse.library.services import crawl_point_field
from clearinghouse.records import StaleRecord, actor

from . import services
from .judging import Planned
from .models import CrawlPoint, CrawlPointLink, ExcludeUrl

BATCH = 500


def add_points(document: Document, lines: Sequence[Planned], *, shown: bool) -> dict[str, int]:
    """Key -> id of the crawl points of these lines; `shown` False: as if they were deleted. Raises StaleRecord when
    somebody added one of them meanwhile."""
    if not lines:
        return {}
    by, deleted = actor(), int(not shown)
    points = [CrawlPoint(**line.values, key=line.key, deleted=deleted, updated_by=by) for line in lines]
    try:
        with transaction.atomic():
            CrawlPoint.objects.bulk_create(points, batch_size=BATCH)
    except IntegrityError:
        raise StaleRecord("one of these crawl points was added meanwhile") from None
    keys = [line.key for line in lines]
    ids: dict[str, int] = {}
    for at in range(0, len(keys), BATCH):
        found = CrawlPoint.everything.filter(key__in=keys[at : at + BATCH])
        ids |= dict(found.values_list("key", "pk"))
    field = crawl_point_field(document)
    links = [
        CrawlPointLink(document=document, field=field, crawl_point_id=ids[key], deleted=deleted, updated_by=by)
        for key in keys
    ]
    CrawlPointLink.objects.bulk_create(links, batch_size=BATCH)
    return ids


def change_points(changes: Iterable[tuple[int, int | None, dict[str, Any]]]) -> int:
    """Id, version that was seen, values: how many rows still had that version and were changed.

    Lines that change the same columns go through one prepared statement: a hundred thousand take a third of a second.
    """
    by_columns: dict[tuple[str, ...], list[tuple[Any, ...]]] = {}
    by, now = actor(), timezone.now()
    alias = router.db_for_write(CrawlPoint)
    stamp = (by, connections[alias].ops.adapt_datetimefield_value(now))
    for pk, version, values in changes:
        names = tuple(sorted(values))
        row = (*(values[name] for name in names), *stamp, (version or 0) + 1, pk, version or 0)
        by_columns.setdefault(names, []).append(row)
    return sum(_change(alias, names, rows) for names, rows in by_columns.items())


def _change(alias: str, names: tuple[str, ...], rows: list[tuple[Any, ...]]) -> int:
    quote, columns = connections[alias].ops.quote_name, {one.name: one.column for one in CrawlPoint._meta.fields}
    written = [columns[name] for name in (*names, "updated_by", "updated_at", "version")]
    sets = ", ".join(f"{quote(column)} = %s" for column in written)
    sql = (
        f"UPDATE {quote(CrawlPoint._meta.db_table)} SET {sets}, {quote('dirty_fl')} = 1 "  # noqa: S608
        f"WHERE {quote('crawl_point_id')} = %s AND COALESCE({quote('ts')}, 0) = %s"
    )
    return _counted(connections[alias], sql, rows)


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


def record_added(document: Document, lines: Sequence[tuple[CrawlPoint, dict[str, str]]]) -> None:
    """`lines`: each crawl point, with what was typed as its URL where that differs."""
    audit.record_many(
        Told("add", point, f"Added crawl point {point.url}", document.pk, after=services.facts(point) | typed)
        for point, typed in lines
    )


def record_changed(document: Document, lines: Sequence[tuple[CrawlPoint, dict[str, Any], dict[str, Any]]]) -> None:
    audit.record_many(
        Told("change", point, f"Changed crawl point {point.url}", document.pk, before=before, after=after)
        for point, before, after in lines
    )


def record_deleted(document: Document, points: Iterable[CrawlPoint]) -> None:
    audit.record_many(Told("delete", point, f"Deleted crawl point {point.url}", document.pk) for point in points)


def add_excludes(document: Document, patterns: Sequence[str]) -> list[int]:
    """Their ids. Raises StaleRecord when somebody added one of them meanwhile."""
    by = actor()
    keys = [services.exclude_key(document.pk, pattern) for pattern in patterns]
    rows = [
        ExcludeUrl(document=document, pattern=pattern, key=key, updated_by=by)
        for pattern, key in zip(patterns, keys, strict=True)
    ]
    try:
        with transaction.atomic():
            ExcludeUrl.objects.bulk_create(rows, batch_size=BATCH)
    except IntegrityError:
        raise StaleRecord("one of these exclude URLs was added meanwhile") from None
    written: list[ExcludeUrl] = []
    for at in range(0, len(keys), BATCH):
        written += ExcludeUrl.objects.filter(key__in=keys[at : at + BATCH])
    audit.record_many(
        Told("add", one, f"Added exclude URL {one.pattern}", document.pk, after={"pattern": one.pattern})
        for one in written
    )
    return [one.pk for one in written]
