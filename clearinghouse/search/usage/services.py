"""Owns: the counts of search_use: one row for each query and day, most of them bounded. The only writer.

Does not: see a request. Called by: the tick.
"""

from datetime import date

from django.db import DatabaseError, transaction
from django.db.models import F, QuerySet
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.digests import digest_of
from clearinghouse.operations import retention
from clearinghouse.search.models import SearchUse

from . import spool
from .counted_searches import OTHERS, Sums, summed

MOST_ROWS_PER_DAY = 20_000
_AT_ONCE = 500


def collect() -> int:
    """Counts what was searched since the last time; how many queries. A busy database is asked again later."""
    try:
        with spool.taken() as lines:
            sums = summed(lines)
            if sums:
                _write(sums)
    except DatabaseError:
        return 0
    return len(sums)


def _write(sums: dict[tuple[date, str], Sums]) -> None:
    with transaction.atomic(using=WEBCRAWL):
        for day in sorted({day for day, _ in sums}):
            _write_day(day, {text: one for (other, text), one in sums.items() if other == day})
        forget_old()


def forget_old(*, dry: bool = False) -> int:
    """How many rows were, or with `dry` would be, deleted."""
    before = retention.cutoff("searches", timezone.now())
    if before is None:
        return 0
    rows = SearchUse.objects.using(WEBCRAWL).filter(day__lt=timezone.localdate(before))
    return rows.count() if dry else rows.delete()[0]


def _write_day(day: date, sums: dict[str, Sums]) -> None:
    rows = SearchUse.objects.using(WEBCRAWL).filter(day=day)
    keys = {text: digest_of(text) for text in sums}
    known: set[bytes] = set()
    wanted = list(keys.values())
    for start in range(0, len(wanted), _AT_ONCE):
        part = rows.filter(query_key__in=wanted[start : start + _AT_ONCE])
        known |= {bytes(key) for key in part.values_list("query_key", flat=True)}
    room = max(0, MOST_ROWS_PER_DAY - rows.count())
    fresh = [text for text in sums if keys[text] not in known]
    new = fresh[:room]
    SearchUse.objects.using(WEBCRAWL).bulk_create(
        [SearchUse(day=day, query=text, query_key=keys[text], **_values(sums[text])) for text in new],
        batch_size=_AT_ONCE,
    )
    for text in sums:
        if keys[text] in known:
            _raise(rows.filter(query_key=keys[text]), sums[text])
    if fresh[room:]:
        others, _ = rows.get_or_create(day=day, query_key=digest_of(OTHERS), defaults={"query": OTHERS})
        for text in fresh[room:]:
            _raise(rows.filter(pk=others.pk), sums[text])


def _values(one: Sums) -> dict[str, int]:
    return {"searches": one.searches, "empty": one.empty, "found": one.found, "opened": one.opened}


def _raise(row: QuerySet[SearchUse], one: Sums) -> None:
    row.update(
        searches=F("searches") + one.searches,
        empty=F("empty") + one.empty,
        opened=F("opened") + one.opened,
        found=one.found if one.searches else F("found"),
    )
