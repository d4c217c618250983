"""Owns: the seed's crawl initializer: for each document of a run, one message queue with its crawl points on it.

Idempotent: started twice, or again after a kill, it opens each queue once. Called by: jobs.initialize, crawl.
"""

from clearinghouse.web.plurals import plural

from .. import bulk_sql
from ..launching import control
from ..liveness import database_clock
from ..models import Excursion, Run, State
from .message_queue import open_queues

OPENED_AT_ONCE = 50  # queues in one transaction, which others wait for


def initialize(run: Run) -> None:
    """Open the queues; afterwards instances may claim them."""
    if run.initialized:
        return
    closed = Excursion.objects.filter(run=run, unfinished=True, opened=False).order_by("id")
    for part in bulk_sql.chunks(list(closed.values_list("id", flat=True)), OPENED_AT_ONCE):
        open_queues(part)
    changed = Run.objects.filter(pk=run.pk, initialized=False).update(
        initialized=True, started_at=database_clock.moment()
    )
    Run.objects.filter(pk=run.pk, state=State.WAITING).exclude(control=control.PAUSE).update(state=State.RUNNING)
    run.refresh_from_db()
    if changed:
        control.note(run.pk, "initialize", f"Opened {plural(run.excursions.count(), 'message queue')}")
