"""Pages per minute of a running run, from the newest rows of its ledger."""

from dataclasses import dataclass
from datetime import datetime, timedelta
from itertools import pairwise

from django.db.models import Count, Max, Min, Q

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


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest stored pages, counted where they are kept: reading three thousand times took most of a live answer."""

    count: int
    oldest: datetime | None
    within: tuple[int, ...]  # how many are newer than so many minutes: none, 1, 2 …


def pace_of(run: Run, docs: Docs, now: datetime) -> Pace:
    newest = LedgerEntry.objects.aggregate(last=Max("id"))["last"] or 0
    rows = LedgerEntry.objects.filter(
        excursion__in=excursions_of(run, docs).values("id"),
        outcome__in=(CRAWLED, UNCHANGED),
        id__gt=newest - _IDS,
        at__gte=now - timedelta(minutes=MINUTES),
    )
    newer = [Count("at", filter=Q(at__gt=now - timedelta(minutes=ago))) for ago in range(MINUTES + 1)]
    asked = {"n": Count("at"), "oldest": Min("at")} | {f"newer{ago}": count for ago, count in enumerate(newer)}
    found = rows.order_by("-id").values("at")[:_ROWS].aggregate(**asked)
    within = tuple(found[f"newer{ago}"] for ago in range(MINUTES + 1))
    return _pace(Seen(found["n"], found["oldest"], within), now, run.started_at or now, complete=found["n"] < _ROWS)


def _pace(seen: Seen, now: datetime, started: datetime, *, complete: bool) -> Pace:
    """Pure. Not `complete` when older ones of the last quarter of an hour were left out."""
    if seen.oldest is None:
        return Pace()
    begin = max(started, now - timedelta(minutes=MINUTES)) if complete else seen.oldest
    window = min(max((now - begin).total_seconds(), 1.0), 60.0)
    recent = seen.within[1] if window == 60 else seen.count
    per_minute = round(recent * 60 / window)
    covered = int((now - begin).total_seconds() // 60) + 1
    if covered < 2:
        return Pace(per_minute)
    by_age = [older - newer for newer, older in pairwise(seen.within[: covered + 1])]
    return Pace(per_minute, tuple(reversed(by_age)))
