"""What crawls say about documents and crawl points, for the columns Last crawl, Pages, Errors and Trend.

A constant number of queries, however many documents are shown.
"""

from collections.abc import Collection, Mapping, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db.models import Count, F, Max, Window
from django.db.models.functions import RowNumber

from crawler.models import OPEN_STATES, Excursion, LedgerEntry, State

RUNS_SHOWN = 12
ENDED = tuple(state for state in State if state not in OPEN_STATES)
_LAST = ("id", "doc_id", "run_id", "state", "finished_at", "crawled", "unchanged", "failed")


@dataclass(frozen=True, slots=True)
class LastCrawl:
    """The newest ended excursion of a document."""

    excursion_id: int
    run_id: int
    state: str
    at: datetime | None
    pages: int
    errors: int


@dataclass(frozen=True, slots=True)
class PointCrawls:
    """One crawl point in the last runs, oldest first; None where the run did not know it."""

    pages: int
    errors: int
    trend: list[int] = field(default_factory=list)
    failing_runs: int = 0  # runs in a row, counted from the newest, with errors and no page
    listed: frozenset[str] = frozenset()  # of pages and errors, those that the ledger can list for one crawl point


def last_crawls(doc_ids: Collection[int] | None = None) -> dict[int, LastCrawl]:
    """By document; documents never crawled are missing. None: all documents."""
    ended = Excursion.objects.filter(state__in=ENDED)
    if doc_ids is not None:
        ended = ended.filter(doc_id__in=doc_ids)
    newest = ended.values("doc_id").annotate(last=Max("id")).order_by().values("last")
    rows = Excursion.objects.filter(pk__in=newest).values_list(*_LAST)
    return {
        doc: LastCrawl(pk, run, state, at, crawled + unchanged, failed)
        for pk, doc, run, state, at, crawled, unchanged, failed in rows
    }


def trends(doc_ids: Collection[int]) -> dict[int, list[int]]:
    """Pages of the last 12 ended excursions of each document, oldest first."""
    ended = Excursion.objects.filter(state__in=ENDED, doc_id__in=doc_ids)
    place = Window(RowNumber(), partition_by=F("doc_id"), order_by=F("id").desc())
    rows = ended.annotate(place=place).filter(place__lte=RUNS_SHOWN).order_by("doc_id", "id")
    found: dict[int, list[int]] = {}
    for doc_id, pages in rows.values_list("doc_id", F("crawled") + F("unchanged")):
        found.setdefault(doc_id, []).append(pages)
    return found


def running_of(doc_id: int) -> Excursion | None:
    """The unfinished excursion of a document: there is at most one."""
    rows = Excursion.objects.filter(doc_id=doc_id, unfinished=True).select_related("run")
    return rows.defer("snapshot", "tallies", "error").first()


def mark_of(running: Excursion | None) -> str:
    """What a page shows of it; two equal marks: nothing to tell."""
    if running is None:
        return "none"
    counters = (running.crawled, running.unchanged, running.redirected, running.failed, running.queued, running.skipped)
    return f"{running.pk}.{running.state}." + ".".join(str(number) for number in counters)


_TOLD = ("id", "doc_id", "run_id", "state", "finished_at", "crawled", "unchanged", "failed", "tallies",
         "run__created_at")  # fmt: skip


def newest_of(doc_id: int) -> list[dict[str, Any]]:
    """The last ended excursions of a document, newest first, with what each says of its crawl points."""
    ended = Excursion.objects.filter(doc_id=doc_id, state__in=ENDED).order_by("-id")
    return [dict(row) for row in ended.values(*_TOLD)[:RUNS_SHOWN]]


def newest_by_document(doc_ids: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """The same for several documents, one query; documents never crawled are missing."""
    ended = Excursion.objects.filter(state__in=ENDED, doc_id__in=doc_ids)
    place = Window(RowNumber(), partition_by=F("doc_id"), order_by=F("id").desc())
    found: dict[int, list[dict[str, Any]]] = {}
    rows = ended.annotate(place=place).filter(place__lte=RUNS_SHOWN).order_by("doc_id", "-id")
    for row in rows.values(*_TOLD):
        found.setdefault(row["doc_id"], []).append(dict(row))
    return found


def failing_points() -> set[int]:
    """Crawl points that brought errors and no page when their document was crawled last."""
    newest = Excursion.objects.filter(state__in=ENDED).values("doc_id").annotate(last=Max("id")).order_by()
    rows = Excursion.objects.filter(pk__in=newest.values("last"), failed__gt=0).values_list("tallies", flat=True)
    counted = (item for tallies in rows for item in ((tallies or {}).get("point") or {}).items())
    return {int(point) for point, count in counted if _failed(count)}


def _failed(count: Mapping[str, int]) -> bool:
    return bool(count.get("errors")) and not count.get("pages")


def point_crawls(excursions: Sequence[dict[str, Any]], point_id: int) -> PointCrawls | None:
    """Of one crawl point; None when no run counted anything for it."""
    counts = [((row["tallies"] or {}).get("point") or {}).get(str(point_id)) for row in excursions]
    known = [count for count in counts if count]
    if not known:
        return None
    failing = 0
    for count in counts:
        if not count or not _failed(count):
            break
        failing += 1
    trend = [count.get("pages", 0) for count in reversed(known)]
    newest = counts[0] or {}
    return PointCrawls(newest.get("pages", 0), newest.get("errors", 0), trend, failing, _listed(excursions[0]))


def _listed(excursion: Mapping[str, Any]) -> frozenset[str]:
    """A page that two crawl points reach counts for both; the ledger names only the nearer one."""
    counted = ((excursion["tallies"] or {}).get("point") or {}).values()
    whole = {"pages": excursion["crawled"] + excursion["unchanged"], "errors": excursion["failed"]}
    return frozenset(name for name, all_ in whole.items() if sum(one.get(name, 0) for one in counted) == all_)


def matches_of_excludes(excursion_id: int) -> dict[str, int]:
    """Exclude pattern: how many addresses it stopped in this excursion."""
    rows = LedgerEntry.objects.filter(excursion=excursion_id, outcome="skipped", reason="excluded")
    return dict(rows.values_list("detail").annotate(n=Count("id")).order_by())
