"""Owns: which generation came before which on a target, and which are still whole there.

Does not: write. Called by: work (what to keep), services (where a rollback goes), the screens.
"""

from clearinghouse.databases import TARGETS
from crawler.models import PropagationStep

from . import load, plan

KEPT = 2  # older generations


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
