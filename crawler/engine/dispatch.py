"""Owns: requests out and answers in, for the queues an instance serves: permission, pace, rules, passwords, fetching,
parsing. Does not: claim, commit, or decide about links. Called by: the instance, once a round.
"""

import heapq
import logging
import time
from collections.abc import Callable
from typing import Any

from django.db import DatabaseError

from clearinghouse.addresses import Refusal

from ..errors import Fenced
from ..extract.parser_messages import Parsed
from ..extract.plain_text import storable
from ..fetch.fetcher import Fetcher
from ..liveness import crash_marks, instances
from ..liveness.fault_counts import trace_of
from ..models import Excursion, Instance, Run
from ..policy.frontier import HOLD, NO
from ..policy.identity import wire_url
from ..sites.credentials import InstanceCredentials
from ..sites.site_rules import RobotsRequest, SiteRules
from ..sites.site_state import Hosts, SiteState
from ..values import FAILED, REASONS, SKIPPED, Fetched, PointSettings, Request
from . import storage
from .child_processes import Died, Parsers
from .local_queue import Item, LocalQueue
from .page_outcome import OutcomeReader, expand_again
from .ready_queues import ReadyQueues
from .response_kind import PAGE, RETRY, SLOW_DOWN, heard, silent

CONNECTIONS = 512
RESERVE = 64
STARTING_SECONDS = 0.1  # for the queues of one round; then it is looked whether anything may start still
TELL_SECONDS = 0.5  # between two writes of what is under way
SHOWN, SHOWN_LENGTH = 8, 500  # requests that screens name, and characters of their addresses
QUARANTINE = 3  # deaths of processes, by one page

log = logging.getLogger(__name__)


