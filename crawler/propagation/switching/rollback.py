"""Owns: going back to the generation before the one shown, and forward again to one that was taken back.

What is ordered is written first, with the crawls that are left out and the line in the audit, in one transaction; then
the targets follow, one row each. Killed in between, the rest follows with the next press, the tick, or before the next
load, and nobody goes back further than was asked.
Does not: load. Called by: the screens, the command, work, the tick.
"""

from collections.abc import Callable, Collection, Iterable
from typing import Any

from django.db import DatabaseError
from django.utils import timezone

from clearinghouse.database.aliases import TARGETS
from clearinghouse.database.records import acting_as
from crawler.errors import WrongMoment
from crawler.launching.audited_change import record, together
from crawler.models import Excursion, Propagation, PropagationStep

from .. import generations, left_out, plan, propagation_claim
from ..loading import load
from ..pinned_scope import pinned_excursions
from ..states import FAILED, unfinished
from . import switch

Goals = dict[str, int]  # target -> generation


def roll_back(target: str | None = None, *, by: str, leave_out: Collection[int] = (), reason: str = "") -> Goals:
    """Back to the generation before the live one, on one target or on all that have one. `leave_out`: excursions whose
    results must not come again with the next propagation."""

    def order() -> Goals:
        goals = _goals(target, generations.rollback_target, "There is no older generation on {} to go back to.")
        if leave_out:
            left_out.leave_out(leave_out, reason, by=by)
        for name, goal in goals.items():
            _mark(load.live(TARGETS[name]), name, generations.BACK, {"by": by, "to": goal})
        return goals

    return _carried_out(target, order, "rollback", "Rolled back", by)


def roll_forward(target: str | None = None, *, by: str, take_in: Collection[int] = ()) -> Goals:
    """The generation that was rolled back is shown again, until the next load takes it away. `take_in`: excursions
    that were left out with it."""

    def order() -> Goals:
        goals = _goals(target, generations.forward_target, "There is no newer generation on {} to go forward to.")
        if take_in:
            left_out.take_in(take_in, by=by)
        for name, goal in goals.items():
            _mark(goal, name, generations.FORWARD, {"by": by, "from": load.live(TARGETS[name])})
        return goals

    return _carried_out(target, order, "rollforward", "Rolled forward", by)


def finish(targets: Iterable[str] = TARGETS) -> Goals:
    """Whatever was ordered and is not shown yet; a target that is down follows when it answers."""
    goals = {}
    for name in targets:
        try:
            if generations.ordered(name) and (goal := _followed(name)):
                goals[name] = goal
        except DatabaseError:
            continue
    return goals


def _followed(name: str) -> int:
    """One process at a time, which looks again: another may have done it, and loaded a new generation since."""
    with propagation_claim.lock():
        goal = generations.ordered(name)
        if goal:
            switch.show(TARGETS[name], goal)
    return goal


def brought(generation: int, before: int) -> list[Excursion]:
    """The crawls this generation was made of and the one before was not, newest first."""
    numbers = _excursions(generation) - _excursions(before)
    return list(left_out.kept().filter(pk__in=numbers).order_by("-run_id", "title", "pk")) if numbers else []


def _excursions(generation: int) -> frozenset[int]:
    steps = PropagationStep.objects.filter(propagation_id=generation, name=plan.PLAN)
    pinned: dict[str, Any] = steps.values_list("counts__scope", flat=True).first() or {}
    return pinned_excursions(pinned)


def _carried_out(target: str | None, order: Callable[[], Goals], action: str, word: str, by: str) -> Goals:
    if begun := finish([target] if target else TARGETS):
        return begun  # an order that was killed half way; a second press never does a second one
    with together(), propagation_claim.lock():
        other = unfinished()
        if other is not None and propagation_claim.held_by_another():
            raise WrongMoment(f"Propagation {other.pk} is {other.state}; try again when it is done.")
        goals = order()
        if other is not None:
            _give_up(other, word, by)
        before = {name: load.live(TARGETS[name]) for name in goals}
        sentence = ", ".join(f"{name} shows generation {goal}" for name, goal in goals.items())
        with acting_as(by):
            record(action, switch.switch(), f"{word}: {sentence}", before=before, after=goals)
    finish(goals)
    return goals


def _goals(target: str | None, goal_of: Callable[[str], int], nothing: str) -> Goals:
    chosen = [name for name in plan.ORDER if target in (None, name)]
    goals = {name: goal for name in chosen if (goal := goal_of(name))}
    if not goals:
        raise WrongMoment(nothing.format(target or "any target"))
    return goals


def _mark(generation: int, target: str, how: str, told: dict[str, Any]) -> None:
    """On the step that had switched the target to this generation: one of the two marks, or none."""
    for step in PropagationStep.objects.filter(propagation_id=generation, name=plan.SWITCH, target=target):
        rest = {
            name: value for name, value in step.counts.items() if name not in (generations.BACK, generations.FORWARD)
        }
        step.counts = rest | {how: told | {"at": timezone.now().isoformat()}}
        step.save(update_fields=["counts"])


def _give_up(row: Propagation, word: str, by: str) -> None:
    """A killed propagation must not publish again what a person has just taken back."""
    sentence = f"Given up: {word.lower()} by {by}."
    Propagation.objects.filter(pk=row.pk).update(state=FAILED, error=sentence, finished_at=timezone.now())
