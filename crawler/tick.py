"""Owns: what must happen though nobody asks: bells lost by Redis are rung again, the dead are buried, runs whose
documents all ended are concluded, what is due is started, quiet hours are kept, the public is brought home and its
searches are counted; once a day, at a quiet moment, what is old enough goes.

A process of its own, every five seconds; not an RQ job, because it must work when Redis does not. Several ticks on
several hosts do no harm: each step looks at rows and is safe to repeat. Called by: the command tick.
"""

import logging

from django.db import connections
from django.utils import timezone

from clearinghouse import queues
from clearinghouse.search.use import services as search_use
from crawlpoints import import_steps

from . import endings, message_queue, notices, pruning, quiet, schedules
from .index import counts
from .instances import Watch, gone
from .models import OPEN_STATES, Run, State
from .preview import rows as previews
from .propagation import services, watchdog

SECONDS = 5.0
MOST_TICKETS = 8

log = logging.getLogger(__name__)


def round_(watch: Watch) -> None:
    """One look at everything."""
    for instance in watch.bury_the_dead():
        log.warning(
            "Instance %s (process %s on %s) died: its queues are free", instance.pk, instance.pid, instance.host
        )
    _free_from_dead_drivers()
    schedules.start_due(timezone.now())
    quiet.enforce(timezone.now())
    for run in Run.objects.filter(state__in=OPEN_STATES, driver=None):
        _look_after(run)
    for propagation_id in services.due():
        queues.ring(queues.PROPAGATE, "crawler.jobs.propagate", propagation_id)
    watchdog.bring_home()
    watchdog.follow_beside()
    notices.write_due(timezone.now())
    previews.ring_lost(timezone.now())
    import_steps.look_after(timezone.now())
    _count_words()
    search_use.collect()
    pruning.ring_when_due(timezone.now())
    for connection in connections.all(initialized_only=True):
        connection.close_if_unusable_or_obsolete()


def _count_words() -> None:
    """A propagation counts by itself; after a rollback nobody else does."""
    if services.unfinished() is None and counts.behind() and not queues.waiting(queues.PROPAGATE):
        queues.ring(queues.PROPAGATE, "crawler.jobs.count_words")


def _look_after(run: Run) -> None:
    if endings.conclude(run.pk) or run.control == "pause":
        return
    if not run.initialized:
        if not queues.waiting(queues.CONTROL):
            queues.ring(queues.CONTROL, "crawler.jobs.initialize", run.pk)
        return
    for _ in range(_tickets(run)):
        queues.ring(queues.CRAWL, "crawler.jobs.serve", run.pk)


def _tickets(run: Run) -> int:
    """Instances this run could use: for queues nobody serves, or to share those of another that has several."""
    unserved = message_queue.unserved(run.pk)
    standing = message_queue.standing(run.pk)
    unfinished = run.excursions.filter(unfinished=True).exclude(state=State.PAUSED).count()
    sharers = min(queues.idle_workers(queues.CRAWL), unfinished - len(standing)) if unfinished > 1 else 0
    return max(min(max(unserved, sharers), MOST_TICKETS) - queues.waiting(queues.CRAWL), 0)


def _free_from_dead_drivers() -> None:
    """A run of the command crawl whose process died goes on by tickets."""
    orphans = Run.objects.filter(state__in=OPEN_STATES, driver__isnull=False).select_related("driver")
    for run in orphans:
        if not run.driver.alive or gone(run.driver):
            Run.objects.filter(pk=run.pk, driver=run.driver).update(driver=None)
