"""Lists of addresses whose length the counters of the excursions know: no row of the ledger is counted or passed over.

A list over thousands of documents is cut at the documents a page falls into; the order is that of the documents.
Filters the counters do not know are counted by the database, as before.
"""

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass
from typing import Any

from django.db.models import Count, Sum

from clearinghouse.operations.bounded_cache import BoundedCache

from ..models import OPEN_STATES, Excursion, FolderFigure, Run
from ..runs.run_counts import Docs, excursions_of, tallies_of
from ..values import CRAWLED, OUTCOMES, QUEUED, REASONS
from .queries import Filter, LedgerRows, Row, rows_of, statuses_of
from .site_folders import fresh_by_document, live_excursions

SORTED_UP_TO = 20_000  # more rows are not sorted for a page: the reader is told to choose fewer
_FEW = 500
# Filters that are narrower than any counter.
_UNKNOWN = ("text", "fresh", "here", "ids", "point", "rule", "site", "kind", "answered")


@dataclass(frozen=True, slots=True)
class DocumentShare:
    """One document's share of a list."""

    doc_id: int
    decided: int
    queued: int


class CountedList:
    """The rows of a list as a Paginator needs them: counted, and sliced."""

    def __init__(self, run: Run, asked: Filter, parts: Sequence[DocumentShare]) -> None:
        self._run, self._asked = run, asked
        self._parts = parts
        self._decided = sum(part.decided for part in parts)

    def count(self) -> int:
        return self._decided + sum(part.queued for part in self._parts)

    __len__ = count

    def __getitem__(self, wanted: slice) -> list[Row]:
        start, stop = wanted.start or 0, wanted.stop or 0
        rows = self._cut(start, min(stop, self._decided), lambda part: part.decided, LedgerRows.decided_rows)
        return rows + self._cut(start - self._decided, stop - self._decided, lambda part: part.queued, _in_order)

    def _cut(
        self,
        start: int,
        stop: int,
        share: Callable[[DocumentShare], int],
        read: Callable[[LedgerRows, int, int], list[Row]],
    ) -> list[Row]:
        """The documents that hold these places of the list, and the places in their own rows."""
        start, passed, met, doc_ids = max(start, 0), 0, 0, set()
        for part in self._parts:
            count = share(part)
            if count and passed < stop and passed + count > start:
                met = met if doc_ids else passed
                doc_ids.add(part.doc_id)
            passed += count
        if not doc_ids:
            return []
        return read(rows_of(self._run, doc_ids, self._asked), start - met, stop - met)


def _in_order(rows: LedgerRows, start: int, stop: int) -> list[Row]:
    """What waits, document by document."""
    return LedgerRows(rows.decided, rows.queued.order_by("excursion_id", "depth", "id")).queued_rows(start, stop)


def listed(run: Run, docs: Docs, asked: Filter) -> tuple[CountedList | LedgerRows, bool]:
    """The list, and whether it is too long to be sorted as asked for."""
    narrowed = documents_with(run, docs, asked)
    parts = _fresh_parts(run, docs, asked) if asked.fresh else None
    if parts is None and not _known(asked):
        return _counted_once(run, docs, asked, rows_of(run, narrowed, asked)), False
    counted = CountedList(run, asked.but(sort=""), list(_parts(run, narrowed, asked)) if parts is None else parts)
    if not asked.sort:
        return counted, False
    too_long = counted.count() > SORTED_UP_TO
    return (counted, True) if too_long else (rows_of(run, narrowed, asked), False)


_COUNTS = BoundedCache(10_000)


def _counted_once(run: Run, docs: Docs, asked: Filter, rows: LedgerRows) -> LedgerRows:
    """Of a run that ended the rows are counted for the first page only: a text that stands nowhere is looked for in
    every row, and each other page or order would ask for it again."""
    if run.state in OPEN_STATES:
        return rows
    seen = None if docs is None else frozenset(docs)
    left = excursions_of(run, docs).aggregate(n=Count("id"), found=Sum("found"))  # pruning takes rows away
    key = (run.pk, run.created_at, run.state, run.finished_at, *left.values(), seen, asked.but(sort=""))
    rows.counted(_COUNTS.get(key, lambda: (rows.decided.order_by().count(), 1)))
    return rows


