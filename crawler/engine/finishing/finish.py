"""Owns: how an excursion and a run end: finished, at a limit, stopped, cancelled. Does not: fetch.

Ending a large queue takes many short transactions; each step may be repeated after a kill and changes nothing then.
Called by: the instance that serves the queue, the tick (for runs whose excursions all ended).
"""

from collections.abc import Iterator

from django.db import transaction
from django.db.models import F, Q
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.operations.work_queues import Job, wake

from ... import bulk_sql
from ...errors import CrawlerError
from ...launching.audited_change import together
from ...launching.control import CANCEL, LIMIT, STOP, note
from ...liveness.instances import fence
from ...models import ActiveQueue, Excursion, Instance, LedgerEntry, Message, MessageState, Run, State
from ...policy.frontier import SHORT, Frontier
from ...values import FAILED, SKIPPED, Snapshot
from .. import message_queue, storage
from ..counters import ExcursionCounters
from ..local_queue import LocalQueue
from ..storage import PendingWrites, Verdict
from . import finish_batch
from .backlink_counts import Derivation

# The state of a run is the worst of its excursions'.
WORST_FIRST = (State.FAILED, State.CANCELLED, State.STOPPED, State.FINISHED_AT_LIMIT, State.FINISHED)
EARLY_ENDS = {
    STOP: ("run_stopped", State.STOPPED),
    CANCEL: ("run_cancelled", State.CANCELLED),
    LIMIT: ("run_limit", State.FINISHED_AT_LIMIT),
}
_STEP = 1000
_HEADS = 250
_SHOW_AGAIN = (
    "UPDATE page_head SET version_id = %s, etag = '', last_modified = '' "
    "WHERE doc_id = %s AND url_key = %s AND version_id = %s"
)
_SHOW_NOTHING = "DELETE FROM page_head WHERE doc_id = %s AND url_key = %s AND version_id = %s"


def finish_small(instance: Instance, queues: list[LocalQueue]) -> list[LocalQueue]:
    """These queues are empty: end the excursions that can be ended many at a time, and return the others."""
    small, large = finish_batch.choose(queues)
    for part in finish_batch.parts(small):
        with together():
            fence(instance)
            finish_batch.close(part, [_state(queue) for queue in part])
            for run_id in {queue.excursion.run_id for queue in part}:
                conclude(run_id)
    return large


def finish(instance: Instance, queue: LocalQueue) -> Iterator[None]:
    """The queue is empty, or its maxima are used up: the document's excursion is over. In short steps, between which
    others are served."""
    while queue.waiting and _judge_waiting(instance, queue.work, SKIPPED, "page_limit"):
        yield
    state = _state(queue)
    queue.frontier.forget()
    yield from _count_and_close(instance, queue.excursion, state)


def _state(queue: LocalQueue) -> State:
    limited = queue.tally.reasons["page_limit"] + queue.tally.reasons["run_limit"] > 0
    return State.FINISHED_AT_LIMIT if limited else State.FINISHED


def end_early(instance: Instance, queue: LocalQueue, order: str) -> Iterator[None]:
    """Stopped, cancelled, or at the run's limit: what still waits gets its verdict, then the excursion ends."""
    reason, state = EARLY_ENDS[order]
    while _judge_waiting(instance, queue.work, SKIPPED, reason):
        yield
    if order == CANCEL:
        _announce(instance, queue.excursion)
        yield from _put_back_heads(instance, queue.excursion)
        yield from _close(instance, queue.excursion, state)
    else:
        queue.frontier.forget()
        yield from _count_and_close(instance, queue.excursion, state)


def fail(instance: Instance, excursion: Excursion) -> Iterator[None]:
    """Faults of ours came again and again while it was served. Whatever was at fault is not tried again: what waits
    is judged without restoring the queue, and nothing is counted."""
    work = PendingWrites(excursion, Frontier(Snapshot.from_json(excursion.snapshot)), ExcursionCounters(excursion))
    while _judge_waiting(instance, work, FAILED, "error"):
        yield
    yield from _close(instance, excursion, State.FAILED)


