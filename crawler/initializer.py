"""Owns: the seed's crawl initializer: for each document of a run, one message queue with its crawl points on it.

Idempotent: started twice, or again after a kill, it opens each queue once. Called by: jobs.initialize, crawl.
"""

from clearinghouse.plurals import plural

from . import clock, control, sql
from .message_queue import open_queues
from .models import Excursion, Run, State

OPENED_AT_ONCE = 50  # queues in one transaction, which others wait for


def initialize(run: Run) -> None:
    """Open the queues; afterwards instances may claim them."""
    if run.initialized:
        return
    closed = Excursion.objects.filter(run=run, unfinished=True, found=0).order_by("id")
    for part in sql.chunks(list(closed.values_list("id", flat=True)), OPENED_AT_ONCE):
        open_queues(part)
    changed = Run.objects.filter(pk=run.pk, initialized=False).update(initialized=True, started_at=clock.moment())
    Run.objects.filter(pk=run.pk, state=State.WAITING).exclude(control=control.PAUSE).update(state=State.RUNNING)
    run.refresh_from_db()
    if changed:
        control.note(run.pk, "initialize", f"Opened {plural(run.excursions.count(), 'message queue')}")