def _known(asked: Filter) -> bool:
    """Whether the counters know how many rows the filter leaves."""
    if any(getattr(asked, name) not in ("", (), False, None) for name in _UNKNOWN):
        return False
    if asked.status is not None or asked.depth is not None or asked.taken:
        by_status = asked.status is not None and not asked.taken and asked.depth is None
        by_depth = asked.status is None and asked.taken and asked.depth is not None
        return (by_status or by_depth) and not (asked.outcomes or asked.reasons)
    return not (asked.reasons and asked.outcomes) or _implied(asked)


def _implied(asked: Filter) -> bool:
    """The outcomes asked for are those of the reasons: they take nothing away."""
    return {REASONS[code].outcome for code in asked.reasons} <= set(asked.outcomes)


def _parts(run: Run, docs: Docs, asked: Filter) -> Iterator[DocumentShare]:
    if asked.reasons or asked.status is not None or asked.taken:
        share = _share_of(asked)
        for doc_id, stored in tallies_of(run, docs, asked.doc_id):
            yield DocumentShare(doc_id, *share(stored))
        return
    names = asked.outcomes or OUTCOMES
    rows = _excursions(run, docs, asked.doc_id).order_by("id").values_list("doc_id", *OUTCOMES)
    for doc_id, *counts in rows:
        by_name = dict(zip(OUTCOMES, counts, strict=True))
        queued = by_name.pop(QUEUED) if QUEUED in names else 0
        yield DocumentShare(doc_id, sum(by_name.get(name, 0) for name in names), queued)


def _fresh_parts(run: Run, docs: Docs, asked: Filter) -> list[DocumentShare] | None:
    """New or changed pages of each document, counted when it ended; None when one did not, or more is asked."""
    plain = _known(asked.but(fresh="", outcomes=())) and not (asked.reasons or asked.taken or asked.status)
    if not plain or CRAWLED not in (asked.outcomes or (CRAWLED,)) or live_excursions(run, docs, asked.doc_id).exists():
        return None
    return [
        DocumentShare(doc_id, count, 0) for doc_id, count in fresh_by_document(run, docs, asked.doc_id, asked.fresh)
    ]


def _share_of(asked: Filter) -> Callable[[dict[str, Any]], tuple[int, int]]:
    if asked.reasons:
        return lambda stored: (sum(stored.get("reason", {}).get(code, 0) for code in asked.reasons), 0)
    if asked.status is not None:
        first, last = statuses_of(asked.status)
        return lambda stored: (
            sum(n for status, n in stored.get("status", {}).items() if first <= int(status) <= last),
            0,
        )
    return lambda stored: tuple(stored.get("depth", {}).get(str(asked.depth), (0, 0)))


def _excursions(run: Run, docs: Docs, doc_id: int | None) -> Any:
    rows = excursions_of(run, docs)
    return rows if doc_id is None else rows.filter(doc_id=doc_id)


def documents_with(run: Run, docs: Docs, asked: Filter) -> Docs:
    """Of the documents, those that may have an address that begins as asked for: what ended says so itself."""
    return documents_below(run, docs, asked.site) if asked.site and asked.doc_id is None else docs


def documents_below(run: Run, docs: Docs, beginning: str) -> Docs:
    """The same for an address, or the beginning of one."""
    folder = beginning[: beginning.rfind("/") + 1]
    site = folder[: folder.find("/", len("https://")) + 1]
    rows = FolderFigure.objects.filter(run_id=run.pk, whole=folder == site)
    with_it = rows.filter(folder=site) if folder == site else rows.filter(folder__startswith=folder)
    found = set(Excursion.objects.filter(pk__in=with_it.values("excursion_id")).values_list("doc_id", flat=True))
    found |= set(live_excursions(run, None).values_list("doc_id", flat=True))
    if len(found) > _FEW:
        return docs
    return found if docs is None else docs & found
