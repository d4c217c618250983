"""What crawls say about documents and crawl points, for the columns Last crawl, Pages, Errors and Trend.

A constant number of queries, however many documents are shown. Runs of a part of a document (one crawl point, failed
pages only) say nothing of the rest: they stand in the list of its runs, not here.
"""

from collections.abc import Collection, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db.models import Count

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import parse
from clearinghouse.database.digests import digest_of
from crawler.models import Excursion, LedgerEntry
from crawler.reasons import reason_of
from crawler.runs.latest_crawls import RUNS_SHOWN, known_crawls, lately, newest

from ..models import CrawlPoint, CrawlPointLink


@dataclass(frozen=True, slots=True)
class PointCrawls:
    """One crawl point in the last runs that met it; those it was left out of say nothing of it."""

    pages: int
    errors: int
    last: Mapping[str, Any]  # the newest excursion that met it
    trend: list[int] = field(default_factory=list)  # oldest first
    failing_runs: int = 0  # runs in a row, counted from the newest, with errors and no page
    listed: frozenset[str] = frozenset()  # of pages and errors, those that the ledger can list for one crawl point


def running_of(doc_id: int) -> Excursion | None:
    """The unfinished excursion of a document: there is at most one."""
    rows = Excursion.objects.filter(doc_id=doc_id, unfinished=True).select_related("run")
    return rows.defer("snapshot", "tallies", "error").first()


def mark_of(running: Excursion | None) -> str:
    """What a page shows of it; two equal marks: nothing to tell."""
    if running is None:
        return "none"
    counters = (running.crawled, running.unchanged, running.redirected, running.failed, running.queued, running.skipped)
    return f"{running.pk}.{running.state}.{running.control}." + ".".join(str(number) for number in counters)


_TOLD = ("id", "doc_id", "run_id", "state", "finished_at", "crawled", "unchanged", "failed", "tallies",
         "run__created_at")  # fmt: skip


def newest_of(doc_id: int) -> list[dict[str, Any]]:
    """The last crawls of a document, newest first, with what each says of its crawl points."""
    rows = known_crawls().filter(doc_id=doc_id).order_by("-id")
    return [dict(row) for row in rows.values(*_TOLD)[:RUNS_SHOWN]]


def newest_by_document(doc_ids: Collection[int]) -> dict[int, list[dict[str, Any]]]:
    """The same for several documents, one query; documents never crawled are missing."""
    found: dict[int, list[dict[str, Any]]] = {}
    rows = lately(known_crawls().filter(doc_id__in=doc_ids)).order_by("doc_id", "-id")
    for row in rows.values(*_TOLD):
        found.setdefault(row["doc_id"], []).append(dict(row))
    return found


def failing_points() -> set[int]:
    """Active crawl points that brought errors and no page in the newest run that met them."""
    rows = newest(known_crawls()).values_list("doc_id", "tallies")
    met = {doc_id: (tallies or {}).get("point") or {} for doc_id, tallies in rows}
    active = CrawlPoint.objects.filter(active=1).values("pk")
    links = CrawlPointLink.objects.filter(crawl_point__in=active, document__isnull=False).order_by()
    failing, left_out = set[int](), list[tuple[int, int]]()
    for doc_id, point in links.values_list("document_id", "crawl_point_id"):
        count = met.get(doc_id, {}).get(str(point))
        if count and _failed(count):
            failing.add(point)
        elif not count and doc_id in met:
            left_out.append((doc_id, point))
    earlier = newest_by_document({doc_id for doc_id, _ in left_out})
    known = ((point, point_crawls(earlier.get(doc_id, []), point)) for doc_id, point in left_out)
    return failing | {point for point, crawls in known if crawls and crawls.failing_runs}


def _failed(count: Mapping[str, int]) -> bool:
    return bool(count.get("errors")) and not count.get("pages")


def point_crawls(excursions: Sequence[dict[str, Any]], point_id: int) -> PointCrawls | None:
    """Of one crawl point; None when no run counted anything for it."""
    counts = [((row["tallies"] or {}).get("point") or {}).get(str(point_id)) for row in excursions]
    known = [(row, count) for row, count in zip(excursions, counts, strict=True) if count]
    if not known:
        return None
    last, newest = known[0]
    failing = next((place for place, (_, count) in enumerate(known) if not _failed(count)), len(known))
    trend = [count.get("pages", 0) for _, count in reversed(known)]
    return PointCrawls(newest.get("pages", 0), newest.get("errors", 0), last, trend, failing, _listed(last))


def say_why(rows: Iterable[Any]) -> None:
    """Fills in what became of the URL of each failing crawl point in the newest run that met it."""
    failing = [row for row in rows if row.state == "failing"]
    keys = {row.id: digest_of(address.href) for row in failing if isinstance(address := parse(row.url), Address)}
    if not keys:
        return
    excursions = {row.crawls.last["id"] for row in failing}
    entries = LedgerEntry.objects.filter(excursion__in=excursions, url_key__in=set(keys.values())).order_by()
    met = entries.exclude(reason="").values_list("excursion_id", "url_key", "reason", "status")
    found = {(excursion, bytes(key)): reason_of(reason, status).label for excursion, key, reason, status in met}
    for row in failing:
        row.why = found.get((row.crawls.last["id"], keys.get(row.id, b"")), "")


def _listed(excursion: Mapping[str, Any]) -> frozenset[str]:
    """A page that two crawl points reach counts for both; the ledger names only the nearer one."""
    counted = ((excursion["tallies"] or {}).get("point") or {}).values()
    whole = {"pages": excursion["crawled"] + excursion["unchanged"], "errors": excursion["failed"]}
    return frozenset(name for name, all_ in whole.items() if sum(one.get(name, 0) for one in counted) == all_)


def matches_of_excludes(excursion_id: int) -> dict[str, int]:
    """Exclude pattern: how many addresses it stopped in this excursion."""
    rows = LedgerEntry.objects.filter(excursion=excursion_id, outcome="skipped", reason="excluded")
    return dict(rows.values_list("detail").annotate(n=Count("id")).order_by())
