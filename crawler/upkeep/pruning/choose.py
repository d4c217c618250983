"""Owns: which excursions may go. Reads only.

Of each document only the oldest in a row, so that whatever stays has everything behind it that it is judged by: a page
that left stays away, because the runs that missed it stay at least as long as the one that stored it.
"""

from collections.abc import Iterator, Sequence
from datetime import datetime
from typing import NamedTuple

from clearinghouse.operations import retention
from crawler.models import Excursion
from crawler.propagation import pinned_scope
from crawler.propagation.loading.collect import removable
from crawler.propagation.pinned_scope import PinnedExcursion

_PREVIEW = "preview"


class Old(NamedTuple):
    id: int
    doc_id: int
    run_id: int
    title: str
    addresses: int


class _Row(NamedTuple):
    id: int
    doc_id: int
    run_id: int
    title: str
    found: int
    state: str
    unfinished: bool
    finished_at: datetime | None
    left_out_at: datetime | None
    run__origin: str


def excursions(now: datetime) -> list[Old]:
    """Document by document, the oldest first."""
    before = retention.cutoff("runs", now)
    if before is None:
        return []
    taken = pinned_scope.taken()
    ways = [pinned_scope.counting(include_stopped=stopped) for stopped in (False, True)]
    found = []
    for rows in _documents():
        old = _oldest_in_a_row(rows, before, taken, retention.newest_kept())
        old = _not_shown(old, [way.get(rows[0].doc_id, []) for way in ways]) if old else []
        found += [Old(row.id, row.doc_id, row.run_id, row.title, row.found) for row in old]
    return found


def _documents() -> Iterator[list[_Row]]:
    """The excursions of each document that has more than are kept in any case, oldest first."""
    rows: list[_Row] = []
    table = Excursion.objects.order_by("doc_id", "run_id", "id").values_list(*_Row._fields)
    for values in table.iterator(2000):
        row = _Row(*values)
        if rows and rows[0].doc_id != row.doc_id:
            yield rows
            rows = []
        rows.append(row)
    if rows:
        yield rows


def _oldest_in_a_row(rows: Sequence[_Row], before: datetime, taken: set[int], newest: int) -> list[_Row]:
    """Pure. Ended, old enough, not among the newest, and of no further use to a propagation."""
    found: list[_Row] = []
    for row in rows[: max(0, len(rows) - newest)]:
        ended = not row.unfinished and row.finished_at is not None and row.finished_at < before
        counts = row.state in pinned_scope.COUNT_WHEN_ASKED and row.run__origin != _PREVIEW and row.left_out_at is None
        if not ended or (counts and row.id not in taken):
            break
        found.append(row)
    return found


def _not_shown(old: list[_Row], ways: list[list[PinnedExcursion]]) -> list[_Row]:
    """As many of them as every generation to come can do without, stopped runs taken or not."""
    for counting in ways if ways[0] != ways[1] else ways[:1]:
        going = {row.id for row in old}
        behind = [one.number for one in reversed(counting) if one.number in going]  # oldest first
        kept = behind[removable(counting, len(behind)) :] if behind else []
        if kept:
            old = old[: next(at for at, row in enumerate(old) if row.id in kept)]
    return old
