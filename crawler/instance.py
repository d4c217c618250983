"""Owns: the event loop of one crawler instance: many message queues, one process, one beat.

    claim queues -> start requests -> read answers -> commit a batch -> end drained queues, again and again

Does not: decide about URLs (policy), store (results), know RQ (jobs). Called by: jobs.serve and the command crawl.
"""

import logging
import select
import time
import traceback
from collections.abc import Callable

from django.db import DatabaseError

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parse import parse, resolve

from . import endings, instances, message_queue, reading, results
from .answers import NO_ANSWER, PAGE, REDIRECTS, RETRY
from .control import Orders, orders
from .credentials import Keys
from .errors import Fenced
from .extract.wire import Parsed
from .fetch.curl import Fetcher
from .hosts import ASKING, ROBOTS_HOPS, UNKNOWN, UNREADABLE, Desk, Hosts
from .models import Excursion, Instance, Run, State
from .parsers import Died, Parsers
from .policy.frontier import HOLD, NO
from .policy.identity import wire_url
from .served import Item, ServedQueue
from .values import FAILED, REASONS, SKIPPED, Fetched, Request

CLAIM_AT_ONCE = 64
MOST_QUEUES = 512
CONNECTIONS = 256
SLICE_SECONDS = 600.0
BATCH_PAGES = 100
BATCH_SECONDS = 0.25
LOOK_SECONDS = 1.0  # how often orders (pause, stop, speed) are read
RESERVE = 64
QUARANTINE = 3  # parser deaths of one page

log = logging.getLogger(__name__)


class Robot:
    """The mark of a request for robots.txt."""

    def __init__(self, desk: Desk) -> None:
        self.desk = desk


