"""Owns: a propagation from asked to done: one at a time, step by step, continuing where it was.

Does not: know what a step does (work). Called by: crawler.jobs.propagate, the commands, the screens, the tick.
"""

import sys
from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any

from django.core.management.color import no_style
from django.db import DatabaseError, InterfaceError, OperationalError, connections
from django.db.models import Model
from django.utils import timezone

from clearinghouse.database.aliases import TARGETS, WEBCRAWL, let_go
from clearinghouse.database.records import acting_as
from crawler.errors import CrawlerError, Fenced, WrongMoment
from crawler.findings import decisions
from crawler.models import Propagation, PropagationStep

from ..launching.audited_change import record, together
from . import forecast, plan, propagation_claim, step_work
from . import pinned_scope as scope
from .loading import load
from .loading.collect import Collector
from .pinned_scope import PinnedScope
from .propagation_claim import Beat
from .states import AT_WORK, DONE, FAILED, OPEN_STATES, PAUSED, SKIPPED, WAITING, WORKING, unfinished
from .step_failures import NotFollowed
from .switching import switch

_FIRST_RETRY, _LONGEST_RETRY = timedelta(minutes=1), timedelta(hours=1)


@dataclass(slots=True)
class PropagationPreview:
    """What a propagation asked for now would change."""

    scope: PinnedScope
    collector: Collector
    targets: dict[str, dict[str, Any]] = field(default_factory=dict)
    documents: dict[str, list[dict[str, Any]]] = field(default_factory=dict)  # by target, largest change first
    down: list[str] = field(default_factory=list)

    @property
    def losses(self) -> list[dict[str, Any]]:
        return list({row["doc_id"]: row for rows in self.documents.values() for row in rows if row["asks"]}.values())

    @property
    def empty(self) -> bool:
        return not any(_differs(total) for total in self.targets.values())


def preview(
    targets: Iterable[str] | None = None, *, include_stopped: bool = False, runs: Iterable[int] | None = None
) -> PropagationPreview:
    """Compares what should be published with what each target holds; changes nothing."""
    found = PropagationPreview(scope.pin(include_stopped=include_stopped, runs=runs), Collector())
    for target in _ordered(targets):
        try:
            found.targets[target], found.documents[target] = forecast.measured(target, found.scope, found.collector)
        except DatabaseError:
            found.down.append(target)
    return found


@together()
def ask(
    *,
    targets: Iterable[str] | None = None,
    full: bool = False,
    include_stopped: bool = False,
    runs: Iterable[int] | None = None,
    accepted_losses: Iterable[int] = (),
    by: str,
) -> Propagation:
    """A new propagation, waiting to be carried out; WrongMoment while another one is.

    `runs` are the chosen ones of those since the last propagation; None: all that count.
    """
    chosen = _ordered(targets)
    floor = max((_newest(target) for target in TARGETS), default=0)
    with propagation_claim.lock():
        other = unfinished()
        if other is not None:
            raise WrongMoment(f"Propagation {other.pk} is {other.state}; a second one has to wait until it is done.")
        row = Propagation(
            full=full,
            include_stopped=include_stopped,
            runs=None if runs is None else sorted({int(run_id) for run_id in runs}),
            targets=chosen,
            accepted_losses=sorted({int(doc_id) for doc_id in accepted_losses}),
            requested_by=by,
            created_at=timezone.now(),
        )
        _number(row, floor)
        PropagationStep.objects.bulk_create(
            PropagationStep(propagation=row, number=number, name=step.name, target=step.target)
            for number, step in enumerate(plan.steps(chosen))
        )
    _accept(row)
    names = ("targets", "full", "include_stopped", "runs", "accepted_losses")
    _record("propagate", row, f"Asked for generation {row.pk}", by, after={name: getattr(row, name) for name in names})
    return row


def _accept(row: Propagation) -> None:
    """Who accepts what a document loses has accepted the findings that say so."""
    if row.accepted_losses:
        pinned = scope.pin(include_stopped=row.include_stopped, runs=row.runs, doc_ids=row.accepted_losses)
        crawls = [one.number for document in pinned.documents for one in document.excursions]
        decisions.accept_drops(crawls, row.requested_by, f"Accepted with propagation {row.pk}")


def _number(row: Propagation, floor: int) -> None:
    """Generation numbers are above all a target has seen (an adopted library brings one of its own)."""
    row.save(force_insert=True)
    if row.pk > floor:
        return
    Propagation.objects.filter(pk=row.pk).delete()
    row.pk = floor + 1
    row.save(force_insert=True)
    connection = connections[WEBCRAWL]
    for statement in connection.ops.sequence_reset_sql(no_style(), [Propagation]):
        with connection.cursor() as cursor:
            cursor.execute(statement)


