"""The row of a preview: asked for by a screen, filled by one worker, read by polls. The only writer of its table.

A preview waits for sites, so it has a queue and workers of its own, and nobody fills these: one open preview a person,
a few a document.
"""

from collections.abc import Mapping
from datetime import datetime, timedelta
from typing import Any

from django.db.models import Q, QuerySet
from django.utils import timezone

from clearinghouse.operations import retention, work_queues

from ..errors import TooManyAtOnce
from ..models import Preview
from ..values import Snapshot

PATIENCE, LOST = timedelta(seconds=10), timedelta(hours=1)
OF_A_DOCUMENT = 3
LONGEST = timedelta(minutes=2)  # what was begun before lost its worker
SECONDS, SOON = 60, 15  # within which one ends, and one that was stopped


def ask(snapshot: Snapshot, by: str, entries: Mapping[str, Any], point_id: int | None = None) -> Preview:
    """A new preview, for which a worker of its queue is woken; raises TooManyAtOnce."""
    now = timezone.now()
    forget_old(now)
    _refuse_too_many(_open(now), snapshot.doc_id, by)
    _refuse_too_many_stopped(now, by)
    row = Preview.objects.create(
        doc_id=snapshot.doc_id, asked_by=by, asked_at=now, snapshot=snapshot.to_json(), entries=dict(entries),
        point_id=point_id,
    )  # fmt: skip
    try:  # again, now that it can be seen: of two asked for at the same moment the later one goes
        _refuse_too_many(_open(now).filter(pk__lt=row.pk), snapshot.doc_id, by)
    except TooManyAtOnce:
        row.delete()
        raise
    work_queues.wake(work_queues.Job.PREVIEW, row.pk)
    return row


def _open(now: datetime) -> QuerySet[Preview]:
    """Those that wait or are looked at; not what nobody begins any more, or whose worker died."""
    waiting = Q(started_at=None, asked_at__gte=now - LOST) | Q(started_at__gte=now - LONGEST)
    return Preview.objects.filter(waiting, finished_at=None, stop=False)


def _refuse_too_many(rows: QuerySet[Preview], doc_id: int, by: str) -> None:
    mine = rows.filter(asked_by=by).first()
    if mine is not None:
        here = "" if mine.doc_id == doc_id else f" of document {mine.doc_id}"
        raise TooManyAtOnce(f"Your preview{here} has not ended: wait for it, or stop it", SECONDS)
    if rows.filter(doc_id=doc_id).count() >= OF_A_DOCUMENT:
        raise TooManyAtOnce(f"{OF_A_DOCUMENT} people are previewing this document: wait until one has ended", SECONDS)


def _refuse_too_many_stopped(now: datetime, by: str) -> None:
    """Whoever asks and stops in turn would hold all workers: each stays with its site until that page has ended."""
    stopped = Preview.objects.filter(asked_by=by, stop=True, started_at__gte=now - LONGEST, finished_at=None)
    if stopped.count() > 1:
        raise TooManyAtOnce("Previews that you stopped are still waiting for their site: try again in a moment", SOON)


def forget_old(now: datetime, *, dry: bool = False) -> int:
    """How many rows were, or with `dry` would be, deleted."""
    before = retention.cutoff("previews", now)
    if before is None:
        return 0
    rows = Preview.objects.filter(asked_at__lt=before)
    return rows.count() if dry else rows.delete()[0]


def wake_worker_again(row: Preview) -> None:
    if row.started_at is None:
        work_queues.wake(work_queues.Job.PREVIEW, row.pk)


def wake_workers_again(now: datetime) -> None:
    """Previews that nobody began: the job was lost, or all workers are busy; a job too many finds nothing to do."""
    if work_queues.waiting(work_queues.PREVIEW):
        return
    for row in Preview.objects.filter(started_at=None, stop=False, asked_at__range=(now - LOST, now - PATIENCE)):
        wake_worker_again(row)


def begin(preview_id: int) -> Preview | None:
    """The row, for the first worker that comes; a second job finds nothing to do."""
    if not Preview.objects.filter(pk=preview_id, started_at=None, stop=False).update(started_at=timezone.now()):
        return None
    return Preview.objects.get(pk=preview_id)


def report(row: Preview, result: Mapping[str, Any], finished: bool = False) -> bool:
    """Writes what is known so far; False when somebody asked to stop."""
    row.progress += 1
    row.result = dict(result)
    row.finished_at = timezone.now() if finished else None
    row.save(update_fields=["progress", "result", "finished_at"])
    return not Preview.objects.filter(pk=row.pk, stop=True).exists()


def stop(row: Preview) -> None:
    Preview.objects.filter(pk=row.pk).update(stop=True)
