"""Owns: the event loop of one crawler instance: many message queues, one process, one beat.

claim queues -> start requests -> read answers -> commit a batch -> end drained queues, again and again
Does not: know what is fetched and how (the strand), decide (policy), store (storage), know RQ (jobs). Called by:
jobs.serve and the command crawl.
"""

import logging
import time
from collections.abc import Callable, Iterator
from typing import Any

from django.db import InterfaceError, OperationalError, connections

from clearinghouse.library.models import Document

from ..errors import CrawlerError, Fenced
from ..launching.control import CANCEL, EXCLUDE, PAUSE, Elapsed, Orders, asked, note, orders
from ..liveness import crash_marks, fault_counts, instances
from ..models import Excursion, Instance, Run
from . import message_queue, process_limits, strands
from .strands import StrandAtWork

CLAIM_AT_ONCE = 64
MOST_QUEUES = 512
SLICE_SECONDS = 600.0
LEAST_SECONDS = 2.0  # that a process works before it is replaced: where memory is always short, a crawl goes on slowly
BATCH_PAGES = 100
BATCH_SECONDS = 0.25
WRITING_SECONDS = 0.04  # people's own writes wait no longer for ours, as far as the disk allows:
LEAST_PAGES = 20  # the flush of a slow disk costs the same for few pages as for many
LOOK_SECONDS = 0.8  # how often all that is around is looked at; what is found so counts within a second
ASK_SECONDS = 0.2  # how old an order (pause, stop, speed) may be when something is started
ENDING_SECONDS = 0.02  # of each round, while other queues are served
LANDING_SECONDS = 8.0  # for what is in flight when a process is to stop: it has ten
READING_SECONDS = 30.0  # for pages that have come, where it need not stop: they would be fetched twice
DONE = object()
FIRST_WAIT, LONGEST_WAIT = 1.0, 10.0  # seconds between looks for a database that is away; others wait as long

log = logging.getLogger(__name__)


def batch_size(pages: int, seconds: float) -> int:
    """How many pages the next batch may have, when writing these took so long."""
    return max(LEAST_PAGES, min(BATCH_PAGES, int(pages * WRITING_SECONDS / max(seconds, 0.001))))