class Dispatcher:
    """What one instance has under way. `queues` is the instance's own dictionary, `commit` its way to write."""

    def __init__(
        self, run: Run, row: Instance, queues: dict[int, LocalQueue], reader: OutcomeReader, commit: Callable[[], None]
    ) -> None:
        self.run = run
        self.row = row
        self.queues = queues
        self.ready = ReadyQueues(queues)
        self.commit = commit
        self.unwritten = 0  # verdicts since the last commit
        self.hosts = Hosts(run.speed, row)
        self.fetcher = Fetcher(CONNECTIONS, self.hosts)
        self.rules = SiteRules(self.hosts, self.fetcher.start, ignored=run.ignore_robots)
        self.parsers = Parsers()
        self.reader = reader
        self.keys = InstanceCredentials(run.pk)
        self._told = float("-inf")

    @property
    def under_way(self) -> int:
        return self.fetcher.active() + self.parsers.active()

    def tell(self) -> None:
        """What is under way, for screens; now and then."""
        now = time.monotonic()
        if now - self._told >= TELL_SECONDS:
            self._told = now
            instances.tell(self.row, self.fetching())

    def fetching(self) -> dict[str, Any]:
        """How many pages are under way, how many of them have come and are being read, and the oldest: document,
        address, since when."""
        flying = [(item.begun, queue, item.url) for queue in self.queues.values() for item in queue.flying.values()]
        oldest = heapq.nsmallest(SHOWN, flying, key=lambda flight: flight[0])
        rows = [[queue.excursion.doc_id, url[:SHOWN_LENGTH], round(begun, 1)] for begun, queue, url in oldest]
        reading = min(self.parsers.active(), len(flying))  # pages of queues that were handed over are read to their end
        return {"requests": len(flying), "reading": reading, "oldest": rows} if rows else {}

    @property
    def idle(self) -> bool:
        """Whether more could be under way."""
        return self.fetcher.active() < CONNECTIONS and not self.parsers.crowded

    def close(self) -> None:
        self.fetcher.close()
        self.parsers.close()

    # -- requests -----------------------------------------------------------------------------------------------

    def start_requests(self, now: float) -> None:
        until, late = time.monotonic() + STARTING_SECONDS, False
        for queue in self.ready.pick(now):
            if late or not self.idle:
                self.ready.call(queue.excursion.pk)
                continue
            queue.wake(now)
            if queue.spent:
                continue  # what waits is judged where queues end
            if queue.low:
                self.commit()
                queue.refill()
            if queue.reserve(RESERVE):
                self.commit()
            for origin in queue.origins():
                site = self.hosts.site(origin)
                self._start_from(queue, origin, site, now)
                if self.fetcher.active() >= CONNECTIONS:
                    self.ready.call(queue.excursion.pk)
                elif queue.has(origin):
                    self.ready.turn_away(queue.excursion.pk, site)
            late = time.monotonic() > until
        self.hosts.ask(now)

    def give_back(self) -> None:
        """What was started and has not gone out, because it waits for a sign-in: its message waits again."""
        for request in self.fetcher.take_back():
            queue, item, site = request.token
            self.hosts.landed(site)
            if self._serves(queue):
                queue.put_back(item)

    def _start_from(self, queue: LocalQueue, origin: str, site: SiteState, now: float) -> None:
        given_up = self.hosts.given_up(site) and not site.flying
        while (given_up or self.hosts.ready(site, now)) and queue.has(origin) and self.fetcher.active() < CONNECTIONS:
            permission, item = queue.next_item(origin)
            if permission == HOLD:
                return
            if permission == NO:
                self._conclude(queue, queue.take(item), SKIPPED, "page_limit", "")
                continue
            refusal = queue.refusal(item) if queue.off or queue.excluding else None
            if refusal:
                self._conclude(queue, queue.take(item), SKIPPED, refusal.reason, refusal.detail)
                continue
            if not given_up and self.rules.block(site, queue.owner(item)):
                return
            queue.take(item)
            self._guarded(queue, item, lambda i=item: self._start(queue, i, site))

    def _start(self, queue: LocalQueue, item: Item, site: SiteState) -> None:
        owner = queue.owner(item)
        if item.deaths >= QUARANTINE:
            self._conclude(queue, item, FAILED, "quarantined", "")
            return
        if refusal := self.rules.refusal(site, owner, item.url):
            self._conclude(queue, item, REASONS[refusal.reason].outcome, refusal.reason, refusal.detail)
            return
        credentials = self.keys.for_request(owner, item.url)
        if isinstance(credentials, Refusal):
            self._conclude(queue, item, FAILED, credentials.reason, credentials.detail)
            return
        previous = queue.look_up_previous(item)
        assert item.address is not None
        url = wire_url(item.form or item.address, owner.append)
        if isinstance(url, Refusal):
            self._conclude(queue, item, SKIPPED, url.reason, url.detail)
            return
        request = Request(
            url, item.address,
            etag=previous.etag if previous else "", last_modified=previous.last_modified if previous else "",
            credentials=credentials, accept_bad_certificate=owner.accept_bad_certificate,
            identity_encoding=item.identity, cookies=queue.cookies(item), token=(queue, item, site),
            mark=crash_marks.mark(queue.excursion.pk, item.key),
        )  # fmt: skip
        queue.fly(item)
        self.ready.started(queue)
        self.hosts.departed(site)
        try:
            self.fetcher.start(request)
        except Exception:
            self.hosts.landed(site)  # or the site would have one connection less for good
            raise

    def _conclude(self, queue: LocalQueue, item: Item, outcome: str, reason: str, detail: str) -> None:
        self.reader.conclude(queue, item, storage.Verdict(item.key, item.url, outcome, reason, detail))
        self._done(queue)

    # -- answers ------------------------------------------------------------------------------------------------

    def read_answers(self, wait: float | None = None) -> None:
        self.hosts.let_on(time.monotonic())
        for fetched in self.fetcher.wait(self._patience() if wait is None else wait):
            token = fetched.request.token
            if isinstance(token, RobotsRequest):
                self.rules.came(token, fetched)
                self.ready.room(token.site)
                continue
            queue, item, site = token
            self.hosts.landed(site)
            self.ready.room(site)
            self.ready.call(queue.excursion.pk)
            if self._serves(queue):
                self._guarded(queue, item, lambda q=queue, i=item, f=fetched, d=site: self._read(q, i, f, d))
        for (queue, item, fetched), page in self.parsers.collect():
            if self._serves(queue):
                self._guarded(queue, item, lambda q=queue, i=item, f=fetched, p=page: self._store(q, i, f, p))

    def _serves(self, queue: LocalQueue) -> bool:
        """Not when the queue was handed back meanwhile, also if it is served again: its messages were read anew."""
        return self.queues.get(queue.excursion.pk) is queue

    def _patience(self) -> float:
        """How long to wait for an answer: not at all when nothing is under way, shortly while pages are read."""
        if self.fetcher.active():
            return 0.002 if self.parsers.active() else 0.05
        if self.parsers.active():
            self.parsers.wait(0.05)
        else:
            time.sleep(0.01 if self.queues else 0.0)
        return 0.0

    def _guarded(self, queue: LocalQueue, item: Item, step: Callable[[], None]) -> None:
        try:
            step()
        except (Fenced, DatabaseError):
            raise
        except Exception as error:  # a fault of ours must not end the run: it is stored and the page named
            log.exception("Reading %r failed", item.url)
            self._fault(queue, item, error)

    def _read(self, queue: LocalQueue, item: Item, fetched: Fetched, site: SiteState) -> None:
        if silent(fetched):
            self.hosts.silent(site, fetched.reason)
            if site.down_since:  # the site is silent, not the page: this try does not count
                queue.put_back(item)
                return
        elif heard(fetched):
            self.hosts.answered(site)
        if fetched.request.credentials is not None:
            self._judge_key(queue.owner(item), fetched)
        queue.take_cookies(item, fetched.headers)
        queue.tally.slow_down += fetched.status in SLOW_DOWN
        answer = self.reader.read(queue, item, fetched)
        if answer.kind == PAGE:
            self._parse(queue, item, fetched)
            return
        queue.landed(item)
        if answer.kind == RETRY:
            queue.put_back(item)
            if answer.wait:
                self.hosts.leave_alone(site, answer.wait)
        else:
            self._done(queue)

    def _judge_key(self, owner: PointSettings, fetched: Fetched) -> None:
        """A refusal counts when it was an answer of the site, not of a door that is closed already."""
        if fetched.status == 401 or (fetched.reason == "auth_failed" and fetched.status):
            self.keys.refused(owner)
        elif not fetched.reason and fetched.status < 400:
            self.keys.opened(owner)

    def _parse(self, queue: LocalQueue, item: Item, fetched: Fetched) -> None:
        self.parsers.submit((queue, item, fetched), fetched, item.url, alone=item.deaths > 0)

    def _store(self, queue: LocalQueue, item: Item, fetched: Fetched, page: Parsed | Died) -> None:
        if isinstance(page, Died):
            item.deaths += 1
            if not page.slow and item.deaths < QUARANTINE:
                self._parse(queue, item, fetched)
                return
            reason = "parse_timeout" if page.slow else "quarantined"
            self.reader.conclude(queue, item, storage.Verdict(item.key, item.url, FAILED, reason), fetched)
        else:
            self.reader.store(queue, item, fetched, page)
        queue.landed(item)
        self._done(queue)

    def _done(self, queue: LocalQueue) -> None:
        """A message has its verdict: look at what it led to."""
        self.unwritten += 1
        self.ready.call(queue.excursion.pk)
        expand_again(queue, self.row)
        queue.absorb()

    def _fault(self, queue: LocalQueue, item: Item, error: Exception) -> None:
        queue.landed(item)
        Excursion.objects.filter(pk=queue.excursion.pk).update(error=trace_of(error))
        told = storable(f"{type(error).__name__}: {error}")[:300]
        self.reader.give_up(queue, item, storage.Verdict(item.key, item.url, FAILED, "error", told))
        self._done(queue)
