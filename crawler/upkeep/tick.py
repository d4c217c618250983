"""Owns: what must happen though nobody asks: the public is brought home, what dead processes held is freed, what is due
is started, quiet hours are kept, workers are woken again for jobs that Redis lost, runs whose documents all ended are
concluded, searches are counted; once a day, at a quiet moment, what is old enough goes.

A list of steps, the public first. One that fails is told once, counted and shown, and the others go on.
A process of its own, every five seconds; not an RQ job, because it must work when Redis does not. Several ticks on
several hosts do no harm: each step looks at rows and is safe to repeat. Called by: the command tick.
"""

import logging
import time
import traceback
from collections import deque
from collections.abc import Callable, Iterable
from functools import partial

from django.db import Error, connections

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.operations import work_queues
from clearinghouse.operations.work_queues import Job, wake
from clearinghouse.search.usage import services as search_use
from crawlpoints.imports import import_steps

from ..engine import message_queue
from ..engine.finishing import finish
from ..inbox import notices
from ..launching import audited_change, quiet_hours, schedules
from ..liveness import database_clock
from ..liveness.instances import Watch, end, gone
from ..models import OPEN_STATES, Instance, Run, State
from ..preview import preview_rows as previews
from ..propagation import services
from ..propagation.switching import public_home, rollback
from ..word_index import page_counts
from . import pruning, tick_report

SECONDS = 5.0
MOST_TICKETS = 8
SEEN_SECONDS = 15.0  # how often it leaves a mark
HANGS_SECONDS = 60.0  # after which a process that was declared dead is ended, if it still runs
TAKE_OVER = "take over from dead processes"

Part = Callable[[], object]  # what a step does, or does for one of many: one that fails must not stop the next

log = logging.getLogger(__name__)


class Tick:
    """One process's memory: the beats of others, and which of its steps fail."""

    def __init__(self) -> None:
        self.watch = Watch()
        self._failing: dict[str, str] = {}
        self._cleared: set[str] = set()  # steps of which no row says that they fail
        self._seen: float | None = None
        self._dead: deque[tuple[Instance, float]] = deque()
        self._steps: tuple[tuple[str, Callable[[], Iterable[Part]]], ...] = (
            ("move the public back to primary", lambda: [public_home.bring_home, public_home.follow_beside]),
            (TAKE_OVER, lambda: [self._take_over]),
            ("free runs of commands that ended", lambda: [_free_from_dead_drivers]),
            ("carry lines to the audit", lambda: [audited_change.carry_lines]),
            ("start what is due", _due),
            ("keep quiet hours", lambda: [partial(quiet_hours.enforce, database_clock.moment())]),
            ("look after runs", _runs),
            ("finish rolling back", lambda: [rollback.finish]),
            ("wake workers for propagations", lambda: [_wake_for_propagations]),
            ("write notices", lambda: [partial(notices.write_due, database_clock.moment())]),
            ("wake workers for previews", lambda: [partial(previews.wake_workers_again, database_clock.moment())]),
            ("look after imports", lambda: [partial(import_steps.look_after, database_clock.moment())]),
            ("count words", lambda: [_count_words]),
            ("count searches", lambda: [search_use.collect]),
            ("wake a worker for pruning", lambda: [partial(pruning.wake_worker_when_due, database_clock.moment())]),
            ("note that it ran", lambda: [self._look]),
        )

    def round(self) -> list[str]:
        """One look at everything; the steps that failed."""
        failed = [name for name, parts in self._steps if not self._did(name, parts)]
        for connection in connections.all(initialized_only=True):
            connection.close_if_unusable_or_obsolete()
        return failed

    def _did(self, name: str, parts: Callable[[], Iterable[Part]]) -> bool:
        found: list[Part] = []
        well = self._tried(name, lambda: found.extend(parts()))
        for part in found:
            well = self._tried(name, part) and well
        if well:
            self._works(name)
        return well

    def _tried(self, name: str, part: Part) -> bool:
        try:
            part()
        except Exception as error:
            kind = f"{type(error).__name__} {traceback.extract_tb(error.__traceback__)[-1]}"
            if self._failing.get(name) == kind:
                log.debug("The tick still could not %s", name, exc_info=True)
            elif isinstance(error, Error):
                log.warning("The tick could not %s; it tries again every %.0f seconds (%s)", name, SECONDS, error)
            else:
                log.exception("The tick could not %s", name)
            self._failing[name] = kind
            self._after(name, error)
            return False
        return True

    def _after(self, name: str, error: Exception) -> None:
        """Counts it where that can be done; what is silent while WebCrawl is away is not dead."""
        if isinstance(error, Error) and (name == TAKE_OVER or connections[WEBCRAWL].errors_occurred):
            self.watch.forgive(error)
        for connection in connections.all(initialized_only=True):
            connection.close_if_unusable_or_obsolete()
        try:
            tick_report.failed(name, error, database_clock.moment())
            self._cleared.discard(name)
        except Error as away:
            log.debug("That could not be counted: %s", away)

    def _works(self, name: str) -> None:
        if self._failing.pop(name, ""):
            log.warning("The tick could %s again", name)
        if name in self._cleared:
            return
        try:
            tick_report.worked(name)
            self._cleared.add(name)
        except Error as away:
            log.debug("That it works again could not be written: %s", away)

    def _take_over(self) -> None:
        for instance in self.watch.declare_silent_dead():
            log.warning(
                "Instance %s (process %s on %s) died: its queues are free", instance.pk, instance.pid, instance.host
            )
            self._dead.append((instance, time.monotonic()))
        self._end_dead()

    def _end_dead(self) -> None:
        """Who hangs ends by itself when it is awake again; after a minute nobody believes that any more."""
        while self._dead and time.monotonic() - self._dead[0][1] > HANGS_SECONDS:
            instance, _ = self._dead.popleft()
            if end(instance):
                log.warning("Process %s hung after instance %s died: it was ended", instance.pid, instance.pk)

    def _look(self) -> None:
        now = time.monotonic()
        if self._seen is None:
            tick_report.forget_all_but(name for name, _ in self._steps)
        if self._seen is None or now - self._seen >= SEEN_SECONDS:
            tick_report.looked(database_clock.moment())
            self._seen = now


