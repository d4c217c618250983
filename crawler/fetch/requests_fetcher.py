"""The way of getting pages for sites that libcurl is not asked to sign in to: requests, in at most four threads.

Beside the protocol Transport it has sign_in for forms, whose cookies libcurl then uses. An eventfd, `ready`, says when
something is, so that whoever waits for libcurl wakes up.
"""

import os
import threading
import time
from collections import deque
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from queue import SimpleQueue

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.parsing import parse
from crawler.values import Credentials, Fetched, Request

from .curl import user_agent
from .guarded_connections import GuardedRequest
from .requests_exchange import RequestsConnection
from .sign_in.form_sign_in import Attempt, SignedIn
from .sign_in.point_key import PointKey
from .slots import AtOnce, Slots

THREADS = 4
_LINES = 16  # sites a thread keeps a connection to
_CLOSING_SECONDS = 1.0


@dataclass(frozen=True, slots=True)
class _Wish:
    """A thread wants to send a request."""

    origin: str
    go: Callable[[], None]
    again: bool  # after another one for the same page


@dataclass(frozen=True, slots=True)
class _Over:
    """A request that belongs to no page has ended."""

    origin: str


_Result = Fetched | SignedIn | _Wish | _Over
_Job = Callable[["_Worker"], None]


class RequestsTransport:
    def __init__(self, turns: Slots | None = None) -> None:
        self._turns = turns or AtOnce()
        self.ready = os.eventfd(0, os.EFD_NONBLOCK | os.EFD_CLOEXEC)
        self._jobs: SimpleQueue[_Job | None] = SimpleQueue()
        self._results: SimpleQueue[_Result] = SimpleQueue()
        self._signed_in: deque[SignedIn] = deque()
        self._workers: list[_Worker] = []
        self._active = 0
        self._signing = 0

    def start(self, request: Request) -> None:
        """Begin a GET with NTLM; its answer comes out of a later wait()."""
        self._active += 1
        self._add(lambda worker: worker.fetch(request))

    def sign_in(self, key: PointKey, origin: str) -> None:
        """Begin to sign in at the crawl point's form, for a page of this site; signed_in() says how it went."""
        self._signing += 1
        self._add(lambda worker: worker.sign_in(key, origin))

    def active(self) -> int:
        """How many pages were started and have not come out of wait()."""
        return self._active

    def wait(self, seconds: float) -> list[Fetched]:
        """The pages that are ready; whatever took too long is ended here."""
        answers: list[Fetched] = []
        until = time.monotonic() + seconds
        while True:
            self._end_late_ones()
            while not self._results.empty():
                result = self._results.get()
                if isinstance(result, SignedIn):
                    self._signing -= 1
                    self._signed_in.append(result)
                elif isinstance(result, Fetched):
                    self._active -= 1
                    answers.append(result)
                else:
                    self._queue(result)
            if answers or self._signed_in or not (self._active + self._signing) or time.monotonic() >= until:
                return answers
            time.sleep(0.005)

    def _queue(self, result: _Wish | _Over) -> None:
        if isinstance(result, _Over):
            self._turns.done(result.origin)
        elif result.again:
            self._turns.again(result.origin, result.go)
        else:
            self._turns.take(result.origin, result.go)

    def signed_in(self) -> list[SignedIn]:
        """How sign-ins went that wait() has noticed."""
        found = list(self._signed_in)
        self._signed_in.clear()
        return found

    def close(self) -> None:
        """Drop everything under way."""
        for worker in self._workers:
            self._jobs.put(None)
            worker.end()
        until = time.monotonic() + _CLOSING_SECONDS
        for worker in self._workers:
            worker.thread.join(max(until - time.monotonic(), 0.0))
        if not any(worker.thread.is_alive() for worker in self._workers):
            os.close(self.ready)  # else a late thread would write to somebody else's file

    def _add(self, job: _Job) -> None:
        self._workers = [worker for worker in self._workers if worker.thread.is_alive()]
        self._jobs.put(job)
        if len(self._workers) < min(THREADS, self._active + self._signing):
            self._workers.append(_Worker(self._jobs, self._done))

    def _done(self, result: _Result) -> None:
        self._results.put(result)
        with suppress(OSError):
            os.eventfd_write(self.ready, 1)

    def _end_late_ones(self) -> None:
        now = time.monotonic()
        for worker in self._workers:
            guarded_request = worker.guarded_request
            if guarded_request is not None:
                guarded_request.look(now)


class _Worker:
    """One thread and its connections."""

    def __init__(self, jobs: "SimpleQueue[_Job | None]", done: Callable[[_Result], None]) -> None:
        self.guarded_request: GuardedRequest | None = None
        self._agent = user_agent()
        self._jobs = jobs
        self._done = done
        self._lines: dict[tuple[str, Credentials], RequestsConnection] = {}
        self._ask: Callable[[Callable[[], None]], None] = lambda go: go()
        self._ended: Callable[[], None] | None = None
        self._free = 1
        self.thread = threading.Thread(target=self._work, name="sign-in", daemon=True)
        self.thread.start()

    def end(self) -> None:
        """From outside: what it is at is not wanted any more."""
        guarded_request = self.guarded_request
        if guarded_request is not None:
            guarded_request.end()

    def fetch(self, request: Request) -> None:
        answer = Fetched(request, reason="error", detail="the thread that fetched it broke")
        try:
            assert request.credentials is not None
            origin = request.address.origin
            self._free, self._ask, self._ended = 1, lambda go: self._done(_Wish(origin, go, again=True)), None
            answer = self._line(origin, request.credentials).get(request)
        finally:
            self.guarded_request = None
            self._done(answer)

    def sign_in(self, key: PointKey, origin: str) -> None:
        result = SignedIn(key, reason="error", detail="the thread that signed in broke")
        line = RequestsConnection(self._agent, None, self._watch)
        try:
            assert key.form is not None
            place = parse(key.form.url)
            there = origin if isinstance(place, Refusal) else place.origin
            # The page that made us sign in holds a place at its site, which our requests may use; another site's not.
            self._free, self._ask = 0, lambda go: self._done(_Wish(there, go, again=there == origin))
            self._ended = None if there == origin else lambda: self._done(_Over(there))
            result = Attempt(line, key).make()
        finally:
            self.guarded_request = None
            line.close()
            self._done(result)

    def _line(self, origin: str, credentials: Credentials) -> RequestsConnection:
        line = self._lines.pop((origin, credentials), None) or RequestsConnection(self._agent, credentials, self._watch)
        self._lines[origin, credentials] = line
        if len(self._lines) > _LINES:
            self._lines.pop(next(iter(self._lines))).close()
        return line

    def _watch(self, guarded_request: GuardedRequest) -> None:
        guarded_request.free, guarded_request.ask, guarded_request.ended = self._free, self._ask, self._ended
        self.guarded_request = guarded_request

    def _work(self) -> None:
        try:
            while (job := self._jobs.get()) is not None:
                job(self)
        finally:
            for line in self._lines.values():
                line.close()