class InstanceLoop:
    """One instance at work for one run."""

    def __init__(self, run: Run, stay: bool = False, row: Instance | None = None) -> None:
        self.run = run
        self.stay = stay  # the command's own instance waits while the run is paused
        self.row: Instance = instances.assign(row, run.pk) if row else instances.register(run.pk)
        crash_marks.watch(self.row)
        self.queues: dict[int, Any] = {}  # as their strand made them
        # Claimed still, and being ended in steps; without its queue where that was not restored.
        self.endings: dict[int, tuple[Any, Iterator[None]]] = {}
        self.strand: StrandAtWork = strands.at_work(strands.WEB)(run, self.row, self.queues, self._commit)
        self.orders, self._elapsed = Orders(), Elapsed()
        self.watch = instances.Watch()
        self.stopping = False
        now = time.monotonic()
        self._began = self._committed = self._beat = now
        self._looked = self._claimed = self._asked = 0.0
        self._said = ("", run.speed, 0)
        self._enough = BATCH_PAGES
        self._more_to_claim = False
        self._careful = False  # nothing is fetched whose message is not written: its death could not be counted
        self._cancelling: set[int] = set()
        self.no_space = ""  # why nothing is fetched for the moment
        self.grown = False
        self.replaceable = not stay  # whether a fresh process would go on where this one ends
        self._schema = process_limits.schema()

    def ask_to_stop(self, *_: object) -> None:
        """SIGTERM: finish what is in flight, commit, hand the queues back."""
        self.stopping = True

    def end_slice(self, *_: object) -> None:
        """SIGALRM, the time of the job is over: the same, and another job goes on."""
        self._began = -SLICE_SECONDS

    @property
    def slice_is_over(self) -> bool:
        """Whether another process is to go on from here."""
        return self.grown or (not self.stay and time.monotonic() - self._began > SLICE_SECONDS)

    # -- the loop -----------------------------------------------------------------------------------------------

    def work(self, progress: Callable[["InstanceLoop"], None] | None = None) -> None:
        """Until nothing is left that this instance could do, its slice is over, or it is asked to stop."""
        try:
            while self._safe_round():
                if progress:
                    progress(self)
            self._hand_back()
        except (OperationalError, InterfaceError) as error:
            log.warning("The queues could not be handed back (%s); another instance takes them over", error)
        except Fenced:
            log.warning("Instance %s was declared dead; its successor does again what it held in memory", self.row.pk)
        finally:
            self.strand.dispatch.close()
            crash_marks.forget(self.row)

    def _safe_round(self) -> bool:
        """A round that survives the loss of the database: what was not written is done again, no page fails for it."""
        try:
            return self._round()
        except (OperationalError, InterfaceError) as error:
            if fault_counts.is_ours(error):
                log.exception("Instance %s sent a wrong statement to the database", self.row.pk)
                return self._survive(error)
            if "disk I/O error" in str(error):
                raise CrawlerError(f"the WebCrawl disk fails: {error}") from error  # another process must look afresh
            log.warning("The WebCrawl database does not answer (%s); waiting for it", error)
            self.watch.forgive(error, self.row.pk)
        except CrawlerError:
            raise
        except Exception as error:
            log.exception("Instance %s had a fault of ours", self.row.pk)
            return self._survive(error)
        self._forget()
        wait = FIRST_WAIT
        while not self.stopping:
            try:
                connections.close_all()
                message_queue.release_all(self.row)
                self.strand.dispatch.hosts.leave()  # what was under way there has ended with what was in memory
                return True
            except (OperationalError, InterfaceError):
                self._rest(wait)
            finally:
                self.watch.forgive()
                wait = min(2 * wait, LONGEST_WAIT)
        return False

    def _survive(self, error: Exception) -> bool:
        """A fault of ours must not end the run: the documents it befell are counted. That of no document ends it."""
        self._forget()
        if not fault_counts.count(self.row, error):
            raise error
        return True

    def _rest(self, seconds: float) -> None:
        """So long, or until it is asked to stop: a signal alone does not end a sleep."""
        until = time.monotonic() + seconds
        while not self.stopping and time.monotonic() < until:
            time.sleep(0.1)

    def _forget(self) -> None:
        """Drop everything that is in memory only."""
        self.queues.clear()
        self.endings.clear()
        self.strand.begin_anew()

    def _round(self) -> bool:
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._look(now)
        if self.stopping or self.slice_is_over:
            return False
        if not self.orders.hold and len(self.queues) < MOST_QUEUES and now - self._claimed >= self._claim_pause():
            self._claim(now)
        self._start_requests(now)
        self.strand.dispatch.read_answers()
        now = time.monotonic()
        if self.strand.dispatch.unwritten >= self._enough or (
            self.strand.dispatch.unwritten and now - self._committed >= BATCH_SECONDS
        ):
            self._start_requests(now)  # the sites answer while we write
            self._commit()
        self._end_drained()
        self._go_on_ending()
        self._let_go()
        if now - self._beat >= instances.BEAT_SECONDS:
            self._commit()
        self.strand.dispatch.hosts.beat(now)
        return bool(self.queues or self.endings) or self._something_may_come()

    def _start_requests(self, now: float) -> None:
        if self._asked_otherwise():
            self._looked = 0.0  # obeyed before anything starts
        if not self._looked or self.orders.hold or self.orders.ending or self.no_space:
            return
        if self._careful and self.strand.dispatch.unwritten:
            self._commit()
        self.strand.dispatch.start_requests(now)

    def _asked_otherwise(self) -> bool:
        """Whether an order has changed: looked at before anything starts, so that nothing starts after a pause."""
        now, before = time.monotonic(), self._said
        if now - self._asked < ASK_SECONDS:
            return False
        self._asked, self._said = now, asked(self.run.pk, self.row.pk)
        return self._said != before

    def _claim_pause(self) -> float:
        """None while there are more queues than can be claimed at once, and something to serve them with."""
        if self._more_to_claim and self.strand.dispatch.idle:
            return 0.0
        return 0.05 if not self.queues else 0.5

    def _something_may_come(self) -> bool:
        if self.orders.hold:
            return self.stay
        if not Excursion.objects.filter(run_id=self.run.pk, unfinished=True).exists():
            return False
        time.sleep(0.05)
        if self.stay or message_queue.unserved(self.run.pk):
            return True
        counts = message_queue.standing(self.run.pk)
        return max(counts.values(), default=0) > 1  # somebody will hand a queue over

    def _look(self, now: float) -> None:
        """Orders for the run, and instances that died."""
        self._looked = now
        self.orders = orders(self.run.pk, self._elapsed)
        self._look_around()
        self.strand.dispatch.tell()
        self.strand.dispatch.hosts.speed = self.orders.speed
        self.watch.declare_silent_dead(self.row.pk)
        if self.orders.ending:
            self._obey_ending()
        elif self.orders.hold and self.queues:
            self._land_everything()
            for queue in list(self.queues.values()):
                message_queue.release(self.row, queue.excursion)
            self.queues.clear()
            self.orders = orders(self.run.pk, self._elapsed)  # may be others by now: it goes on at once then
        else:
            self._notice_changes()
            self._share_queues()

    def _look_around(self) -> None:
        """Space, memory, schema: wait for the first, make room for a fresh process when the others have changed."""
        before, self.no_space = self.no_space, process_limits.no_space()
        if self.no_space and not before:
            note(self.run.pk, "space", f"No space: {self.no_space}. Nothing is fetched until there is more.")
            log.warning("No space: %s. Nothing is fetched until there is more", self.no_space)
        elif before and not self.no_space:
            note(self.run.pk, "space", "There is space again; the crawl goes on.")
        worked = time.monotonic() - self._began > LEAST_SECONDS
        self.grown = self.replaceable and worked and process_limits.memory() > process_limits.MOST_MEMORY
        if process_limits.schema() != self._schema:
            log.warning("The schema of WebCrawl has changed: instance %s hands back its queues", self.row.pk)
            self.stopping = True

    def _obey_ending(self) -> None:
        self._claim(time.monotonic())
        self._land_everything()
        if self.orders.ending == CANCEL:  # what was about to be kept is discarded too
            ending = {pk: queue for pk, (queue, _) in self.endings.items() if queue}
            self.queues |= {pk: queue for pk, queue in ending.items() if pk not in self._cancelling}
            self._cancelling |= self.queues.keys()
        for pk, queue in self.queues.items():
            self.endings[pk] = queue, self.strand.end_early(queue, self.orders.ending)
        self.queues.clear()

    def _notice_changes(self) -> None:
        """Crawl points deactivated or deleted, excludes applied: within a second."""
        if not self.queues:
            return
        self._leave_deleted_documents()
        self.strand.notice_deactivated(self.queues.values())
        told = Excursion.objects.filter(pk__in=list(self.queues), control__in=(EXCLUDE, PAUSE))
        for pk, order, snapshot in told.values_list("pk", "control", "snapshot"):
            if order == PAUSE:
                self.queues[pk].leaving = True
                continue
            self.queues[pk].exclude(tuple(snapshot["excludes"]))
            Excursion.objects.filter(pk=pk, control=EXCLUDE).update(control="")  # not a pause asked for since

    def _leave_deleted_documents(self) -> None:
        """A document that was deleted meanwhile: its excursion is cancelled, its rows stay until they are purged."""
        served = {queue.excursion.doc_id: queue for queue in self.queues.values()}
        there = Document.objects.filter(pk__in=list(served)).values_list("pk", flat=True)  # deleted ones are not
        for queue in [served[doc_id] for doc_id in served.keys() - set(there)]:
            note(self.run.pk, "deleted", f"{queue.excursion.title} was deleted", queue.excursion.doc_id)
            self._commit()
            del self.queues[queue.excursion.pk]
            self.endings[queue.excursion.pk] = queue, self.strand.end_early(queue, CANCEL)

    def _share_queues(self) -> None:
        """When another instance of the run has no queue, the one with most hands over down to its equal share."""
        mine = [queue for queue in self.queues.values() if not queue.leaving]
        if len(mine) < 2:
            return
        counts = message_queue.standing(self.run.pk)
        others = {pk: count for pk, count in counts.items() if pk != self.row.pk}
        most = max((count, -pk) for pk, count in counts.items())
        if 0 not in others.values() or most[1] != -self.row.pk or message_queue.unserved(self.run.pk):
            return
        share = max(1, sum(counts.values()) // len(counts))
        for queue in mine[share:]:
            queue.leaving = True

    def _let_go(self) -> None:
        """Queues promised to others go when nothing of theirs is in flight."""
        for queue in [q for q in self.queues.values() if q.leaving and not q.flying]:
            self._commit()
            del self.queues[queue.excursion.pk]
            message_queue.release(self.row, queue.excursion)

    def _claim(self, now: float) -> None:
        self._claimed = now
        if not self._more_to_claim and not message_queue.unserved(self.run.pk):
            return  # claiming is a transaction with a flush, also when there is nothing to claim
        if any(queue.excursion.crashes for queue in self.queues.values()):
            return  # they are served in their own company
        claimed = fault_counts.claim(self.row, CLAIM_AT_ONCE, busy=bool(self.queues or self.endings))
        self._more_to_claim = len(claimed) == CLAIM_AT_ONCE
        failing = [excursion for excursion in claimed if excursion.crashes >= fault_counts.MOST]
        self.endings |= {excursion.pk: (None, self.strand.fail(excursion)) for excursion in failing}
        claimed = [excursion for excursion in claimed if excursion.crashes < fault_counts.MOST]
        self._careful = any(excursion.crashes for excursion in claimed)
        self.strand.serve(claimed)

    # -- commits ------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        began, pages = time.monotonic(), self.strand.dispatch.unwritten
        self.strand.commit([queue.work for queue in self.queues.values() if not queue.work.empty])
        self._committed = self._beat = time.monotonic()
        if pages >= LEAST_PAGES:
            self._enough = batch_size(pages, self._committed - began)

    def _end_drained(self) -> None:
        """Not after each page: the endings that a batch brings share their transactions, as its pages do."""
        if self.strand.dispatch.unwritten and self.strand.dispatch.under_way:
            return
        drained = [queue for queue in self.queues.values() if queue.drained or queue.spent]
        if drained:
            self._commit()
            for queue in drained:
                del self.queues[queue.excursion.pk]
            self.endings |= {queue.excursion.pk: (queue, steps) for queue, steps in self.strand.finish(drained)}

    def _go_on_ending(self) -> None:
        """Some steps of what is being ended; the beat and the other queues go on meanwhile."""
        until = time.monotonic() + (ENDING_SECONDS if self.queues else BATCH_SECONDS)
        while self.endings and time.monotonic() < until:
            pk, (_, steps) = next(iter(self.endings.items()))
            if next(steps, DONE) is DONE:
                del self.endings[pk]

    def _land_everything(self) -> None:
        """Start nothing more, give back what has not gone out, read what is in flight, commit."""
        began = now = time.monotonic()
        self.strand.dispatch.give_back()
        while self.strand.dispatch.under_way and now - began < self._patience():
            self.strand.dispatch.tell()  # people see what a pause waits for
            self.strand.dispatch.read_answers(0.02)
            now = time.monotonic()
            if self.strand.dispatch.unwritten >= self._enough or now - self._beat >= instances.BEAT_SECONDS:
                self._commit()
        self._commit()

    def _patience(self) -> float:
        waiting = self.strand.dispatch.parsers.active() and not self.stopping
        return READING_SECONDS if waiting else LANDING_SECONDS

    def _hand_back(self) -> None:
        self._land_everything()
        for queue in self.queues.values():
            message_queue.release(self.row, queue.excursion)
        self.strand.dispatch.hosts.leave()
        instances.retire(self.row)
