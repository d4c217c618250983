"""Owns: the strand of pages: what an instance knows of the web while it serves the queues of documents.

Does not: claim queues, keep time (loop). Called by: the loop.
"""

from collections.abc import Callable, Collection, Iterator

from crawlpoints.models import CrawlPoint

from ..launching.control import note
from ..models import Event, Excursion, Instance, Run
from ..policy.frontier import REMEMBERED
from . import message_queue, storage
from .dispatch import Dispatcher
from .finishing import finish
from .local_queue import LocalQueue, look_up_previous
from .page_outcome import OutcomeReader

LEAST_REMEMBERED = 250  # links of each queue, however many there are


class WebStrand:
    """`queues` is the instance's own dictionary, `commit` its way to write."""

    def __init__(self, run: Run, row: Instance, queues: dict[int, LocalQueue], commit: Callable[[], None]) -> None:
        self.run = run
        self.row = row
        self.queues = queues
        self._commit = commit
        self._reader = OutcomeReader(row.pk)
        self.dispatch = self._dispatch()

    def _dispatch(self) -> Dispatcher:
        return Dispatcher(self.run, self.row, self.queues, self._reader, self._commit)

    def begin_anew(self) -> None:
        self.dispatch.close()
        self.dispatch = self._dispatch()

    def serve(self, claimed: list[Excursion]) -> None:
        kept = message_queue.kept(claimed)
        fresh = [LocalQueue(excursion, kept.get(excursion.pk)) for excursion in claimed]
        self.queues |= {queue.excursion.pk: queue for queue in fresh}
        self.dispatch.hosts.meet(origin for queue in fresh for origin in queue.origins())
        share = max(LEAST_REMEMBERED, REMEMBERED // max(1, len(self.queues)))
        for queue in self.queues.values():
            queue.frontier.remembered = share
        self.notice_deactivated(fresh)
        self.dispatch.ready.call_all()
        look_up_previous([queue for queue in fresh if queue.excursion.pk in kept])

    def commit(self, works: list[storage.PendingWrites]) -> None:
        storage.commit(self.row, works)
        self.dispatch.hosts.save()
        self.dispatch.unwritten = 0

    def notice_deactivated(self, queues: Collection[LocalQueue]) -> None:
        ids = {point_id for queue in queues for point_id in queue.points}
        active = set(CrawlPoint.objects.filter(pk__in=ids, active=1).values_list("pk", flat=True))
        for queue in queues:
            for point_id in queue.points.keys() - active - queue.off:
                queue.deactivate(point_id)
                sentence = f"Crawl point {point_id} was deactivated"
                said = Event.objects.filter(run_id=self.run.pk, doc_id=queue.excursion.doc_id, kind="deactivated")
                if not said.filter(text=sentence).exists():  # by the instance that served the queue before
                    note(self.run.pk, "deactivated", sentence, queue.excursion.doc_id)

    def finish(self, drained: list[LocalQueue]) -> Iterator[tuple[LocalQueue, Iterator[None]]]:
        for queue in finish.finish_small(self.row, drained):
            yield queue, finish.finish(self.row, queue)

    def end_early(self, queue: LocalQueue, order: str) -> Iterator[None]:
        return finish.end_early(self.row, queue, order)

    def fail(self, excursion: Excursion) -> Iterator[None]:
        return finish.fail(self.row, excursion)
