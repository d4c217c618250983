"""Pages per minute of a running run, from the newest rows of its ledger."""

from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from itertools import pairwise

from django.db import connections
from django.db.models import Max, QuerySet
from django.utils.dateparse import parse_datetime

from clearinghouse.database.aliases import WEBCRAWL

from .. import bulk_sql
from ..models import LedgerEntry, Run
from ..values import CRAWLED, UNCHANGED
from .run_counts import Docs, excursions_of

MINUTES = 15
# A poll must stay cheap however fast the crawl is: only this many newest rows are looked at.
_ROWS = 3_000
_IDS = 50_000
_STORED = (CRAWLED, UNCHANGED)


@dataclass(frozen=True, slots=True)
class CrawlPace:
    per_minute: int = 0
    minutes: tuple[int, ...] = ()  # oldest first; empty when the rows looked at cover less than two minutes


@dataclass(frozen=True, slots=True)
class Seen:
    """The newest stored pages, counted where they are kept: reading three thousand times took most of a live answer."""

    count: int
    oldest: datetime | None
    within: tuple[int, ...]  # how many are newer than so many minutes: none, 1, 2 …


def pace_of(run: Run, docs: Docs, now: datetime) -> CrawlPace:
    if docs is not None and not docs:
        return CrawlPace()
    newest = LedgerEntry.objects.aggregate(last=Max("id"))["last"] or 0
    since = now - timedelta(minutes=MINUTES)
    excursions = excursions_of(run, docs).values("id")
    pages = LedgerEntry.objects.filter(excursion__in=excursions, outcome__in=_STORED, id__gt=newest - _IDS)
    times = pages.filter(at__gte=since).order_by("-id").values_list("id", flat=True)
    first = list(times[_ROWS - 1 : _ROWS])  # of the newest, where there are so many
    seen = _seen(pages.filter(pk__gte=first[0]) if first else pages, since, now)
    return _pace(seen, now, run.started_at or now, complete=seen.count < _ROWS)


_NEWER = ", ".join(["COALESCE(SUM(CASE WHEN at > %s THEN 1 ELSE 0 END), 0)"] * (MINUTES + 1))


def _seen(pages: QuerySet[LedgerEntry], since: datetime, now: datetime) -> Seen:
    """Put together by hand: from expressions that took longer than counting."""
    inner, parameters = pages.filter(at__gte=since).order_by().values("at").query.get_compiler(WEBCRAWL).as_sql()
    ends = [bulk_sql.moment(now - timedelta(minutes=ago)) for ago in range(MINUTES + 1)]
    with connections[WEBCRAWL].cursor() as cursor:
        cursor.execute(f"SELECT COUNT(*), MIN(at), {_NEWER} FROM ({inner}) newest", [*ends, *parameters])  # noqa: S608
        count, oldest, *within = cursor.fetchone()
    return Seen(count, _time(oldest), tuple(within))


def _time(value: datetime | str | None) -> datetime | None:
    """SQLite knows no times, SQL Server none with a zone."""
    found = parse_datetime(value) if isinstance(value, str) else value
    return found if found is None or found.tzinfo else found.replace(tzinfo=UTC)


def _pace(seen: Seen, now: datetime, started: datetime, *, complete: bool) -> CrawlPace:
    """Pure. Not `complete` when older ones of the last quarter of an hour were left out."""
    if seen.oldest is None:
        return CrawlPace()
    begin = max(started, now - timedelta(minutes=MINUTES)) if complete else seen.oldest
    window = min(max((now - begin).total_seconds(), 1.0), 60.0)
    recent = seen.within[1] if window == 60 else seen.count
    per_minute = round(recent * 60 / window)
    covered = int((now - begin).total_seconds() // 60) + 1
    if covered < 2:
        return CrawlPace(per_minute)
    by_age = [older - newer for newer, older in pairwise(seen.within[: covered + 1])]
    return CrawlPace(per_minute, tuple(reversed(by_age)))
