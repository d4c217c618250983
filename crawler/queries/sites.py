"""The ledger of a run by site and by folder: what a Hosts table and a tree of folders show. The database counts."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, Count, F, Q, QuerySet, Sum, Value, When
from django.db.models.functions import Left, StrIndex, Substr

from ..models import LedgerEntry, Message, MessageState, Run
from ..values import CRAWLED, FAILED, QUEUED, REDIRECTED, SKIPPED, UNCHANGED
from .counts import Docs, excursions_of

# Waiting addresses that an ending or a limit turned into skipped ones.
LEFT_REASONS = ("run_stopped", "run_limit", "page_limit")
_SCHEME = 8  # "https://": the first slash after it ends the site, also for http


@dataclass(slots=True)
class Group:
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
    def skipped(self) -> int:
        return self.robots + self.outside + self.excluded + self.other + self.left


_REASONS = {"robots_disallowed": "robots", "outside_root": "outside", "excluded": "excluded"} | dict.fromkeys(
    LEFT_REASONS, "left"
)


def by_site(run: Run, docs: Docs, doc_id: int | None = None) -> list[Group]:
    """Every site of the run, those with most pages first; each with the median time of its answers."""
    groups = _grouped(run, docs, doc_id, "")
    for start, milliseconds in _medians(_ledger(run, docs, doc_id)).items():
        if start in groups:
            groups[start].median = milliseconds
    return sorted(groups.values(), key=lambda group: (-group.pages, -group.errors, -group.found, group.start))


def by_folder(run: Run, docs: Docs, folder: str, doc_id: int | None = None) -> list[Group]:
    """The folders right below this one (a site, with its slash); one group has the folder itself: its own pages."""
    groups = _grouped(run, docs, doc_id, folder)
    return sorted(groups.values(), key=lambda group: group.start)


def _ledger(run: Run, docs: Docs, doc_id: int | None) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(excursion__in=_ids(run, docs, doc_id))


def _ids(run: Run, docs: Docs, doc_id: int | None) -> Any:
    excursions = excursions_of(run, docs)
    return (excursions if doc_id is None else excursions.filter(doc_id=doc_id)).values("id")


def _start(folder: str) -> tuple[Any, Any]:
    """The beginning of the address up to the slash that ends its site, or the folder below `folder`."""
    skip = len(folder) or _SCHEME
    slash = StrIndex(Substr("url", skip + 1), Value("/"))
    own = Left("url", len(folder)) if folder else Value("")
    return Case(When(cut=0, then=own), default=Left("url", F("cut") + skip)), slash


def _in_groups(rows: QuerySet[Any], folder: str) -> QuerySet[Any]:
    start, slash = _start(folder)
    if folder:
        rows = rows.annotate(beginning=Left("url", len(folder))).filter(beginning=folder)
    else:
        rows = rows.filter(Q(url__startswith="http://") | Q(url__startswith="https://"))
    grouped: QuerySet[Any] = rows.annotate(cut=slash).annotate(start=start)
    return grouped


def _grouped(run: Run, docs: Docs, doc_id: int | None, folder: str) -> dict[str, Group]:
    rows = _in_groups(_ledger(run, docs, doc_id), folder).annotate(known=_known())
    counted = rows.values("start", "outcome", "reason", "known").annotate(n=Count("id"), total=Sum("size")).order_by()
    groups: dict[str, Group] = {}
    for row in counted:
        _add(groups.setdefault(row["start"], Group(row["start"])), row)
    waiting = Message.objects.filter(excursion__in=_ids(run, docs, doc_id)).exclude(state=MessageState.DONE)
    for row in _in_groups(waiting, folder).values("start").annotate(n=Count("id")).order_by():
        group = groups.setdefault(row["start"], Group(row["start"]))
        _add(group, {"outcome": QUEUED, "n": row["n"]})
    return groups


def _known() -> Case:
    return Case(When(previous_version_id__isnull=True, then=Value(0)), default=Value(1))


def _add(group: Group, row: dict[str, Any]) -> None:
    name = _column(row["outcome"], row)
    setattr(group, name, getattr(group, name) + row["n"])
    group.found += row["n"]
    if row["outcome"] in (CRAWLED, UNCHANGED):
        group.bytes += row["total"] or 0


def _column(outcome: str, row: dict[str, Any]) -> str:
    if outcome == CRAWLED:
        return "changed" if row["known"] else "new"
    if outcome == SKIPPED:
        return _REASONS.get(row["reason"], "other")
    return {UNCHANGED: "unchanged", REDIRECTED: "redirected", FAILED: "errors", QUEUED: "queued"}[outcome]


def _medians(rows: QuerySet[LedgerEntry]) -> dict[str, int]:
    """The median time of the answers of each site, from how often each time occurred."""
    answered = rows.filter(outcome__in=(CRAWLED, UNCHANGED, REDIRECTED), milliseconds__gt=0)
    times = _in_groups(answered, "").values_list("start", "milliseconds").annotate(n=Count("id"))
    by_start: dict[str, list[tuple[int, int]]] = {}
    for start, milliseconds, count in times.order_by("start", "milliseconds"):
        by_start.setdefault(start, []).append((milliseconds, count))
    return {start: median_of(counted) for start, counted in by_start.items()}


def median_of(counted: Iterable[tuple[int, int]]) -> int:
    """The middle of values given in rising order with how often each occurs."""
    counted = list(counted)
    middle = (sum(count for _, count in counted) + 1) // 2
    for value, count in counted:
        middle -= count
        if middle <= 0:
            return value
    return 0
