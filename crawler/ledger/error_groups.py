"""Errors of a run in groups: the same reason, on the same site, in places of the same shape."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from django.core.exceptions import EmptyResultSet
from django.db.models import Count, Max, Min, QuerySet, Sum

from clearinghouse.columns import Exact
from clearinghouse.database.digests import digest_of
from clearinghouse.operations.bounded_cache import BoundedCache

from ..models import ErrorGroup, ErrorMark, Excursion, LedgerEntry, Run
from ..reasons import HTTP, reason_of
from ..runs.latest_crawls import COMPLETE
from ..runs.report_queries import marks, seen
from ..runs.run_counts import Docs, excursions_of
from ..values import FAILED
from .queries import Filter

# So many failed addresses of a run are looked at; a run with more has one trouble, not twenty thousand.
MOST = 20_000
NEW, KNOWN, SOLVED = "new", "known", "solved"
_DIGITS = re.compile(r"\d+")
_LONG_WORD = re.compile(r"[0-9a-fA-F-]{16,}")
_COLUMNS = ("excursion__doc_id", "url", "reason", "status", "at", "id")
_KEY = ("reason", "site", "pattern")


@dataclass(slots=True)
class FailureGroup:
    """Failed addresses that are one trouble."""

    reason: str
    site: str
    pattern: str
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None
    statuses: set[int] = field(default_factory=set)
    documents: set[int] = field(default_factory=set)
    state: str = NEW

    @property
    def digest(self) -> bytes:
        return digest_of("\n".join((self.reason, self.site, self.pattern)))

    @property
    def key(self) -> str:
        """Names the group in an address."""
        return self.digest.hex()[:16]

    @property
    def name(self) -> str:
        """Names it where people call it known or solved."""
        return self.digest.hex()

    def add(self, doc_id: int, status: int, count: int, at: datetime) -> None:
        self.count += count
        self.first = at if self.first is None else min(self.first, at)
        self.last = at if self.last is None else max(self.last, at)
        self.statuses.add(status)
        self.documents.add(doc_id)

    @property
    def label(self) -> str:
        return ", ".join(reason_of(self.reason, status).label for status in self._answers())

    @property
    def advice(self) -> str:
        """Of the first status: addresses of one group have one trouble, as a rule."""
        return reason_of(self.reason, self._answers()[0]).advice

    def _answers(self) -> list[int]:
        """The statuses that tell this reason; else none, once."""
        return sorted(self.statuses) if self.reason in HTTP and self.statuses else [0]


@dataclass(frozen=True, slots=True)
class Failures:
    groups: list[FailureGroup]  # largest first
    solved: list[FailureGroup]  # of the runs before, and not met in this one
    grouped: int = 0  # addresses in the groups
    failed: int = 0  # and in all: very many kinds, or very many addresses, are not grouped to the last one

    @property
    def complete(self) -> bool:
        return self.grouped >= self.failed


def pattern_of(url: str) -> tuple[str, str]:
    """The site of an address, and the shape of its path: numbers and long codes are written N, queries by name."""
    parts = urlsplit(url)
    path = _DIGITS.sub("N", _LONG_WORD.sub("N", parts.path))
    names = sorted({piece.partition("=")[0] for piece in parts.query.split("&") if piece})
    query = "?" + "&".join(names) if names else ""
    return f"{parts.scheme}://{parts.netloc}/", path + query


def failures_of(run: Run, docs: Docs, asked: Filter) -> Failures:
    """The errors of a run in groups; what ended was counted then, only the rest is read from the ledger."""
    excursions = _excursions(run, docs, asked)
    stored = ErrorGroup.objects.filter(run_id=run.pk)
    if docs is not None or asked.doc_id is not None:
        stored = stored.filter(excursion__in=excursions.values("pk"))
    groups = _stored(stored)
    live = list(excursions.filter(diagnosis=None).values_list("pk", flat=True))
    rows = _rows(live)
    for doc_id, url, reason, status, at, _ in rows:
        key = (reason, *pattern_of(url))
        groups.setdefault(key, FailureGroup(*key)).add(doc_id, status, 1, at)
    before = _before(excursions, run)
    solved = [group for key, group in before.items() if key not in groups]
    _judge(groups.values(), docs, run)
    for group in solved:
        group.state = SOLVED
    failed = excursions.aggregate(total=Sum("failed", default=0))["total"]
    return Failures(_largest(groups.values()), _largest(solved), sum(one.count for one in groups.values()), failed)


def _excursions(run: Run, docs: Docs, asked: Filter) -> QuerySet[Excursion]:
    rows = excursions_of(run, docs)
    return rows if asked.doc_id is None else rows.filter(doc_id=asked.doc_id)


_ENDED = BoundedCache(200_000)  # groups of excursions as they ended, weighed by their documents
_WHICH = {"rows": Count("id"), "sum": Sum("id"), "newest": Max("id"), "failed": Sum("count"), "last": Max("ended_at")}


def _stored(rows: QuerySet[ErrorGroup]) -> dict[tuple[str, ...], FailureGroup]:
    """Groups that were counted when their excursions ended. Such rows do not change, some may only come or go: put
    together once they are remembered, for that took half of the page. What is given belongs to the caller."""

    def read() -> tuple[list[FailureGroup], int]:
        groups = list(_put_together(rows).values())
        return groups, sum(len(group.documents) for group in groups) + 1

    try:
        asked = rows.order_by().query.sql_with_params()  # says whose rows these are: nobody is given those of others
    except EmptyResultSet:
        return {}
    which = rows.order_by().aggregate(**_WHICH)
    groups = _ENDED.get((*asked, *which.values()), read)
    copies = (replace(group, statuses=set(group.statuses), documents=set(group.documents)) for group in groups)
    return {(group.reason, group.site, group.pattern): group for group in copies}


def _put_together(rows: QuerySet[ErrorGroup]) -> dict[tuple[str, ...], FailureGroup]:
    """Profiled: reading the times with each row, not apart, took half of it."""
    groups: dict[tuple[str, ...], FailureGroup] = {}
    for *key, status, count, doc_id in rows.order_by().values_list(*_KEY, "status", "count", "doc_id"):
        group = groups.get(tuple(key))
        if group is None:
            group = groups[tuple(key)] = FailureGroup(*key)
        group.count += count
        group.statuses.add(status)
        group.documents.add(doc_id)
    exact = [Exact(name) for name in _KEY]
    for *key, first, last in rows.order_by().values_list(*exact).annotate(Min("ended_at"), Max("ended_at")):
        groups[tuple(key)].first, groups[tuple(key)].last = first, last
    return groups


def _judge(groups: Iterable[FailureGroup], docs: Docs, run: Run) -> None:
    """New until every document's part of it is marked; what was called solved and is met again is new."""
    marked = marks(docs)
    touched = {key for _, key in marked}
    for group in groups:
        if touched and group.digest in touched:
            found = [_state(marked.get((doc_id, group.digest)), run.pk) for doc_id in group.documents]
            group.state = next(one for one in (NEW, KNOWN, SOLVED) if one in found)


