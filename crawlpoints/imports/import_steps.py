"""Owns: a long import, from asked to done or taken back: worked on in short steps, each one transaction that also moves
the row of the import on. The only writer of its three tables.

A process killed anywhere leaves whole steps behind, and the next one goes on; two at once do no harm, because a step
counts only for who moved the row. What is added stands there nominally deleted until `_show`, one short transaction.
What a step writes is made ready before its transaction begins: nobody waits for what we compute.
Does not: judge lines (judging), write crawl points (import_rows). Called by: the screens, the API, jobs, the tick.
"""

import time
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from datetime import datetime, timedelta
from itertools import islice
from typing import Any

from django.utils import timezone

from clearinghouse.audit import services as audit
from clearinghouse.database import bulk_insert
from clearinghouse.database.records import StaleRecord, acting_as
from clearinghouse.database.short_transactions import MOST, ShortTransactions
from clearinghouse.library.models import Document
from clearinghouse.operations import work_queues
from clearinghouse.web.plurals import plural

from ..models import CrawlPoint, CrawlPointLink, Import, ImportLine, ImportPart
from ..point_checks import Invalid
from . import import_rows, import_visibility
from .line_verdicts import ADD, CHANGE, ERROR, TWICE, UNCHANGED, Judge, PlannedLine
from .point_csv import CsvLine, PointCsv, UnreadablePointCsv, parts_of
from .short_import import POINT_COLUMNS

State = Import.State
WORKING = (State.READING, State.SHOWING, State.RECORDING, State.REMOVING, State.TAKING_BACK, State.RECORDING_BACK)
OPEN = (State.UPLOADING, State.READ, *WORKING)
SLICE_SECONDS = 3.0  # then others of the queue have their turn
TOLD_LINES, TOLD_ERRORS = 100, 200
PARTS_AT_ONCE = 4  # a megabyte
LOST, DECIDE_WITHIN, TAKE_BACK_WITHIN = timedelta(seconds=10), timedelta(days=1), timedelta(days=7)


class Overtaken(Exception):
    """Another process moved the row on, or a person gave another order: this step was not done."""


# ---- asked for ----


def ask(document: Document, pieces: Iterable[str], by: str, *, at_once: bool = False) -> Import:
    """Stores the text, and lets a worker read it. Raises Unreadable, and Invalid while another one is not ended."""
    if open_of(document):
        raise Invalid({"csv": ["Another import of this document has not ended. Finish or cancel it first"]})
    now = timezone.now()
    row = Import.objects.create(document=document, asked_by=by, asked_at=now, moved_at=now, at_once=at_once)
    short, parts = ShortTransactions(), enumerate(parts_of(pieces))
    while some := [ImportPart(of=row, number=number, text=part) for number, part in islice(parts, PARTS_AT_ONCE)]:
        with short.one():
            ImportPart.objects.bulk_create(some)
    try:
        sheet = PointCsv(_parts(row), POINT_COLUMNS, "url")
        lines, told = sheet.count(), {"ignored": sheet.ignored[:50], "lines": [], "errors": []}
    except UnreadablePointCsv:
        row.delete()  # with its parts
        raise
    counts = dict.fromkeys((ADD, CHANGE, UNCHANGED, ERROR), 0)
    _move(row, State.READING, lines=lines, counts=counts, told=told)
    wake_worker(row)
    return row


def open_of(document: Document) -> Import | None:
    return Import.objects.filter(document=document, state__in=OPEN).first()


def confirm(row: Import) -> None:
    """Do what it says it would."""
    _order(row, (State.READ,), State.SHOWING)


def cancel(row: Import) -> None:
    _order(row, (State.UPLOADING, State.READING, State.READ), State.REMOVING)


def take_back(row: Import) -> None:
    _order(row, (State.DONE,), State.TAKING_BACK)


def _order(row: Import, states: Sequence[str], state: str) -> None:
    """Pressed twice it is done once; at another moment nothing happens, and the screen shows where it is."""
    now = timezone.now()
    mine = Import.objects.filter(pk=row.pk, state__in=states)
    if mine.update(state=state, position=0, moved_at=now, finished_at=None):
        wake_worker(row)


def wake_worker(row: Import) -> None:
    work_queues.wake(work_queues.Job.IMPORT_POINTS, row.pk)


# ---- by the tick ----


def look_after(now: datetime) -> None:
    """Wakes a worker for what was lost with a process; lets nothing wait for a decision for ever."""
    stale = Import.objects.filter(state__in=WORKING).exclude(moved_at__range=(now - LOST, now + LOST))
    if not work_queues.waiting(work_queues.CONTROL):
        for row in stale:
            wake_worker(row)
    for row in Import.objects.filter(state__in=(State.READ, State.UPLOADING), moved_at__lt=now - DECIDE_WITHIN):
        cancel(row)
    for row in Import.objects.filter(state=State.DONE, finished_at__lt=now - TAKE_BACK_WITHIN, rows__isnull=False)[:1]:
        last = row.rows.order_by("number").values_list("number", flat=True)[:MOST]
        row.rows.filter(number__in=list(last)).delete()


