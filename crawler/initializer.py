"""Owns: the seed's crawl initializer: for each document of a run, one message queue with its crawl points on it.

Idempotent: started twice, or again after a kill, it opens each queue once. Called by: jobs.initialize, crawl.
"""

from django.utils import timezone

from . import control
from .message_queue import open_queue
from .models import Excursion, Run, State


def initialize(run: Run) -> None:
    """Open the queues; afterwards instances may claim them."""
    if run.initialized:
        return
    for excursion in Excursion.objects.filter(run=run, unfinished=True, found=0).order_by("id"):
        open_queue(excursion)
    changed = Run.objects.filter(pk=run.pk, initialized=False).update(initialized=True, started_at=timezone.now())
    Run.objects.filter(pk=run.pk, state=State.WAITING).update(state=State.RUNNING)
    run.refresh_from_db()
    if changed:
        control.note(run.pk, "initialize", f"Opened {run.excursions.count()} message queues")
