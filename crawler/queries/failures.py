"""Errors of a run in groups: the same reason, on the same site, in places of the same shape."""

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any
from urllib.parse import urlsplit

from clearinghouse.digests import digest_of

from ..models import Excursion, LedgerEntry, Run
from ..values import FAILED, REASONS
from .changes import KEPT
from .counts import Docs, excursions_of
from .ledger import Filter, Row, rows_of

# So many failed addresses of a run are looked at; a run with more has one trouble, not twenty thousand.
MOST = 20_000
NEW, KNOWN, SOLVED = "new", "known", "solved"
_DIGITS = re.compile(r"\d+")
_LONG_WORD = re.compile(r"[0-9a-fA-F-]{16,}")
_COLUMNS = ("excursion__doc_id", "url", "reason", "status", "at", "id")


@dataclass(slots=True)
class Group:
    """Failed addresses that are one trouble."""

    reason: str
    site: str
    pattern: str
    count: int = 0
    first: datetime | None = None
    last: datetime | None = None
    statuses: set[int] = field(default_factory=set)
    documents: set[int] = field(default_factory=set)
    ids: list[int] = field(default_factory=list)
    state: str = NEW

    @property
    def key(self) -> str:
        """Names the group in an address."""
        return digest_of("\n".join((self.reason, self.site, self.pattern))).hex()[:16]

    @property
    def label(self) -> str:
        return REASONS[self.reason].label if self.reason in REASONS else self.reason


@dataclass(frozen=True, slots=True)
class Failures:
    groups: list[Group]  # largest first
    solved: list[Group]  # of the runs before, and not met in this one
    complete: bool


def pattern_of(url: str) -> tuple[str, str]:
    """The site of an address, and the shape of its path: numbers and long codes are written N, queries by name."""
    parts = urlsplit(url)
    path = _DIGITS.sub("N", _LONG_WORD.sub("N", parts.path))
    names = sorted({piece.partition("=")[0] for piece in parts.query.split("&") if piece})
    query = "?" + "&".join(names) if names else ""
    return f"{parts.scheme}://{parts.netloc}/", path + query


def failures_of(run: Run, docs: Docs, asked: Filter) -> Failures:
    """The errors of a run that a person asked for, in groups; told apart by the runs before of the same documents."""
    ids = [pk for pk, _ in _excursions(run, docs, asked)]
    rows = _rows(ids)
    groups = _grouped(rows)
    before = _grouped(_rows(_before(run, docs, asked)))
    for key, group in groups.items():
        group.state = KNOWN if key in before else NEW
    solved = [group for key, group in before.items() if key not in groups]
    for group in solved:
        group.state = SOLVED
    return Failures(_largest(groups.values()), _largest(solved), len(rows) < MOST)


def _excursions(run: Run, docs: Docs, asked: Filter) -> list[tuple[int, int]]:
    rows = excursions_of(run, docs)
    rows = rows if asked.doc_id is None else rows.filter(doc_id=asked.doc_id)
    return list(rows.values_list("pk", "doc_id"))


def _rows(excursion_ids: Sequence[int]) -> list[tuple[Any, ...]]:
    failed = LedgerEntry.objects.filter(excursion__in=excursion_ids, outcome=FAILED)
    return list(failed.order_by("excursion", "outcome", "reason", "id").values_list(*_COLUMNS)[:MOST])


def _before(run: Run, docs: Docs, asked: Filter) -> list[int]:
    """The newest earlier excursion of each of the documents whose results were kept; one query."""
    doc_ids = [doc_id for _, doc_id in _excursions(run, docs, asked)]
    rows = Excursion.objects.filter(doc_id__in=doc_ids, run__lt=run.pk, state__in=KEPT)
    newest: dict[int, int] = {}
    for pk, doc_id in rows.order_by("id").values_list("pk", "doc_id"):
        newest[doc_id] = pk
    return list(newest.values())


def _grouped(rows: Iterable[tuple[Any, ...]]) -> dict[tuple[str, str, str], Group]:
    groups: dict[tuple[str, str, str], Group] = {}
    for doc_id, url, reason, status, at, pk in rows:
        key = (reason, *pattern_of(url))
        group = groups.setdefault(key, Group(*key))
        group.count += 1
        group.first = at if group.first is None else min(group.first, at)
        group.last = at if group.last is None else max(group.last, at)
        group.statuses.add(status)
        group.documents.add(doc_id)
        group.ids.append(pk)
    return groups


def _largest(groups: Iterable[Group]) -> list[Group]:
    return sorted(groups, key=lambda group: (-group.count, group.site, group.pattern, group.reason))


class Chosen:
    """The rows of a group as a list that can be counted and sliced: what a Paginator needs."""

    def __init__(self, run: Run, docs: Docs, ids: Sequence[int]) -> None:
        self._run, self._docs, self._ids = run, docs, list(ids)

    def count(self) -> int:
        return len(self._ids)

    __len__ = count

    def __getitem__(self, part: slice) -> list[Row]:
        wanted = self._ids[part]
        rows = rows_of(self._run, self._docs, Filter(outcomes=(FAILED,), ids=tuple(wanted)))
        return rows[0 : len(wanted)]