# ---- by a worker ----


def carry_out(import_id: int) -> None:
    """Steps until there is nothing to do, or the slice is over."""
    row = Import.objects.filter(pk=import_id, state__in=WORKING).first()
    if row is None:
        return
    until = time.monotonic() + SLICE_SECONDS
    with acting_as(row.asked_by), suppress(Overtaken):
        while row.state in WORKING and time.monotonic() < until:
            _STEPS[State(row.state)](row, until)
    row.refresh_from_db()
    if row.state in WORKING:
        wake_worker(row)


def _move(row: Import, state: str | None = None, **values: Any) -> None:
    """First in its transaction. Raises Overtaken when the row is not as this process knows it."""
    values |= {"state": state or row.state, "moved_at": timezone.now()}
    if state and "position" not in values:
        values["position"] = 0
    mine = Import.objects.filter(pk=row.pk, state=row.state, position=row.position)
    if not mine.update(**values):
        raise Overtaken(f"import {row.pk}")
    for name, value in values.items():
        setattr(row, name, value)


def _parts(row: Import) -> Iterator[str]:
    """One in memory at a time."""
    for number in row.parts.order_by("number").values_list("number", flat=True):
        yield row.parts.get(number=number).text


def _read(row: Import, until: float) -> None:
    """Judges the next lines, and writes what they add where nobody sees it."""
    judge, short = Judge(row.document, _EarlierLines(row)), ShortTransactions()
    sheet = PointCsv(_parts(row), POINT_COLUMNS, "url")
    sheet.skip(row.position)
    lines = iter(sheet)
    while part := list(islice(lines, short.rows)):
        _read_part(row, judge, part, short)
        if time.monotonic() >= until:  # one part at least, however long it took to get there
            return
    _move(row, State.SHOWING if row.at_once or row.again else State.READ, again=False)


def _read_part(row: Import, judge: Judge, part: list[CsvLine], short: ShortTransactions) -> None:
    for _ in range(5):
        planned = judge.plan(part)
        staged, counts, told = _Staged(row, planned), _counted(row, planned), _told(row, planned)
        try:
            with short.one():
                _move(row, position=row.position + len(part), counts=counts, told=told)
                staged.write()
        except StaleRecord:  # somebody added one of them in this very moment: what the line does is another thing now
            row.refresh_from_db()
            continue
        return
    raise StaleRecord(f"import {row.pk}: line {part[0].number} changes faster than it is read")


class _Staged:
    """What the lines of a part do, ready to be written where nobody sees it."""

    def __init__(self, row: Import, planned: Sequence[PlannedLine]) -> None:
        new = [line for line in planned if line.outcome == ADD]
        self._points = import_rows.NewPoints(row.document, new, shown=False)
        added = [ImportLine(of=row, number=one.number, adds=True, point_id=0, values=one.typed) for one in new]
        self._added = bulk_insert.ready(ImportLine, added)
        met = [(line, line.point) for line in planned if line.outcome == CHANGE and line.point]
        changed = [
            ImportLine(
                of=row, number=line.number, adds=False, point_id=point.pk, version=point.version,
                values=_before_and_after(line, point),
            )
            for line, point in met
        ]  # fmt: skip
        self._changed = bulk_insert.ready(ImportLine, changed)

    def write(self) -> None:
        self._added.write(point_id=self._points.write())
        self._changed.write()


def _before_and_after(line: PlannedLine, point: CrawlPoint) -> dict[str, Any]:
    before = {name: getattr(point, name) for name in line.values if name != "password"}
    if line.key == point.key:  # a key that is written again costs its index as much as another one
        return {"after": line.values, "before": before}
    return {"after": line.values | {"key": line.key}, "before": before | {"key": point.key}}


def _counted(row: Import, planned: Sequence[PlannedLine]) -> dict[str, int]:
    counts = dict(row.counts)
    for line in planned:
        counts[line.outcome] += 1
    return counts


def _told(row: Import, planned: Sequence[PlannedLine]) -> dict[str, Any]:
    """The first lines and the first errors, for the screen: every error is counted, so many are named."""
    told = row.told | {name: list(row.told[name]) for name in ("errors", "lines")}
    for line in planned:
        if line.outcome == ERROR and len(told["errors"]) < TOLD_ERRORS:
            told["errors"].append(_shown(line))
        elif line.outcome != ERROR and len(told["lines"]) < TOLD_LINES:
            told["lines"].append(_shown(line))
    return told