def _newest(target: str) -> int:
    try:
        return load.newest(TARGETS[target])
    except DatabaseError:
        return 0  # a target that is down is asked again when it is loaded


def _ordered(targets: Iterable[str] | None) -> list[str]:
    chosen = set(TARGETS if targets is None else targets)
    return [target for target in plan.ORDER if target in chosen]


def carry_out(propagation_id: int, *, collector: Collector | None = None) -> Propagation:
    """Works through the steps that are not done yet. An expected failure is a state of the row, not an exception."""
    with propagation_claim.claimed(propagation_id) as beat:
        row = Propagation.objects.get(pk=propagation_id)
        if beat is None or row.state not in AT_WORK:
            return row  # somebody else works on it, or nobody needs to: a job delivered twice does no harm
        Propagation.objects.filter(pk=row.pk).update(
            state=WORKING, started_at=row.started_at or timezone.now(), error=""
        )
        try:
            collector = collector or Collector()
            collector.beat = beat
            _carry_out(step_work.StepWork(row, beat, collector))
        finally:
            _leave(row, sys.exc_info()[1])
    row.refresh_from_db()
    return row


def _leave(row: Propagation, fault: BaseException | None) -> None:
    """The public goes home whatever happened; a fault of ours ends the propagation, a kill does not."""
    if isinstance(fault, Fenced):
        return  # another process works on it now
    if isinstance(fault, Exception):
        sentence = f"A fault of ours: {type(fault).__name__}: {fault}"
        for step in row.steps.filter(state=WORKING):
            _failed(step, sentence)
    if switch.switch().owner == row.pk and switch.home() and not isinstance(fault, SystemExit | KeyboardInterrupt):
        switch.follow()


def _carry_out(job: step_work.StepWork) -> None:
    away = False
    for step in job.propagation.steps.order_by("number"):
        if step.state not in (DONE, SKIPPED):
            if _paused(job.propagation) or not _run(job, step, away and step.target == plan.PRIMARY):
                return
            if step.name == plan.PLAN and _nothing_to_do(job.propagation, step):
                job.propagation.steps.exclude(pk=step.pk).update(state=SKIPPED)
                break
        if step.name == plan.PUBLIC_TO_BACKUP:
            away = step.state == DONE and "skipped" not in step.counts
    Propagation.objects.filter(pk=job.propagation.pk).update(state=DONE, pause=False, finished_at=timezone.now())


def _paused(row: Propagation) -> bool:
    """Somebody asked it to wait after the step that is done now."""
    return bool(Propagation.objects.filter(pk=row.pk, pause=True).update(state=PAUSED, pause=False))


def _run(job: step_work.StepWork, step: PropagationStep, away: bool) -> bool:
    """One step with its row; False when the propagation cannot go on for now. `away`: it needs the public on backup."""
    step.state, step.started_at, step.finished_at, step.error = WORKING, timezone.now(), None, ""
    step.save()
    job.beat.step = step
    try:
        _scope(job, step)
        if away:
            switch.public_to_backup(job.propagation.pk, job.beat)  # a kill may have brought the public home meanwhile
        step_work.CARRIED_OUT[step.name](job, step)
    except Fenced:
        raise
    except NotFollowed as problem:
        return _failed(step, str(problem), down=True)
    except CrawlerError as problem:
        return _failed(step, str(problem))
    except (OperationalError, InterfaceError) as problem:
        return _failed(step, f"{step.target or 'a database'} did not answer: {problem}", down=True)
    except DatabaseError as problem:
        return _failed(step, f"{step.target or 'a database'} refused: {problem}")
    finally:
        job.beat.step = None
        if step.target:
            let_go(TARGETS[step.target])  # the next step has another one
    step.state, step.finished_at = DONE, timezone.now()
    step.save()
    return True


def _failed(step: PropagationStep, sentence: str, *, down: bool = False) -> bool:
    now = timezone.now()
    step.state, step.error, step.finished_at = FAILED, sentence, now
    step.counts |= {"down": down, "attempts": step.counts.get("attempts", 0) + 1}
    step.save()
    Propagation.objects.filter(pk=step.propagation_id).update(state=FAILED, error=sentence, finished_at=now)
    return False


def _scope(job: step_work.StepWork, step: PropagationStep) -> None:
    """The plan pins what is decided; all other steps keep to it."""
    row = job.propagation
    if step.name == plan.PLAN:
        job.scope = scope.pin(include_stopped=row.include_stopped, runs=row.runs)
    elif not job.scope.documents:
        job.scope = PinnedScope.from_json(row.steps.get(name=plan.PLAN).counts["scope"])


