"""Owns: what people may ask of a run: pause, resume, stop, cancel, another speed. Called by: screens, commands, API.

An order is a word on the row of the run; instances read it before they start anything. Whoever serves a queue obeys;
for queues that nobody serves, the tick sends an instance. Each order is done wholly or not at all, its line in the
audit included, and may be given again at any time.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from typing import Any

from django.db.models import QuerySet, Sum
from django.utils import timezone

from clearinghouse.database.records import acting_as
from clearinghouse.operations.work_queues import Job, wake
from clearinghouse.web.plurals import plural

from ..errors import WrongMoment
from ..liveness import database_clock
from ..models import OPEN_STATES, Event, Excursion, Run, State
from ..sites.speeds import SPEEDS
from .audited_change import record as audit_line
from .audited_change import together

PAUSE, STOP, CANCEL = "pause", "stop", "cancel"
EXCLUDE = "exclude"
LABEL = 40  # characters
LIMIT = "limit"  # not asked by a person: the run's own time or byte limit was reached


@dataclass(frozen=True, slots=True)
class Orders:
    hold: bool = False
    ending: str = ""
    speed: str = "polite"


class Elapsed:
    """How long a run has lasted. From its first look on a process measures by its own clock, which does not jump."""

    def __init__(self) -> None:
        self._began: float | None = None

    def seconds(self, run: Run) -> float:
        if run.started_at is None:
            return 0.0
        if self._began is None:
            self._began = time.monotonic() - max(0.0, (database_clock.moment() - run.started_at).total_seconds())
        return time.monotonic() - self._began


def orders(run_id: int, elapsed: Elapsed) -> Orders:
    """What the run's row says now."""
    run = Run.objects.get(pk=run_id)
    ending = run.control if run.control in {STOP, CANCEL} else ""
    return Orders(hold=run.control == PAUSE, ending=ending or _limit_reached(run, elapsed), speed=run.speed)


def asked(run_id: int, instance_id: int) -> tuple[str, str, int]:
    """What people ask of the run, and of how many documents this instance serves: two short questions, because they
    are asked several times a second. Another answer than before: time to look at all of it."""
    order, speed = Run.objects.values_list("control", "speed").get(pk=run_id)
    documents = Excursion.objects.filter(claim__instance_id=instance_id).exclude(control="")
    return order, speed, documents.count()


def _limit_reached(run: Run, elapsed: Elapsed) -> str:
    if run.max_seconds and elapsed.seconds(run) > run.max_seconds:
        return LIMIT
    if run.max_bytes:
        received = Excursion.objects.filter(run=run).aggregate(total=Sum("bytes", default=0))["total"]
        return LIMIT if received >= run.max_bytes else ""
    return ""


def pause(run: Run, by: str) -> None:
    with _ordered(run, PAUSE, by, "Paused", allowed=("", PAUSE)):
        Excursion.objects.filter(run=run, state__in=(State.WAITING, State.INTERRUPTED)).update(state=State.PAUSED)
        Run.objects.filter(pk=run.pk).update(state=State.PAUSED)


@together()
def hold(run: Run, by: str) -> None:
    """Paused by the house: a run that has not begun goes on waiting, for other reasons."""
    pause(run, by)
    Run.objects.filter(pk=run.pk, started_at=None).update(state=State.WAITING)


def resume(run: Run, by: str) -> None:
    with _ordered(run, "", by, "Resumed", allowed=(PAUSE, "")):
        # Documents that were paused one by one stay so.
        Excursion.objects.filter(run=run, state=State.PAUSED).exclude(control=PAUSE).update(state=State.WAITING)
        paused = Run.objects.filter(pk=run.pk, state=State.PAUSED)
        paused.update(state=State.RUNNING if run.started_at else State.WAITING)
    wake_worker(run)


def stop(run: Run, by: str) -> None:
    """End the run and keep what it stored."""
    _end(run, STOP, by, "Stopping; what was stored is kept")


def cancel(run: Run, by: str) -> None:
    """End the run and put back what was there before it."""
    _end(run, CANCEL, by, "Cancelling; its results are discarded")


def _end(run: Run, order: str, by: str, sentence: str) -> None:
    with _ordered(run, order, by, sentence, allowed=("", PAUSE, STOP, order)):
        Excursion.objects.filter(run=run, state=State.PAUSED).update(state=State.WAITING, control="")
        Run.objects.filter(pk=run.pk).update(state=State.STOPPING)
    wake_worker(run)


def pause_document(run: Run, doc_id: int, by: str) -> None:
    """Only this document of the run rests; whoever serves it obeys within a second."""
    with together():
        mine = _document(run, doc_id)
        # Exclude URLs that were just applied stand in its snapshot: whoever goes on with it meets them.
        changed = mine.exclude(control=PAUSE).update(control=PAUSE)
        mine.filter(state__in=(State.WAITING, State.INTERRUPTED)).update(state=State.PAUSED)
        if changed:
            note(run.pk, PAUSE, f"{mine[0].title}: paused by {by}", doc_id)
        record(run, PAUSE, f"Paused {mine[0].title} in run {run.pk}", by, doc_id=doc_id)