def _shown(line: PlannedLine) -> dict[str, Any]:
    return {
        "number": line.number, "outcome": line.outcome, "name": line.name[:2048], "message": line.message,
        "changes": [[column, old[:500], new[:500]] for column, old, new in line.changes],
    }  # fmt: skip


class _EarlierLines:
    """What the lines before this part do stands in the rows: nothing of it is kept in memory."""

    def __init__(self, row: Import) -> None:
        self.row = row

    def points(self, ids: Any) -> set[int]:
        return set(self.row.rows.filter(adds=False, point_id__in=ids).values_list("point_id", flat=True))

    def keys(self, keys: Any) -> set[str]:
        hidden = CrawlPoint.everything.filter(key__in=keys, deleted=1)
        return {key for key in hidden.values_list("key", flat=True) if key}


def _show(row: Import, until: float) -> None:
    """All at once, or not at all: when somebody changed one of the crawl points, everything is read once more."""
    short, changes = ShortTransactions(), import_visibility.changes(row)
    try:
        with short.one():
            _move(row, State.RECORDING)
            if not Document.objects.filter(pk=row.document_id).exists():
                raise StaleRecord("the document was deleted")
            import_visibility.show(row, changes)
            audit.record("import", row.document, _said(row), document_id=row.document_id, after=dict(row.counts))
    except StaleRecord:
        row.refresh_from_db()
        _move(row, State.REMOVING, again=Document.objects.filter(pk=row.document_id).exists())


def _said(row: Import) -> str:
    counts = row.counts
    left = f", {plural(counts[ERROR], 'line')} left out" if counts[ERROR] else ""
    return f"Imported crawl points from CSV: {counts[ADD]:,} added, {counts[CHANGE]:,} changed{left}"


def _rows(row: Import, short: ShortTransactions) -> list[ImportLine]:
    """The next lines that do something, in the order of the file; `position` is the last number done."""
    return list(row.rows.filter(number__gt=row.position).order_by("number")[: short.rows])


def _record(row: Import, until: float) -> None:
    """The history of each crawl point, signed by who asked."""
    short = ShortTransactions()
    while time.monotonic() < until:
        lines = _rows(row, short)
        history = import_visibility.history(row, lines)
        with short.one():
            if not lines:
                row.parts.all().delete()
                return _move(row, State.DONE, finished_at=timezone.now())
            _move(row, position=lines[-1].number)
            history.write()
    return None


def _remove(row: Import, until: float) -> None:
    """What nobody ever saw goes for good."""
    short = ShortTransactions()
    while time.monotonic() < until:
        lines = _rows(row, short)
        ids = [line.point_id for line in lines if line.adds]
        with short.one():
            if not lines:
                return _removed(row)
            _move(row, position=lines[-1].number)
            CrawlPointLink.everything.filter(crawl_point__in=ids)._raw_delete(row._state.db)
            CrawlPoint.everything.filter(pk__in=ids, deleted=1)._raw_delete(row._state.db)
            row.rows.filter(number__lte=lines[-1].number).delete()
    return None


def _removed(row: Import) -> None:
    if row.again:
        counts = dict.fromkeys(row.counts, 0)
        told = row.told | {"lines": [], "errors": [], "again": True}
        return _move(row, State.READING, counts=counts, told=told, again=False, at_once=False)
    row.parts.all().delete()
    return _move(row, State.CANCELLED, finished_at=timezone.now())


def _take_back(row: Import, until: float) -> None:
    """As it was before, in one short transaction; what somebody changed since stays as it is."""
    short, changes, every = ShortTransactions(), import_visibility.changes_back(row), row.rows.count()
    with short.one():
        _move(row, State.RECORDING_BACK)
        back = import_visibility.hide(row, changes)
        row.told = row.told | {"back": back, "left": every - back}
        Import.objects.filter(pk=row.pk).update(told=row.told)
        sentence = (
            f"Took back an import from CSV: {plural(back, 'crawl point')}, {every - back:,} changed since and left"
        )
        audit.record("undo", row.document, sentence, document_id=row.document_id)


def _record_back(row: Import, until: float) -> None:
    short = ShortTransactions()
    while time.monotonic() < until:
        lines = _rows(row, short)
        history = import_visibility.HistoryBack(row, lines)
        with short.one():
            if not lines:
                return _move(row, State.TAKEN_BACK, finished_at=timezone.now())
            _move(row, position=lines[-1].number)
            history.write()
    return None


_STEPS = {
    State.READING: _read, State.SHOWING: _show, State.RECORDING: _record, State.REMOVING: _remove,
    State.TAKING_BACK: _take_back, State.RECORDING_BACK: _record_back,
}  # fmt: skip
__all__ = ["OPEN", "TWICE", "WORKING", "ask", "cancel", "carry_out", "confirm", "look_after", "open_of", "take_back"]
