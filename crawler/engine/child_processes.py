"""Owns: the parser processes beside the loop: pages go out, what was read comes back, and a process that hangs or
dies is replaced. Does not: parse, or decide about pages. Called by: the instance.

Measured: with one parser process a crawl stores about 1.7 times as many pages a second as with parsing in the loop;
reading a page costs more than everything else that is done with it, so a busy instance starts a second one.
A process answers in order, so the first unanswered page is the one that hurt it.
"""

import os
import select
import socket
import subprocess
import sys
import time
from collections import deque
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from clearinghouse.operations import process_state

from ..extract import parser_messages
from ..extract.parser_messages import Parsed
from ..values import Fetched

SECONDS = 10.0  # of processor time for one page
ASLEEP = 6  # times as long a page may take by the clock, when the machine is busy with other things
TRIES = 3  # of a page whose process stood still without working: it is to blame after that
MOST_WAITING = 512  # pages; more are not fetched until some are read. Fewer made 200 slow sites start in bursts
MOST_BYTES = 24_000_000
PROCESSES = min(2, os.cpu_count() or 1)
BUSY = 12  # pages that wait for the processes there are before another one is started
_SLOW, _STILL = "slow", "still"
_BUFFER = 4_000_000
_CHUNK = bytearray(1 << 18)  # what is received, for a moment
_ROOT = Path(__file__).resolve().parents[2]


@dataclass(frozen=True, slots=True)
class Died:
    """The process did not survive this page, or took too long for it."""

    slow: bool


@dataclass(slots=True)
class _Job:
    token: Any
    fetched: Fetched
    href: str
    began: float = 0.0  # when it became the first in line
    spent: float = -1.0  # processor time of the process a moment later
    still: int = 0  # how often the process stood still with it


class Parsers:
    """As many processes as the pages need; submit() pages, collect() what is ready."""

    def __init__(self) -> None:
        self._processes = [Parser()]

    def submit(self, token: Any, fetched: Fetched, href: str, alone: bool = False) -> None:
        least = min(self._processes, key=Parser.active)
        if least.active() >= BUSY and len(self._processes) < PROCESSES:
            least = Parser()
            self._processes.append(least)
        least.submit(token, fetched, href, alone)

    def active(self) -> int:
        return sum(process.active() for process in self._processes)

    @property
    def crowded(self) -> bool:
        return self.active() >= MOST_WAITING or sum(process.bytes for process in self._processes) >= MOST_BYTES

    def wait(self, seconds: float) -> None:
        """Until something was read, or so long."""
        select.select(self._processes, [], [], seconds)

    def collect(self) -> list[tuple[Any, Parsed | Died]]:
        """What was read since the last look; never waits."""
        return [answer for process in self._processes for answer in process.collect()]

    def close(self) -> None:
        for process in self._processes:
            process.close()


