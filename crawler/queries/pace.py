"""Pages per minute of a running run, from the newest rows of its ledger."""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db.models import Max

from ..models import LedgerEntry, Run
from ..values import CRAWLED, UNCHANGED
from .counts import Docs, excursions_of

MINUTES = 15
# A poll must stay cheap however fast the crawl is: only this many newest rows are looked at.
_ROWS = 3_000
_IDS = 50_000


@dataclass(frozen=True, slots=True)
class Pace:
    per_minute: int = 0
    minutes: tuple[int, ...] = ()  # oldest first; empty when the rows looked at cover less than two minutes


def pace_of(run: Run, docs: Docs, now: datetime) -> Pace:
    newest = LedgerEntry.objects.aggregate(last=Max("id"))["last"] or 0
    rows = LedgerEntry.objects.filter(
        excursion__in=excursions_of(run, docs).values("id"),
        outcome__in=(CRAWLED, UNCHANGED),
        id__gt=newest - _IDS,
        at__gte=now - timedelta(minutes=MINUTES),
    )
    times = list(rows.order_by("-id").values_list("at", flat=True)[:_ROWS])
    return _pace(times, now, run.started_at or now, complete=len(times) < _ROWS)


def _pace(times: list[datetime], now: datetime, started: datetime, *, complete: bool) -> Pace:
    """Pure: `times` newest first; not `complete` when older ones of the last quarter of an hour were left out."""
    if not times:
        return Pace()
    begin = max(started, now - timedelta(minutes=MINUTES)) if complete else times[-1]
    window = min(max((now - begin).total_seconds(), 1.0), 60.0)
    recent = sum(1 for at in times if (now - at).total_seconds() < window)
    per_minute = round(recent * 60 / window)
    covered = int((now - begin).total_seconds() // 60) + 1
    if covered < 2:
        return Pace(per_minute)
    counts = [0] * covered
    for at in times:
        age = int((now - at).total_seconds() // 60)
        if 0 <= age < covered:
            counts[covered - 1 - age] += 1
    return Pace(per_minute, tuple(counts[-MINUTES:]))
