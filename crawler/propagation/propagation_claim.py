"""Owns: that one process at a time carries out a propagation, and the signs of life it gives.

Does not: work. Called by: services. The claim is a row of kind "propagate" among the instances, with their beat and
their fence; a claimant that is provably gone is buried at once, a silent one by the tick.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.published.models import PublicSwitch
from crawler.models import Instance, PropagationStep

from ..liveness import instances
from .switching import switch

KIND = "propagate"
BEAT_SECONDS = 1.0


class Beat:
    """Called at every short transaction; passes a sign of life on once a second. Raises Fenced when buried."""

    def __init__(self, instance: Instance, propagation_id: int) -> None:
        self.instance = instance
        self.propagation_id = propagation_id
        self.step: PropagationStep | None = None
        self._last = time.monotonic()

    def __call__(self) -> None:
        now = time.monotonic()
        if now - self._last < BEAT_SECONDS:
            return
        self._last = now
        self.now()

    def now(self) -> None:
        instances.fence(self.instance)
        switch.still_away(self.propagation_id)
        if self.step is not None:
            PropagationStep.objects.filter(pk=self.step.pk).update(counts=self.step.counts)


@contextmanager
def lock() -> Iterator[None]:
    """One at a time over all processes: the row of the switch, held for a short transaction."""
    switch.switch()
    with transaction.atomic(using=WEBCRAWL):
        PublicSwitch.objects.using(WEBCRAWL).select_for_update().get(id=1)
        yield


def held_by_another() -> bool:
    """Whether a living process carries out a propagation; one that is provably gone is buried first."""
    for instance in Instance.objects.filter(kind=KIND, alive=True):
        if not (instances.gone(instance) and instances.declare_dead(instance)):
            return True
    return False


@contextmanager
def claimed(propagation_id: int) -> Iterator[Beat | None]:
    """The right to work on a propagation; None when somebody else has it."""
    with lock():
        instance = None if held_by_another() else instances.register(None, KIND)
    if instance is None:
        yield None
        return
    try:
        yield Beat(instance, propagation_id)
    finally:
        instances.retire(instance)