def resume_document(run: Run, doc_id: int, by: str) -> None:
    with together():
        mine = _document(run, doc_id)
        changed = mine.filter(control=PAUSE).update(control="")
        if not changed and run.control == PAUSE:
            raise WrongMoment("This document is not paused by itself; resume the run")
        if run.control != PAUSE:
            mine.filter(state=State.PAUSED).update(state=State.WAITING)
        if changed:
            note(run.pk, "resume", f"{mine[0].title}: resumed by {by}", doc_id)
        record(run, "resume", f"Resumed {mine[0].title} in run {run.pk}", by, doc_id=doc_id)
    if run.control != PAUSE:
        wake_worker(run)


def _document(run: Run, doc_id: int) -> QuerySet[Excursion]:
    _still_open(run)
    mine = Excursion.objects.filter(run=run, doc_id=doc_id, unfinished=True)
    if run.control in (STOP, CANCEL) or not mine.exists():
        raise WrongMoment(f"Run {run.pk} is not crawling this document any more")
    return mine


def apply_excludes(run: Run, doc_id: int, patterns: list[str], by: str) -> None:
    """The document's exclude URLs as they are now count for the running crawl; it obeys within a second."""
    with together():
        _still_open(run)
        mine = Excursion.objects.filter(run=run, doc_id=doc_id, unfinished=True)
        excursion = mine.first()
        if excursion is None:
            raise WrongMoment(f"Run {run.pk} is not crawling this document any more")
        before = list(excursion.snapshot.get("excludes", ()))
        # Marked, because whoever serves the queue next must judge by them what was queued before.
        mine.update(snapshot=excursion.snapshot | {"excludes": patterns, "applied": True})
        mine.filter(control="").update(control=EXCLUDE)  # a paused document meets them when it goes on
        note(run.pk, "exclude", f"{plural(len(patterns), 'exclude URL')} applied by {by}", doc_id)
        change = {"before": {"excludes": before}, "after": {"excludes": patterns}}
        record(run, "exclude", f"Applied the exclude URLs to run {run.pk}", by, doc_id=doc_id, change=change)


def set_label(run: Run, label: str, by: str) -> None:
    """The word by which people find a run again; empty takes it off. Also of a run that has ended."""
    label = " ".join(label.split())[:LABEL]
    change = {"before": {"label": run.label}, "after": {"label": label}}
    sentence = f"Run {run.pk} is labelled {label}" if label else f"Removed the label of run {run.pk}"
    with together():
        Run.objects.filter(pk=run.pk).update(label=label)
        note(run.pk, "label", f"Label {label} set by {by}" if label else f"Label removed by {by}")
        record(run, "label", sentence, by, change=change)


def set_speed(run: Run, speed: str, by: str) -> None:
    if speed not in SPEEDS:
        raise WrongMoment(f"{speed!r} is not a speed; use {', '.join(SPEEDS)}")
    with together():
        _still_open(run)
        change = {"before": {"speed": run.speed}, "after": {"speed": speed}}
        Run.objects.filter(pk=run.pk).update(speed=speed)
        note(run.pk, "speed", f"Speed set to {speed} by {by}")
        record(run, "speed", f"Set the speed of run {run.pk} to {speed}", by, change=change)


@contextmanager
def _ordered(run: Run, order: str, by: str, sentence: str, allowed: tuple[str, ...]) -> Iterator[None]:
    """The order, what follows from it, and its lines: all or nothing. Given again, it completes what is not so yet."""
    with together():
        _still_open(run)
        if Run.objects.filter(pk=run.pk, control__in=allowed).update(control=order) != 1:
            raise WrongMoment(f"Run {run.pk} got another command already; see its page")
        yield
        if run.control != order:
            note(run.pk, order or "resume", f"{sentence} by {by}" if ";" not in sentence else f"{sentence} ({by})")
        record(run, order or "resume", f"Run {run.pk}: {sentence.lower()}", by)


def _still_open(run: Run) -> None:
    run.refresh_from_db()
    if run.state not in OPEN_STATES:
        raise WrongMoment(f"Run {run.pk} has ended already: {run.get_state_display().lower()}")


def note(run_id: int, kind: str, text: str, doc_id: int | None = None) -> None:
    """A line in the log of the run."""
    Event.objects.create(run_id=run_id, doc_id=doc_id, at=timezone.now(), kind=kind, text=text[:500])


def record(
    run: Run, action: str, sentence: str, by: str, *, doc_id: int | None = None, change: dict[str, Any] | None = None
) -> None:
    """A line in the audit; of the document, where the run has only one."""
    if doc_id is None:
        doc_ids = Excursion.objects.filter(run=run).values_list("doc_id", flat=True)[:2]
        doc_id = doc_ids[0] if len(doc_ids) == 1 else None
    with acting_as(by):
        audit_line(action, run, sentence, document_id=doc_id, **(change or {}))


def wake_worker(run: Run) -> None:
    """For one more instance; the tick does it again where the job was lost."""
    if run.driver_id is None:
        wake(Job.SERVE if run.initialized else Job.INITIALIZE, run.pk)