def _nothing_to_do(row: Propagation, step: PropagationStep) -> bool:
    totals = step.counts["targets"].values()
    return not row.full and all(total is not None and not _differs(total) for total in totals)


def _differs(total: dict[str, Any]) -> bool:
    return any(total[name] for name in ("added", "changed", "removed", "renamed"))


def losses_of(row: Propagation) -> list[dict[str, Any]]:
    """The losses a failed propagation asks a person about."""
    step = row.steps.filter(name=plan.PLAN, state=FAILED).first()
    return list(step.counts.get("losses", [])) if step is not None else []


@together()
def retry(row: Propagation, *, by: str) -> bool:
    """A failed propagation waits again, from the step that failed; False when a newer one has taken its place."""
    again = _again(row)
    if again:
        _record("propagate", row, f"Let generation {row.pk} go on", by)
    return again


@together()
def pause(row: Propagation, *, by: str) -> bool:
    """It waits after the step it is in, with the public at home; False when it is not at work."""
    if not Propagation.objects.filter(pk=row.pk, state__in=AT_WORK).update(pause=True):
        return False
    _record("propagate", row, f"Let generation {row.pk} pause after its step", by)
    return True


@together()
def resume(row: Propagation, *, by: str) -> bool:
    """A paused one waits to be carried on; one that was only asked to pause does not."""
    rows = Propagation.objects.filter(pk=row.pk)
    if not (rows.filter(state=PAUSED).update(state=WAITING) or rows.filter(pause=True).update(pause=False)):
        return False
    _record("propagate", row, f"Let generation {row.pk} go on", by)
    return True


def _record(action: str, thing: Model, sentence: str, by: str, **change: Any) -> None:
    with acting_as(by):
        record(action, thing, sentence, **change)


def _again(row: Propagation) -> bool:
    with propagation_claim.lock():
        newest = Propagation.objects.order_by("-id").first()
        if unfinished() is not None or newest is None or newest.pk != row.pk or row.state != FAILED:
            return False
        for step in row.steps.filter(state=FAILED):
            # What did not verify is loaded and indexed again.
            again = (plan.LOAD, plan.INDEX, plan.VERIFY) if step.name == plan.VERIFY else (step.name,)
            row.steps.filter(target=step.target, name__in=again).update(state=WAITING, error="")
        Propagation.objects.filter(pk=row.pk).update(state=WAITING, error="", finished_at=None)
    row.refresh_from_db()
    return True


def due() -> list[int]:
    """For the tick: propagations nobody works on: asked for, killed, or failed because a server was down."""
    row = unfinished()
    if row is not None:
        return [] if row.state == PAUSED or propagation_claim.held_by_another() else [row.pk]
    newest = Propagation.objects.order_by("-id").first()
    if newest is None or newest.state != FAILED:
        return []
    step = newest.steps.filter(state=FAILED).first()
    if step is None or not step.counts.get("down") or newest.finished_at is None:
        return []
    pause = min(_FIRST_RETRY * 2 ** min(step.counts.get("attempts", 1) - 1, 10), _LONGEST_RETRY)
    now = timezone.now()
    waits = newest.finished_at <= now < newest.finished_at + pause  # in the future: a clock went back since
    return [newest.pk] if not waits and _again(newest) else []


def result(row: Propagation) -> dict[str, Any]:
    """The JSON of the command: what each target got."""
    targets = []
    for target in row.targets:
        steps = {step.name: step for step in row.steps.filter(target=target)}
        counts = steps[plan.LOAD].counts
        begun, ended = steps[plan.LOAD].started_at, steps[plan.SWITCH].finished_at
        seconds = (ended - begun).total_seconds() if begun and ended else 0.0
        targets.append({"name": target, **_counts(counts), "seconds": round(seconds, 3)})
    return {"generation": row.generation, "targets": targets}


def nothing(found: PropagationPreview) -> dict[str, Any]:
    """The same when nothing was new: the generation that is live, and zeros."""
    targets = [
        {"name": target, **_counts({"pages": total["pages"]}), "seconds": 0.0}
        for target, total in found.targets.items()
    ]
    generation = max((load.live(TARGETS[target]) for target in found.targets), default=0)
    return {"generation": generation, "targets": targets}


def _counts(counts: dict[str, Any]) -> dict[str, int]:
    return {name: int(counts.get(name, 0)) for name in ("pages", "added", "changed", "removed")}


__all__ = [
    "AT_WORK", "DONE", "FAILED", "OPEN_STATES", "PAUSED", "SKIPPED", "WAITING", "WORKING", "Beat", "PropagationPreview",
    "ask", "carry_out", "due", "pause", "preview", "result", "resume", "retry", "unfinished",
]  # fmt: skip