class Parser:
    """One process and the pages it is to read."""

    def __init__(self) -> None:
        self._sent: deque[_Job] = deque()
        self._unsent: deque[_Job] = deque()
        self._alone: deque[_Job] = deque()  # pages that hurt a process: nothing else is at risk when they go again
        self.bytes = 0  # of the pages that wait
        self._start()

    def submit(self, token: Any, fetched: Fetched, href: str, alone: bool = False) -> None:
        self.bytes += len(fetched.body)
        (self._alone if alone else self._unsent).append(_Job(token, fetched, href))
        self._send()

    def active(self) -> int:
        return len(self._sent) + len(self._unsent) + len(self._alone)

    def fileno(self) -> int:
        return self._channel.fileno()

    def collect(self) -> list[tuple[Any, Parsed | Died]]:
        found: list[tuple[Any, Parsed | Died]] = []
        broken = self._receive()
        try:
            while (answer := self._next_answer()) is not None:
                found.append((self._finished().token, answer))
        except ValueError:
            broken = True  # nonsense instead of an answer: the process is hurt, whatever it goes on to say
        late = self._lateness(self._sent[0]) if self._sent else ""
        if broken or late:
            if self._sent and late == _STILL:
                self._try_again(self._sent[0])
            elif self._sent:
                found.append((self._finished().token, Died(slow=late == _SLOW)))
            self._replace()
        self._send()
        return found

    def _lateness(self, job: _Job) -> str:
        """Slow by its own work, or standing still: no page is blamed for a busy machine or a frozen process."""
        elapsed = time.monotonic() - job.began if job.began else 0.0
        if elapsed > SECONDS / 10 and job.spent < 0:
            job.spent = process_state.of(self._process.pid).seconds
        if elapsed <= SECONDS:
            return ""
        state = process_state.of(self._process.pid)
        if state.seconds - max(job.spent, 0.0) > SECONDS * 0.9:
            return _SLOW
        if not (state.stopped or elapsed > ASLEEP * SECONDS):
            return ""
        return _STILL if state.stopped or job.still < TRIES - 1 else _SLOW

    def _try_again(self, job: _Job) -> None:
        """By another process, before all others, or alone as before."""
        job.still, job.began, job.spent = job.still + 1, 0.0, -1.0
        if job.token is self._risky:
            self._alone.append(self._sent.popleft())

    def close(self) -> None:
        self._channel.close()
        self._process.kill()
        self._process.wait()

    # -- the process --------------------------------------------------------------------------------------------

    def _start(self) -> None:
        self._channel, theirs = socket.socketpair()
        for end in (self._channel, theirs):
            end.setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, _BUFFER)
        self._channel.setblocking(False)
        self._process = subprocess.Popen(
            [sys.executable, "-m", "crawler.extract.parser_process", str(theirs.fileno())],
            pass_fds=[theirs.fileno()], cwd=_ROOT, stdin=subprocess.DEVNULL, stdout=subprocess.DEVNULL,
            env={"PATH": os.environ.get("PATH", ""), "PYTHONPATH": str(_ROOT)},  # none of our settings and secrets
        )  # fmt: skip
        theirs.close()
        self._received = bytearray()
        self._outgoing = memoryview(b"")

    def _replace(self) -> None:
        self.close()
        self._unsent.extendleft(reversed(self._sent))
        self._sent.clear()
        self._start()

    def _finished(self) -> _Job:
        job = self._sent.popleft()
        self.bytes -= len(job.fetched.body)
        if self._sent:
            self._sent[0].began = time.monotonic()
        return job

    def _send(self) -> None:
        while self._outgoing or self._next_job():
            try:
                sent = self._channel.send(self._outgoing)
            except BlockingIOError:
                return
            except OSError:
                return  # collect() finds the end of the process
            self._outgoing = self._outgoing[sent:]

    def _next_job(self) -> bool:
        suspect = bool(self._alone) and not self._sent
        if not suspect and (not self._unsent or (self._sent and self._sent[0].token is self._risky)):
            return False
        job = self._alone.popleft() if suspect else self._unsent.popleft()
        self._risky = job.token if suspect else None
        if not self._sent:
            job.began = time.monotonic()
        self._sent.append(job)
        self._outgoing = memoryview(parser_messages.job(job.fetched, job.href))
        return True

    _risky: Any = None

    def _receive(self) -> bool:
        """Take in what came; whether the process has ended."""
        while True:
            try:
                size = self._channel.recv_into(_CHUNK)
            except BlockingIOError:
                return False
            except OSError:
                return True
            if not size:
                return True
            self._received += memoryview(_CHUNK)[:size]
            if size < len(_CHUNK):
                return False

    def _next_answer(self) -> Parsed | None:
        head = parser_messages.HEAD.size
        if len(self._received) < head:
            return None
        text_size, data_size = parser_messages.HEAD.unpack_from(self._received)
        middle = head + text_size
        end = middle + data_size
        if len(self._received) < end:
            return None
        with memoryview(self._received) as answers:
            answer = parser_messages.parsed(answers[head:middle], answers[middle:end])
        del self._received[:end]
        return answer