class Crawl:
    """One instance at work for one run."""

    def __init__(self, run: Run, stay: bool = False, row: Instance | None = None) -> None:
        self.run = run
        self.stay = stay  # the command's own instance waits while the run is paused
        self.row: Instance = instances.assign(row, run.pk) if row else instances.register(run.pk)
        self.fetcher = Fetcher(CONNECTIONS)
        self.parsers = Parsers()
        self.hosts = Hosts(run.speed, self.row)
        self.reader = reading.Reader(self.row.pk)
        self.keys = Keys()
        self.queues: dict[int, ServedQueue] = {}
        self.orders = Orders()
        self.watch = instances.Watch()
        self.stopping = False
        now = time.monotonic()
        self._began = self._committed = self._beat = now
        self._looked = self._claimed = 0.0
        self._unwritten = 0

    def ask_to_stop(self, *_: object) -> None:
        """SIGTERM: finish what is in flight, commit, hand the queues back."""
        self.stopping = True

    @property
    def age(self) -> float:
        return time.monotonic() - self._began

    # -- the loop -----------------------------------------------------------------------------------------------

    def work(self, progress: Callable[["Crawl"], None] | None = None) -> None:
        """Until nothing is left that this instance could do, its slice is over, or it is asked to stop."""
        try:
            while self._round():
                if progress:
                    progress(self)
            self._hand_back()
        except Fenced:
            log.warning("Instance %s was declared dead; what it held in memory is done again by its heir", self.row.pk)
        finally:
            self.fetcher.close()
            self.parsers.close()

    def _round(self) -> bool:
        now = time.monotonic()
        if now - self._looked >= LOOK_SECONDS:
            self._look(now)
        if self.stopping or (not self.stay and now - self._began > SLICE_SECONDS):
            return False
        if not self.orders.hold and len(self.queues) < MOST_QUEUES and now - self._claimed >= self._claim_pause():
            self._claim(now)
        self._start_requests(now)
        self._read_answers()
        now = time.monotonic()
        if self._unwritten >= BATCH_PAGES or (self._unwritten and now - self._committed >= BATCH_SECONDS):
            self._commit()
        self._end_drained()
        if now - self._beat >= instances.BEAT_SECONDS:
            self._commit()
            self.hosts.beat()
        return bool(self.queues) or self._something_may_come()

    def _claim_pause(self) -> float:
        return 0.05 if not self.queues else 0.5

    def _something_may_come(self) -> bool:
        if self.orders.hold:
            return self.stay
        open_ones = Excursion.objects.filter(run_id=self.run.pk, unfinished=True)
        if not open_ones.exists():
            return False
        if self.stay:
            time.sleep(0.05)
            return True
        return open_ones.filter(claim__isnull=True, state__in=message_queue.CLAIMABLE, found__gt=0).exists()

    def _look(self, now: float) -> None:
        """Orders for the run, and rivals that died."""
        self._looked = now
        self.orders = orders(self.run.pk)
        self.hosts.speed = self.orders.speed
        self.watch.bury_the_dead(self.row.pk)
        if self.orders.ending:
            self._obey_ending()
        elif self.orders.hold and self.queues:
            self._land_everything()
            for queue in list(self.queues.values()):
                message_queue.release(self.row, queue.excursion, State.PAUSED)
            self.queues.clear()

    def _obey_ending(self) -> None:
        self._claim(time.monotonic())
        self._land_everything()
        for queue in list(self.queues.values()):
            self.queues.pop(queue.excursion.pk)
            endings.end_early(self.row, queue, self.orders.ending)

    def _claim(self, now: float) -> None:
        self._claimed = now
        for excursion in message_queue.claim(self.row, CLAIM_AT_ONCE):
            self.queues[excursion.pk] = ServedQueue(excursion)

    # -- requests -----------------------------------------------------------------------------------------------

    def _start_requests(self, now: float) -> None:
        if self.orders.hold or self.orders.ending:
            return
        for queue in list(self.queues.values()):
            if self.fetcher.active() >= CONNECTIONS or self.parsers.crowded:
                break
            queue.wake(now)
            if queue.low:
                self._commit()
                queue.refill()
            if queue.reserve(RESERVE):
                self._commit()
            for origin in queue.origins():
                self._start_from(queue, origin, now)
        self.hosts.ask(now)
        # Queues take turns: who was first goes last.
        if len(self.queues) > 1:
            first = next(iter(self.queues))
            self.queues[first] = self.queues.pop(first)

    def _start_from(self, queue: ServedQueue, origin: str, now: float) -> None:
        desk = self.hosts.desk(origin)
        while self.hosts.ready(desk, now) and queue.has(origin) and self.fetcher.active() < CONNECTIONS:
            permission, item = queue.next_item(origin)
            if permission == HOLD:
                return
            if permission == NO:
                self._conclude(queue, queue.take(item), SKIPPED, "page_limit", "")
                continue
            if self._robots_block(queue.points[item.owner_id].ignore_robots, desk):
                return
            self._start(queue, queue.take(item), desk)

    def _robots_block(self, ignored: bool, desk: Desk) -> bool:
        """Whether the site must answer for its robots.txt first."""
        if ignored or self.run.ignore_robots or desk.robots is not None or desk.robots_state == UNREADABLE:
            return False
        if desk.robots_state == UNKNOWN:
            desk.robots_state, desk.robots_hops = ASKING, 0
            self._ask_for_robots(desk, desk.origin + "/robots.txt")
        return True

    def _ask_for_robots(self, desk: Desk, url: str) -> None:
        address = parse(url)
        if isinstance(address, Refusal):
            self.hosts.robots_answered(desk, 404, b"")
            return
        self.hosts.departed(desk)
        self.fetcher.start(Request(address.href, address, token=Robot(desk)))

    def _start(self, queue: ServedQueue, item: Item, desk: Desk) -> None:
        owner = queue.points[item.owner_id]
        if desk.robots_state == UNREADABLE or self.hosts.given_up(desk):
            self._conclude(queue, item, REASONS[desk.trouble].outcome, desk.trouble, "the site did not answer")
            return
        if not (owner.ignore_robots or self.run.ignore_robots):
            allowed, rule = desk.robots.allowed(item.url) if desk.robots else (True, "")
            if not allowed:
                self._conclude(queue, item, SKIPPED, "robots_disallowed", rule)
                return
        credentials = self.keys.for_request(owner, item.url)
        if isinstance(credentials, Refusal):
            self._conclude(queue, item, FAILED, credentials.reason, credentials.detail)
            return
        previous = queue.look_up_previous(item)
        assert item.address is not None
        request = Request(
            wire_url(item.address, owner.append), item.address,
            etag=previous.etag if previous else "", last_modified=previous.last_modified if previous else "",
            credentials=credentials, accept_bad_certificate=owner.accept_bad_certificate,
            identity_encoding=item.identity, cookies=item.cookies, token=(queue.excursion.pk, item, desk),
        )  # fmt: skip
        queue.fly(item)
        self.hosts.departed(desk)
        self.fetcher.start(request)

    def _conclude(self, queue: ServedQueue, item: Item, outcome: str, reason: str, detail: str) -> None:
        self.reader.conclude(queue, item, results.Verdict(item.key, item.url, outcome, reason, detail))
        self._unwritten += 1

    # -- answers ------------------------------------------------------------------------------------------------

    def _read_answers(self, wait: float | None = None) -> None:
        for fetched in self.fetcher.wait(self._patience() if wait is None else wait):
            token = fetched.request.token
            if isinstance(token, Robot):
                self._robots_came(token.desk, fetched)
                continue
            excursion_id, item, desk = token
            self.hosts.landed(desk)
            queue = self.queues.get(excursion_id)
            if queue:
                self._guarded(queue, item, lambda q=queue, i=item, f=fetched, d=desk: self._read(q, i, f, d))
        for (excursion_id, item, fetched), page in self.parsers.collect():
            queue = self.queues.get(excursion_id)
            if queue:
                self._guarded(queue, item, lambda q=queue, i=item, f=fetched, p=page: self._store(q, i, f, p))

    def _patience(self) -> float:
        """How long to wait for an answer: not at all when nothing is under way, shortly while pages are read."""
        if self.fetcher.active():
            return 0.002 if self.parsers.active() else 0.05
        if self.parsers.active():
            select.select([self.parsers], [], [], 0.05)
        else:
            time.sleep(0.01 if self.queues else 0.0)
        return 0.0

    def _guarded(self, queue: ServedQueue, item: Item, step: Callable[[], None]) -> None:
        try:
            step()
        except (Fenced, DatabaseError):
            raise
        except Exception as error:  # a fault of ours must not end the run: it is stored and the page named
            log.exception("Reading %r failed", item.url)
            self._fault(queue, item, error)

    def _read(self, queue: ServedQueue, item: Item, fetched: Fetched, desk: Desk) -> None:
        if fetched.reason in NO_ANSWER:
            self.hosts.silent(desk, fetched.reason)
            if desk.down_since:  # the site is silent, not the page: this try does not count
                queue.put_back(item)
                return
        else:
            self.hosts.answered(desk)
        answer = self.reader.read(queue, item, fetched)
        if answer.kind == PAGE:
            self._parse(queue, item, fetched)
            return
        queue.landed(item)
        if answer.kind == RETRY:
            queue.put_back(item)
            if answer.wait:
                self.hosts.leave_alone(desk, answer.wait)
        else:
            self._done(queue)

    def _parse(self, queue: ServedQueue, item: Item, fetched: Fetched) -> None:
        self.parsers.submit((queue.excursion.pk, item, fetched), fetched, item.url, alone=item.deaths > 0)

    def _store(self, queue: ServedQueue, item: Item, fetched: Fetched, page: Parsed | Died) -> None:
        if isinstance(page, Died):
            item.deaths += 1
            if not page.slow and item.deaths < QUARANTINE:
                self._parse(queue, item, fetched)
                return
            reason = "parse_timeout" if page.slow else "quarantined"
            self.reader.conclude(queue, item, results.Verdict(item.key, item.url, FAILED, reason), fetched)
        else:
            self.reader.store(queue, item, fetched, page)
        queue.landed(item)
        self._done(queue)

    def _done(self, queue: ServedQueue) -> None:
        """A message has its verdict: look at what it led to."""
        self._unwritten += 1
        if queue.frontier.changes.again:
            self._expand_again(queue)
        queue.absorb()

    def _fault(self, queue: ServedQueue, item: Item, error: Exception) -> None:
        queue.landed(item)
        trace = "".join(traceback.format_exception(error))[-4000:]
        Excursion.objects.filter(pk=queue.excursion.pk).update(error=trace)
        if item.short in queue.frontier.known:
            self._conclude(queue, item, FAILED, "error", f"{type(error).__name__}: {error}"[:300])

    def _expand_again(self, queue: ServedQueue) -> None:
        while queue.frontier.changes.again:
            keys = list(queue.frontier.changes.again.values())
            self._commit()  # what they found first must be in the ledger to be read from there
            reading.expand_again(queue, keys)

    def _robots_came(self, desk: Desk, fetched: Fetched) -> None:
        self.hosts.landed(desk)
        location = fetched.header("location") if fetched.status in REDIRECTS else ""
        if fetched.reason:
            self.hosts.robots_failed(desk, fetched.reason)
        elif location and desk.robots_hops < ROBOTS_HOPS:
            desk.robots_hops += 1
            self._ask_for_robots(desk, resolve(fetched.request.address.href, location))
        else:
            self.hosts.robots_answered(desk, fetched.status, fetched.body)

    # -- commits ------------------------------------------------------------------------------------------------

    def _commit(self) -> None:
        works = [queue.work for queue in self.queues.values() if not queue.work.empty]
        results.commit(self.row, works)
        self.hosts.save()
        self._unwritten = 0
        self._committed = self._beat = time.monotonic()

    def _end_drained(self) -> None:
        for queue in [queue for queue in self.queues.values() if queue.drained]:
            self._commit()
            del self.queues[queue.excursion.pk]
            endings.finish(self.row, queue)

    def _land_everything(self) -> None:
        """Start nothing more, read what is in flight, commit."""
        deadline = time.monotonic() + 8.0
        while (self.fetcher.active() or self.parsers.active()) and time.monotonic() < deadline:
            self._read_answers(0.02)
        self._commit()

    def _hand_back(self) -> None:
        self._land_everything()
        for queue in self.queues.values():
            message_queue.release(self.row, queue.excursion)
        self.hosts.leave()
        instances.retire(self.row)
