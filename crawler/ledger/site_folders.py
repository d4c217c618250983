"""The ledger of a run by site and by folder: what a Hosts table and a tree of folders show.

The database counts; what ended is counted already, folder by folder (FolderFigure), so that a million addresses are
not read for a page.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Left, StrIndex, Substr

from clearinghouse.columns import Exact
from clearinghouse.operations.bounded_cache import BoundedCache

from ..models import OPEN_STATES, Diagnosis, Excursion, FolderFigure, LedgerEntry, Message, MessageState, Run
from ..runs.run_counts import Docs, excursions_of
from ..values import CRAWLED, FAILED, QUEUED, REDIRECTED, SKIPPED, UNCHANGED

# Waiting addresses that an ending or a limit turned into skipped ones.
LEFT_REASONS = ("run_stopped", "run_limit", "page_limit")
_FEW_LIVE = 500
_SCHEME = 8  # "https://": the first slash after it ends the site, also for http


@dataclass(slots=True)
class SiteFolder:
    """What a run decided about the addresses that begin alike."""

    start: str  # a site or a folder with its slash; empty for what is no web address
    found: int = 0
    new: int = 0
    changed: int = 0
    unchanged: int = 0
    redirected: int = 0
    robots: int = 0
    outside: int = 0
    excluded: int = 0
    other: int = 0  # skipped for another reason
    left: int = 0  # waiting when the run was stopped or met a limit
    errors: int = 0
    queued: int = 0
    bytes: int = 0
    median: int | None = None  # milliseconds of an answer

    @property
    def pages(self) -> int:
        return self.new + self.changed + self.unchanged

    @property
    def is_outside(self) -> bool:
        """Nothing in it begins with a root string: pages link to it, and that is all."""
        return self.found == self.outside

    @property
    def skipped(self) -> int:
        return self.robots + self.outside + self.excluded + self.other + self.left


_REASONS = {"robots_disallowed": "robots", "outside_root": "outside", "excluded": "excluded"} | dict.fromkeys(
    LEFT_REASONS, "left"
)


_ENDED = BoundedCache(
    100_000
)  # sites of runs that ended: what they decided does not change, only pruning takes documents away


def by_site(run: Run, docs: Docs, doc_id: int | None = None) -> list[SiteFolder]:
    """Every site of the run, those with most pages first; each with the median time of its answers."""
    if run.state in OPEN_STATES:
        return _by_site(run, docs, doc_id)

    def count() -> tuple[list[SiteFolder], int]:
        groups = _by_site(run, docs, doc_id)
        return groups, len(groups) + 1

    seen = None if docs is None else frozenset(docs)
    left = excursions_of(run, docs).count()
    return _ENDED.get((run.pk, run.created_at, run.state, run.finished_at, left, seen, doc_id), count)


def _by_site(run: Run, docs: Docs, doc_id: int | None) -> list[SiteFolder]:
    groups = _grouped(run, docs, doc_id, "")
    times = _times(_ledger(live_excursions(run, docs, doc_id).values("id")))
    for start, milliseconds, count in _medians_before(run, docs, doc_id):
        times.setdefault(start, []).append((milliseconds, count))
    for start, counted in times.items():
        if start in groups:
            groups[start].median = median_of(sorted(counted))
    return sorted(groups.values(), key=lambda group: (-group.pages, -group.errors, -group.found, group.start))


def by_folder(run: Run, docs: Docs, folder: str, doc_id: int | None = None) -> list[SiteFolder]:
    """The folders right below this one (a site, with its slash); one group has the folder itself: its own pages."""
    groups = _grouped(run, docs, doc_id, folder)
    return sorted(groups.values(), key=lambda group: group.start)


def _ledger(excursions: Any) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(excursion__in=excursions)


def _of(run: Run, docs: Docs, doc_id: int | None) -> QuerySet[Excursion]:
    excursions = excursions_of(run, docs)
    return excursions if doc_id is None else excursions.filter(doc_id=doc_id)


def live_excursions(run: Run, docs: Docs, doc_id: int | None = None) -> QuerySet[Excursion]:
    """The excursions whose ledger must be read: they go on, or nobody looked them through yet."""
    return _of(run, docs, doc_id).exclude(diagnosis__folders=True)


def _figures(run: Run, docs: Docs, doc_id: int | None, *, whole: bool) -> QuerySet[FolderFigure]:
    """The folders (or `whole` sites) of the others, counted when they ended."""
    rows = FolderFigure.objects.filter(run_id=run.pk, whole=whole)
    if docs is not None or doc_id is not None:
        rows = rows.filter(excursion__in=_of(run, docs, doc_id).values("id"))
    live = list(live_excursions(run, docs, doc_id).values_list("id", flat=True)[: _FEW_LIVE + 1])
    if len(live) > _FEW_LIVE:
        return rows.filter(excursion__diagnosis__folders=True)
    return rows.exclude(excursion__in=live) if live else rows  # rows of a diagnosis that was broken off


def fresh_by_document(run: Run, docs: Docs, doc_id: int | None, fresh: str) -> list[tuple[int, int]]:
    """New (or changed) pages of each document whose folders are counted, in the order of its excursions."""
    rows = _of(run, docs, doc_id).filter(diagnosis__folders=True).order_by("id")
    listed = rows.values_list("doc_id", "crawled", "diagnosis__new")
    counted = ((document, new if fresh == "new" else crawled - new) for document, crawled, new in listed)
    return [(document, count) for document, count in counted if count]


def new_pages(run: Run, docs: Docs, doc_id: int | None = None) -> int:
    """Stored pages that no crawl before had."""
    counted = Diagnosis.objects.filter(run_id=run.pk, folders=True)
    if docs is not None:
        counted = counted.filter(doc_id__in=docs)
    if doc_id is not None:
        counted = counted.filter(doc_id=doc_id)
    live = _ledger(live_excursions(run, docs, doc_id).values("id")).filter(outcome=CRAWLED, previous_version_id=None)
    return int(counted.aggregate(n=Sum("new", default=0))["n"]) + live.count()


def _start(folder: str, column: str) -> tuple[Any, Any]:
    """The beginning of the address up to the slash that ends its site, or the folder below `folder`."""
    skip = len(folder) or _SCHEME
    slash = StrIndex(Substr(column, skip + 1), Value("/"))
    own = Left(Exact(column), len(folder)) if folder else Value("")
    return Case(When(cut=0, then=own), default=Left(Exact(column), F("cut") + skip)), slash


def in_groups(rows: QuerySet[Any], folder: str, column: str = "url") -> QuerySet[Any]:
    start, slash = _start(folder, column)
    if folder:
        rows = rows.annotate(beginning=Left(Exact(column), len(folder))).filter(beginning=folder)
    else:
        rows = rows.filter(Q(url__startswith="http://") | Q(url__startswith="https://"))
    grouped: QuerySet[Any] = rows.annotate(cut=slash).annotate(start=start)
    return grouped


def _grouped(run: Run, docs: Docs, doc_id: int | None, folder: str) -> dict[str, SiteFolder]:
    groups = _counted_before(run, docs, doc_id, folder)
    live = live_excursions(run, docs, doc_id).values("id")
    rows = in_groups(_ledger(live), folder).annotate(known=_known())
    counted = rows.values("start", "outcome", "reason", "known").annotate(n=Count("id"), total=Sum("size")).order_by()
    for row in counted:
        _add(groups.setdefault(row["start"], SiteFolder(row["start"])), row)
    waiting = Message.objects.filter(excursion__in=live).exclude(state=MessageState.DONE)
    for row in in_groups(waiting, folder).values("start").annotate(n=Count("id")).order_by():
        group = groups.setdefault(row["start"], SiteFolder(row["start"]))
        _add(group, {"outcome": QUEUED, "n": row["n"]})
    return groups


_SUMS = ("found", "new", "changed", "unchanged", "redirected", "robots", "outside", "excluded", "other", "left",
         "errors", "bytes")  # fmt: skip


def _counted_before(run: Run, docs: Docs, doc_id: int | None, folder: str) -> dict[str, SiteFolder]:
    """From the folders counted at the end of each excursion; those of a site are its whole sums."""
    if folder:
        rows = in_groups(_figures(run, docs, doc_id, whole=False), folder, "folder").values_list("start")
    else:
        rows = _figures(run, docs, doc_id, whole=True).values_list("folder")
    sums = rows.annotate(**{f"sum_{name}": Sum(name) for name in _SUMS}).order_by()
    return {start: SiteFolder(start, **dict(zip(_SUMS, counts, strict=True))) for start, *counts in sums if counts[0]}


def _medians_before(run: Run, docs: Docs, doc_id: int | None) -> Any:
    """Site, median of its answers in one excursion, and how many answers those were."""
    rows = _figures(run, docs, doc_id, whole=True).filter(answers__gt=0)
    return rows.values_list("folder", "median_ms", "answers").order_by()


def _known() -> Case:
    return Case(When(previous_version_id__isnull=True, then=Value(0)), default=Value(1))


def _add(group: SiteFolder, row: dict[str, Any]) -> None:
    name = column_of(row["outcome"], row.get("reason", ""), known=bool(row.get("known")))
    setattr(group, name, getattr(group, name) + row["n"])
    group.found += row["n"]
    if row["outcome"] in (CRAWLED, UNCHANGED):
        group.bytes += row["total"] or 0


def column_of(outcome: str, reason: str, *, known: bool) -> str:
    """Where an address is counted; `known`: it was stored by an earlier run."""
    if outcome == CRAWLED:
        return "changed" if known else "new"
    if outcome == SKIPPED:
        return _REASONS.get(reason, "other")
    return {UNCHANGED: "unchanged", REDIRECTED: "redirected", FAILED: "errors", QUEUED: "queued"}[outcome]


def _times(rows: QuerySet[LedgerEntry]) -> dict[str, list[tuple[int, int]]]:
    """Of each site, how long its answers took and how often."""
    answered = rows.filter(outcome__in=(CRAWLED, UNCHANGED, REDIRECTED), milliseconds__gt=0)
    times = in_groups(answered, "").values_list("start", "milliseconds").annotate(n=Count("id")).order_by()
    by_start: dict[str, list[tuple[int, int]]] = {}
    for start, milliseconds, count in times:
        by_start.setdefault(start, []).append((milliseconds, count))
    return by_start


def median_of(counted: Iterable[tuple[int, int]]) -> int:
    """The middle of values given in rising order with how often each occurs."""
    counted = list(counted)
    middle = (sum(count for _, count in counted) + 1) // 2
    for value, count in counted:
        middle -= count
        if middle <= 0:
            return value
    return 0