def _judge_waiting(instance: Instance, work: PendingWrites, outcome: str, reason: str) -> bool:
    messages = _next_waiting(work.excursion)
    for message in messages:
        if message.url_key[:SHORT] not in work.frontier.known:
            work.frontier.restore_message(message.url_key, message.reach, done=False)
        work.frontier.finish(message.url_key, counts=False, cut=reason == "page_limit")
        verdict = Verdict(message.url_key, message.url, outcome, reason, depth=message.depth)
        nearest = work.frontier.nearest_way(message.url_key[:SHORT])
        verdict.found_on, verdict.point_id = message.found_on, work.frontier.ids[nearest.point]
        work.verdicts.append(verdict)
        work.tally.verdict(outcome, reason, message.depth)
    storage.commit(instance, [work])
    return bool(messages)


def _next_waiting(excursion: Excursion) -> list[Message]:
    """In the order of the index: what is done is not walked over again at each step."""
    for state in (MessageState.RESERVED, MessageState.WAITING):
        rows = Message.objects.filter(excursion=excursion, state=state).order_by("depth", "id")[:_STEP]
        if messages := list(rows):
            return messages
    return []


def _announce(instance: Instance, excursion: Excursion) -> None:
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        Excursion.objects.filter(pk=excursion.pk).update(state=State.STOPPING)


def _put_back_heads(instance: Instance, excursion: Excursion) -> Iterator[None]:
    """Every head this excursion moved shows the version before it again; a page it found first is gone."""
    last = 0
    while True:
        entries = LedgerEntry.objects.filter(excursion=excursion, version_id__isnull=False, id__gt=last)
        moved = Q(previous_version_id=None) | ~Q(version_id=F("previous_version_id"))
        rows = entries.filter(moved).order_by("id")
        part = list(rows.values_list("id", "previous_version_id", "doc_id", "url_key", "version_id")[:_HEADS])
        if not part:
            return
        with transaction.atomic(using=WEBCRAWL):
            fence(instance)
            bulk_sql.execute_many(_SHOW_AGAIN, [(old, *head) for _, old, *head in part if old])
            bulk_sql.execute_many(_SHOW_NOTHING, [head for _, old, *head in part if not old])
        last = part[-1][0]
        yield


def _count_and_close(instance: Instance, excursion: Excursion, state: State) -> Iterator[None]:
    """What is kept is counted first; the excursion stays stopping meanwhile, and the next one goes on from there."""
    yield from Derivation(instance, excursion, state).steps()
    yield from _close(instance, excursion, state)


def _close(instance: Instance, excursion: Excursion, state: State) -> Iterator[None]:
    yield from message_queue.delete_messages(instance, excursion.pk)
    with together():
        fence(instance)
        Excursion.objects.filter(pk=excursion.pk).update(state=state, unfinished=False, finished_at=timezone.now())
        ActiveQueue.objects.filter(excursion=excursion).delete()
        note(excursion.run_id, "excursion", f"{excursion.title}: {State(state).label.lower()}", excursion.doc_id)
        conclude(excursion.run_id)


def conclude(run_id: int) -> bool:
    """End the run when its last excursion has ended; safe to call at any time."""
    states = set(Excursion.objects.filter(run_id=run_id).values_list("state", flat=True))
    if Excursion.objects.filter(run_id=run_id, unfinished=True).exists() or not states:
        return False
    worst = next((state for state in WORST_FIRST if state in states), State.FAILED)
    ended = Run.objects.filter(pk=run_id, finished_at__isnull=True).update(
        state=worst, control="", finished_at=timezone.now()
    )
    if ended:
        note(run_id, "run", f"Run {run_id}: {State(worst).label.lower()}")
        _propagate_after(run_id, worst)
    return bool(ended)


def _propagate_after(run_id: int, worst: str) -> None:
    """The launch asked for it: propose the results to the targets, unless a propagation is under way."""
    run = Run.objects.get(pk=run_id)
    if not run.propagate_after or worst not in {State.FINISHED, State.FINISHED_AT_LIMIT}:
        return
    from ...propagation import services  # 6 MB with what it brings along, that no other crawl needs

    try:
        propagation = services.ask(by=run.requested_by)
    except CrawlerError as refused:
        note(run_id, "propagation", f"Not propagated: {refused}")
        return
    note(run_id, "propagation", f"Propagation {propagation.pk} was requested")
    wake(Job.PROPAGATE, propagation.pk)