def _state(mark: ErrorMark | None, run_id: int) -> str:
    if mark is None or (mark.state == ErrorMark.State.SOLVED and run_id > mark.run_id):
        return NEW
    return str(mark.state)


def _rows(excursion_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    if not excursion_ids:
        return []
    failed = LedgerEntry.objects.filter(excursion__in=excursion_ids, outcome=FAILED)
    return list(failed.order_by("excursion", "outcome", "reason", "id").values_list(*_COLUMNS)[:MOST])


def _before(excursions: QuerySet[Excursion], run: Run) -> dict[tuple[str, ...], FailureGroup]:
    """The groups of the run before: of the newest earlier one over any of these whole documents that came to its
    end. A part of a document that was not sent to its errors says nothing about them."""
    whole = excursions.filter(part__in=("", "failed"))
    earlier = Excursion.objects.filter(doc_id__in=whole.values("doc_id"), run__lt=run.pk)
    earlier = earlier.filter(state__in=COMPLETE, left_out_at=None)
    newest = earlier.order_by("-run_id").values_list("run_id", flat=True).first()
    if newest is None:
        return {}
    rows = ErrorGroup.objects.filter(run_id=newest, doc_id__in=whole.filter(unfinished=False).values("doc_id"))
    return _stored(rows)


def ids_of(group: FailureGroup, run: Run, docs: Docs, asked: Filter) -> list[int]:
    """The ledger rows of a group, at most MOST."""
    rows = LedgerEntry.objects.filter(
        excursion__in=_excursions(run, docs, asked).filter(doc_id__in=group.documents).values("pk"), outcome=FAILED,
        reason=group.reason,
    )  # fmt: skip
    listed = rows.order_by("excursion_id", "id").values_list("id", "url")[:MOST]
    return [pk for pk, url in listed if pattern_of(url) == (group.site, group.pattern)]


def seen_of(groups: Iterable[FailureGroup], docs: Docs) -> dict[bytes, tuple[datetime, datetime]]:
    """When errors like these were met first and last, in any run a person may see."""
    rows = seen(ErrorGroup.objects.filter(key__in=[group.digest for group in groups]), docs)
    found = rows.values("key").annotate(first=Min("ended_at"), last=Max("ended_at")).order_by()
    return {bytes(row["key"]): (row["first"], row["last"]) for row in found}


def _largest(groups: Iterable[FailureGroup]) -> list[FailureGroup]:
    return sorted(groups, key=lambda group: (-group.count, group.site, group.pattern, group.reason))