def _due() -> Iterable[Part]:
    now = database_clock.moment()
    schedules.bring_near(now)
    return [partial(schedules.start, schedule, now) for schedule in schedules.due(now)]


def _runs() -> Iterable[Part]:
    return [partial(_look_after, run) for run in Run.objects.filter(state__in=OPEN_STATES, driver=None)]


def _wake_for_propagations() -> None:
    for propagation_id in services.due():
        wake(Job.PROPAGATE, propagation_id)


def _count_words() -> None:
    """A propagation counts by itself; after a rollback nobody else does."""
    if services.unfinished() is None and page_counts.behind() and not work_queues.waiting(work_queues.PROPAGATE):
        wake(Job.COUNT_WORDS)


def _look_after(run: Run) -> None:
    if finish.conclude(run.pk) or run.control == "pause":
        return
    if not run.initialized:
        if not work_queues.waiting(work_queues.CONTROL):
            wake(Job.INITIALIZE, run.pk)
        return
    for _ in range(_tickets(run)):
        wake(Job.SERVE, run.pk)


def _tickets(run: Run) -> int:
    """Instances this run could use: for queues nobody serves, or to share those of another that has several."""
    unserved = message_queue.unserved(run.pk)
    standing = message_queue.standing(run.pk)
    unfinished = run.excursions.filter(unfinished=True).exclude(state=State.PAUSED).count()
    sharers = min(work_queues.idle_workers(work_queues.CRAWL), unfinished - len(standing)) if unfinished > 1 else 0
    return max(min(max(unserved, sharers), MOST_TICKETS) - work_queues.waiting(work_queues.CRAWL), 0)


def _free_from_dead_drivers() -> None:
    """A run of the command crawl whose process died goes on by tickets."""
    orphans = Run.objects.filter(state__in=OPEN_STATES, driver__isnull=False).select_related("driver")
    for run in orphans:
        if not run.driver.alive or gone(run.driver):
            Run.objects.filter(pk=run.pk, driver=run.driver).update(driver=None)
