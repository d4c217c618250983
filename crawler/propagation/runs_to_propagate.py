"""Owns: which runs there are to choose from since the last propagation. Does not: take them (scope).

Called by: work (what the plan notes), the screens.
"""

from collections.abc import Iterable
from dataclasses import dataclass

from crawler.models import Excursion, Run, State

from .pinned_scope import COUNT_WHEN_ASKED, PinnedScope, taken

LISTED = 100  # older ones are always taken


@dataclass(slots=True)
class RunToPropagate:
    """A run whose results no propagation has taken yet."""

    run: Run
    documents: int = 0
    pages: int = 0
    stopped: bool = True  # nothing of it was finished: taken only when asked


def since_last() -> list[RunToPropagate]:
    """Newest first, as many as are listed."""
    found = _grouped()
    runs = Run.objects.in_bulk(sorted(found, reverse=True)[:LISTED])
    return [_candidate(runs[number], found[number]) for number in sorted(runs, reverse=True)]


def chosen(listed: Iterable[RunToPropagate], ticked: set[int]) -> list[int] | None:
    """The runs to take: those ticked and the older ones that are not listed; None when that is what counts anyway."""
    listed = list(listed)
    if {one.run.pk for one in listed if not one.stopped} == {one.run.pk for one in listed if one.run.pk in ticked}:
        return None
    shown = {one.run.pk for one in listed}
    older = {number for number, rows in _grouped().items() if number not in shown and not _stopped(rows)}
    return sorted(older | (ticked & shown))


def runs_of(scope: PinnedScope) -> list[int]:
    """The runs that are new in a pinned scope."""
    known = taken()
    new = {one.number for document in scope.documents for one in document.excursions} - known
    return sorted(number for number, rows in _grouped().items() if any(row[0] in new for row in rows))


_Row = tuple[int, str, int]  # excursion, state, pages


def _grouped() -> dict[int, list[_Row]]:
    known = taken()
    rows = Excursion.objects.filter(state__in=COUNT_WHEN_ASKED, left_out_at=None).exclude(run__origin="preview")
    found: dict[int, list[_Row]] = {}
    for run_id, number, state, crawled, unchanged in rows.values_list("run_id", "id", "state", "crawled", "unchanged"):
        if number not in known:
            found.setdefault(run_id, []).append((number, state, crawled + unchanged))
    return found


def _candidate(run: Run, rows: list[_Row]) -> RunToPropagate:
    return RunToPropagate(run, len(rows), sum(pages for _, _, pages in rows), _stopped(rows))


def _stopped(rows: list[_Row]) -> bool:
    return all(state == State.STOPPED for _, state, _ in rows)
