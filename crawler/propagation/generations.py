"""Owns: which generation came before which on a target, which are still whole there, which somebody rolled back.

Does not: write. Called by: work (what to keep), rollback (where it goes), the screens.
"""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from clearinghouse.database.aliases import TARGETS
from crawler.models import PropagationStep

from . import plan
from .loading import load
from .states import DONE

KEPT = 2  # older generations
BACK, FORWARD = "rolled_back", "rolled_forward"  # in the counts of the step that had switched a target


def before(target: str, generation: int) -> int:
    """The generation a target showed before this one; 0 when there was none or it is not known."""
    step = PropagationStep.objects.filter(propagation_id=generation, name=plan.LOAD, target=target).first()
    return int(step.counts.get("from", 0)) if step is not None else 0


def oldest_kept(target: str, generation: int) -> int:
    """The oldest of the generations that stay whole when this one is live; 0 while all do."""
    oldest = generation
    for _ in range(KEPT):
        earlier = before(target, oldest)
        if not earlier:
            return 0
        oldest = earlier
    return oldest


def purged_below(target: str) -> int:
    """Generations under this number are no longer whole on the target."""
    steps = PropagationStep.objects.filter(name=plan.FINISH).values_list("counts", flat=True)
    return max((int(counts.get("oldest", {}).get(target, 0)) for counts in steps), default=0)


def rollback_target(target: str) -> int:
    """The generation one press goes back to; 0 when there is none."""
    shown = load.live(TARGETS[target])
    earlier = before(target, shown)
    return earlier if earlier and earlier >= purged_below(target) else 0


def forward_target(target: str) -> int:
    """The generation that was rolled back from the one shown, and is still there; 0 when there is none: the next load
    takes it away."""
    shown = load.live(TARGETS[target])
    steps = PropagationStep.objects.filter(target=target, propagation_id__gt=shown)
    switched = set(steps.filter(name=plan.SWITCH, state=DONE).values_list("propagation_id", flat=True))
    oldest_since = None  # what was shown when a later generation was loaded: everything newer went
    begun = steps.filter(name=plan.LOAD, started_at__isnull=False).order_by("-propagation_id")
    for generation, counts in begun.values_list("propagation_id", "counts"):
        before = int(counts.get("from", 0))
        there = oldest_since is None or oldest_since >= generation
        if before == shown and generation in switched and there:
            return int(generation)
        oldest_since = before if oldest_since is None else min(oldest_since, before)
    return 0


def ordered(target: str) -> int:
    """The generation an order to roll back or forward wants this target to show, while it does not yet; or 0."""
    shown = load.live(TARGETS[target])
    steps = PropagationStep.objects.filter(target=target, name=plan.SWITCH)
    back = steps.filter(propagation_id=shown).values_list(f"counts__{BACK}", flat=True).first()
    if back:
        return int(back["to"])
    later = steps.filter(propagation_id__gt=shown).values_list("propagation_id", f"counts__{FORWARD}")
    return next((number for number, forward in later if forward and forward["from"] == shown), 0)


@dataclass(frozen=True, slots=True)
class RolledBack:
    by: str
    at: datetime
    targets: tuple[str, ...]
    everywhere: bool  # on every target that had shown it


def rolled_back(generations: Iterable[int]) -> dict[int, RolledBack]:
    """Those somebody has taken back and not shown again, with who was the last."""
    steps = PropagationStep.objects.filter(propagation_id__in=list(generations), name=plan.SWITCH, state=DONE)
    rows = list(steps.order_by("number").values_list("propagation_id", "target", f"counts__{BACK}"))
    found = {}
    for generation in {row[0] for row in rows}:
        marks = {target: mark for number, target, mark in rows if number == generation}
        back = {target: mark for target, mark in marks.items() if mark}
        if back:
            last = max(back.values(), key=lambda mark: str(mark["at"]))
            at = datetime.fromisoformat(last["at"])
            found[generation] = RolledBack(last["by"], at, tuple(back), len(back) == len(marks))
    return found
