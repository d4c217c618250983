"""What the reports read: over many runs, of the documents a person may see, from counters and figures."""

from collections import Counter, defaultdict
from collections.abc import Collection, Iterable
from datetime import datetime
from typing import Any, NamedTuple

from django.db.models import Count, F, Max, Min, Q, QuerySet, Sum
from django.db.models.functions import TruncDate

from ..ledger.links_between_pages import DEAD
from ..models import ErrorGroup, ErrorMark, ExcludeHit, Excursion, HostFigure, LedgerEntry, Run, State
from ..values import FAILED
from .latest_crawls import ENDED, RUNS_SHOWN, complete_crawls, lately, newest
from .queries import visible_runs
from .run_counts import Docs


def ended(docs: Docs) -> QuerySet[Excursion]:
    return seen(Excursion.objects.filter(state__in=ENDED, unfinished=False), docs)


def seen(rows: QuerySet[Any], docs: Docs) -> QuerySet[Any]:
    return rows if docs is None else rows.filter(doc_id__in=docs)


# -- activity ---------------------------------------------------------------------------------------------------


def runs_since(docs: Docs, since: datetime) -> QuerySet[Run]:
    """Runs that overlap the time from then to now."""
    return visible_runs(docs).filter(Q(finished_at__gte=since) | Q(finished_at=None, created_at__isnull=False))


def instances_by_run(run_ids: Iterable[int]) -> dict[int, list[str]]:
    """The hosts whose instances worked for each run."""
    from ..models import Instance

    rows = Instance.objects.filter(run__in=list(run_ids)).values_list("run_id", "host").annotate(n=Count("id"))
    found: dict[int, list[str]] = defaultdict(list)
    for run_id, host, count in rows.order_by("host"):
        found[run_id].append(f"{host} ({count})" if count > 1 else host)
    return found


def pages_by_day(docs: Docs, since: datetime) -> list[tuple[Any, int, int]]:
    """Day, pages, errors of the excursions that ended on it; what was cancelled is not there any more."""
    rows = ended(docs).exclude(state=State.CANCELLED).filter(finished_at__gte=since)
    days = rows.annotate(day=TruncDate("finished_at")).values("day")
    found = days.annotate(pages=Sum(F("crawled") + F("unchanged")), errors=Sum("failed")).order_by("day")
    return [(row["day"], row["pages"], row["errors"]) for row in found]


def cancelled_since(docs: Docs, since: datetime) -> int:
    """Crawls that stand in the lists of runs and in no sum."""
    return ended(docs).filter(state=State.CANCELLED, finished_at__gte=since).count()


# -- sites ------------------------------------------------------------------------------------------------------

HOST_SUMS = ("new", "changed", "unchanged", "bytes", "robots", "outside", "excluded", "failed", "waiting")


def hosts_since(docs: Docs, since: datetime, text: str = "") -> QuerySet[Any]:
    """The figures of each site over the excursions of a period; names end in _ so that no column is hidden."""
    rows = seen(HostFigure.objects.filter(ended_at__gte=since), docs).exclude(host="")  # mailto: and the like
    rows = rows.filter(host__icontains=text) if text else rows
    sums: dict[str, Any] = {f"{name}_": Sum(name) for name in HOST_SUMS}
    pages = Sum(F("new") + F("changed") + F("unchanged"))
    return rows.values("host").annotate(
        **sums, pages_=pages, runs_=Count("excursion__run", distinct=True), slowest_=Max("median_ms")
    )


def figures_of_host(docs: Docs, since: datetime, host: str) -> QuerySet[HostFigure]:
    rows = seen(HostFigure.objects.filter(ended_at__gte=since, host=host), docs)
    return rows.select_related("excursion").defer("excursion__snapshot", "excursion__tallies", "excursion__error")


# -- errors -----------------------------------------------------------------------------------------------------


def error_groups(docs: Docs, since: datetime, text: str = "", reason: str = "") -> QuerySet[Any]:
    rows = seen(ErrorGroup.objects.filter(ended_at__gte=since), docs)
    rows = rows.filter(Q(site__icontains=text) | Q(pattern__icontains=text)) if text else rows
    rows = rows.filter(reason=reason) if reason else rows
    return rows.values("key", "reason", "site", "pattern").annotate(
        n=Sum("count"), first=Min("ended_at"), last=Max("ended_at"), docs=Count("doc_id", distinct=True),
        runs=Count("run_id", distinct=True), last_run=Max("run_id"), example=Max("example"),
        least=Min("status"), most=Max("status"),
    )  # fmt: skip


def errors_of_keys(docs: Docs, keys: Collection[bytes]) -> dict[bytes, dict[int, tuple[int, int]]]:
    """Of each group, the documents that have it: the last run, and how often in it."""
    rows = seen(ErrorGroup.objects.filter(key__in=list(keys)), docs).order_by("run_id")
    found: dict[bytes, dict[int, tuple[int, int]]] = defaultdict(dict)
    for key, doc_id, run_id, count in rows.values_list("key", "doc_id", "run_id", "count"):
        found[key][doc_id] = (run_id, count)
    return found


def crawls_of_error(docs: Docs, since: datetime, key: bytes) -> QuerySet[ErrorGroup]:
    """This error in each document's crawl of a period, newest first."""
    rows = seen(ErrorGroup.objects.filter(key=key, ended_at__gte=since), docs).select_related("excursion")
    return rows.defer("excursion__snapshot", "excursion__tallies", "excursion__error").order_by("-run_id", "doc_id")


def error_trends(docs: Docs, keys: Collection[bytes]) -> dict[bytes, list[int]]:
    """How often in each of the last 12 runs that had it."""
    rows = seen(ErrorGroup.objects.filter(key__in=list(keys)), docs).values("key", "run_id").annotate(n=Sum("count"))
    found: dict[bytes, list[int]] = defaultdict(list)
    for row in rows.order_by("run_id"):
        found[row["key"]].append(row["n"])
    return {key: counts[-RUNS_SHOWN:] for key, counts in found.items()}


def marks(docs: Docs, keys: Collection[bytes] | None = None) -> dict[tuple[int, bytes], ErrorMark]:
    rows = seen(ErrorMark.objects.all(), docs)
    rows = rows if keys is None else rows.filter(key__in=list(keys))
    return {(row.doc_id, row.key): row for row in rows}


def errors_by_week(docs: Docs, since: datetime) -> list[tuple[Any, int]]:
    rows = seen(ErrorGroup.objects.filter(ended_at__gte=since), docs)
    days = rows.annotate(day=TruncDate("ended_at")).values("day").annotate(n=Sum("count")).order_by("day")
    return [(row["day"], row["n"]) for row in days]


# -- broken links -----------------------------------------------------------------------------------------------


def dead_links(docs: Docs) -> QuerySet[LedgerEntry]:
    """Of the newest complete crawl of each document."""
    crawls = newest(seen(complete_crawls(), docs)).values("pk")
    rows = LedgerEntry.objects.filter(excursion__in=crawls, outcome=FAILED, reason__in=DEAD)
    return rows.select_related("excursion").defer("excursion__snapshot", "excursion__tallies", "excursion__error")


# -- changes ----------------------------------------------------------------------------------------------------


def changes_since(docs: Docs, since: datetime) -> QuerySet[Excursion]:
    """Ended excursions with results that count, newest first; how they differ stands in their tallies."""
    rows = ended(docs).filter(finished_at__gte=since, left_out_at=None)
    rows = rows.exclude(state__in=(State.CANCELLED, State.FAILED))
    return rows.defer("snapshot", "error").order_by("-finished_at", "-id")


# -- exclusions -------------------------------------------------------------------------------------------------


class HitsOfRun(NamedTuple):
    """What each exclude URL stopped in one crawl of a document."""

    run_id: int
    asked_at: datetime
    stopped: Counter[str]

    def of(self, pattern: str, added_at: datetime | None) -> int | None:
        """None where it was added later."""
        later = added_at is not None and added_at >= self.asked_at
        return self.stopped[pattern] or (None if later else 0)


def hits_of_last_runs(doc_ids: Collection[int], count: int = 3) -> dict[int, list[HitsOfRun]]:
    """Of each document, its last complete crawls, newest first."""
    rows = lately(complete_crawls().filter(doc_id__in=doc_ids), count).order_by("doc_id", "-id")
    excursions = list(rows.values_list("id", "doc_id", "run_id", "run__created_at"))
    hits: dict[int, Counter[str]] = defaultdict(Counter)
    found = ExcludeHit.objects.filter(excursion__in=[row[0] for row in excursions])
    for excursion_id, pattern, stopped in found.values_list("excursion_id", "pattern", "count"):
        hits[excursion_id][pattern] += stopped
    result: dict[int, list[HitsOfRun]] = defaultdict(list)
    for excursion_id, doc_id, run_id, asked_at in excursions:
        result[doc_id].append(HitsOfRun(run_id, asked_at, hits[excursion_id]))
    return result
