"""Getting pages over http and https with libcurl's multi interface: thousands of transfers in one thread.

Never follows a redirect, never raises for trouble of a network or a server: the answer carries the reason.
"""

import os
import select
import time
from collections import deque
from contextlib import suppress

import pycurl

from clearinghouse import __version__, env
from crawler.values import USER_AGENT, Fetched, Request

from .curl_transfer import Transfer
from .name_lookup import NameLookups
from .sign_in.digest_auth import Lessons
from .slots import AtOnce, Slots

_IDLE_HANDLES = 256
_NAMES_SECONDS = 0.02  # how late a name that was looked up again may be noticed


def user_agent() -> str:
    """How the crawler names itself; the contact lets site owners reach the people who run it."""
    contact = env.text("CONTACT")
    return f"{USER_AGENT}/{__version__}" + (f" (+{contact})" if contact else "")


class CurlTransport:
    """Many GETs at once. One thread uses it: start some, then wait for whichever ends.

    Start no more than `max_connections` at a time: what waits for a connection inside libcurl spends its deadline.
    """

    def __init__(self, max_connections: int = 1024, turns: Slots | None = None) -> None:
        self._agent = user_agent()
        self._turns = turns or AtOnce()
        self._lessons = Lessons()
        self._epoll = select.epoll()
        self._watched: set[int] = set()
        self._due: float | None = None
        self._wakeup: int | None = None
        self._woken = False
        self._active: dict[pycurl.Curl, Transfer] = {}
        self._idle: list[Transfer] = []
        self._parked: set[pycurl.Curl] = set()  # active, and waiting for the turn of their next request
        self._refused: deque[Fetched] = deque()
        self._names = NameLookups()
        self._multi = pycurl.CurlMulti()
        self._multi.setopt(pycurl.M_SOCKETFUNCTION, self._watch)
        self._multi.setopt(pycurl.M_TIMERFUNCTION, self._set_timer)
        self._multi.setopt(pycurl.M_MAXCONNECTS, max_connections)
        self._multi.setopt(pycurl.M_MAX_TOTAL_CONNECTIONS, max_connections)

    def start(self, request: Request) -> None:
        """Begin a GET; its answer comes out of a later wait()."""
        transfer = self._idle.pop() if self._idle else Transfer(self._agent)
        refusal = transfer.begin(request, self._lessons.header(request))
        if refusal is not None:
            self._refused.append(refusal)
            self._idle.append(transfer)
            return
        self._active[transfer.handle] = transfer
        self._multi.add_handle(transfer.handle)

    def listen(self, ready: int) -> None:
        """Let wait() end, too, when this eventfd says so: another transport has something for the same caller."""
        self._wakeup = ready
        self._epoll.register(ready, select.EPOLLIN)

    def active(self) -> int:
        """How many were started and have not come out of wait()."""
        return len(self._active) + len(self._refused) + self._names.active()

    def wait(self, seconds: float) -> list[Fetched]:
        """The answers that are ready; waits for the first one, but no longer than this."""
        until = time.monotonic() + seconds
        answers = self._ended()
        listening = self._wakeup is not None
        while not answers:
            now = time.monotonic()
            pause = until - now
            if self._due is not None:
                pause = min(pause, self._due - now)
            if self._names.active():
                pause = min(pause, _NAMES_SECONDS)
            self._act(self._epoll.poll(max(pause, 0.0), 256) if self._active or listening else self._rest(pause))
            answers = self._ended()
            if self._woken or time.monotonic() >= until:
                break
        self._woken = False
        return answers

    def close(self) -> None:
        """Drop everything under way."""
        for handle, transfer in self._active.items():
            if handle not in self._parked:
                self._multi.remove_handle(handle)
            transfer.close()
        for transfer in self._idle:
            transfer.close()
        self._active.clear()
        self._parked.clear()
        self._idle.clear()
        self._multi.close()
        self._epoll.close()

    def _act(self, events: list[tuple[int, int]]) -> None:
        """Let libcurl do what the sockets and its own clock ask for."""
        for descriptor, event in events:
            if descriptor == self._wakeup:
                os.eventfd_read(descriptor)
                self._woken = True
                continue
            action = 0
            if event & (select.EPOLLIN | select.EPOLLHUP | select.EPOLLERR):
                action |= pycurl.CSELECT_IN
            if event & (select.EPOLLOUT | select.EPOLLERR):
                action |= pycurl.CSELECT_OUT
            self._multi.socket_action(descriptor, action)
        if self._due is not None and time.monotonic() >= self._due:
            self._due = None
            self._multi.socket_action(pycurl.SOCKET_TIMEOUT, 0)

    def _rest(self, seconds: float) -> list[tuple[int, int]]:
        time.sleep(max(min(seconds, 0.05), 0.0))
        return []

    def _ended(self) -> list[Fetched]:
        answers = self._names.settled()
        while self._refused:
            answers.append(self._refused.popleft())
        left = 1
        while left:
            left, good, bad = self._multi.info_read(256)
            for handle, code, message in [*((handle, 0, "") for handle in good), *bad]:
                self._multi.remove_handle(handle)
                transfer = self._active[handle]
                if code and transfer.begin_again(message):
                    self._send_again(transfer)
                    continue
                answer = transfer.finish(code, message)
                if self._answers_challenge(transfer, answer):
                    self._send_again(transfer)
                elif code == pycurl.E_COULDNT_RESOLVE_HOST:
                    self._names.ask(self._put_away(transfer, answer))
                else:
                    answers.append(self._put_away(transfer, answer))
        return answers

    def _send_again(self, transfer: Transfer) -> None:
        """A second request for the same page: it takes the turn of its site."""
        handle = transfer.handle
        self._parked.add(handle)

        def go() -> None:
            if handle in self._parked:  # else closed meanwhile
                self._parked.discard(handle)
                self._multi.add_handle(handle)

        self._turns.again(transfer.request.address.origin, go)

    def _answers_challenge(self, transfer: Transfer, answer: Fetched) -> bool:
        """Digest: a page may cost a second request, never a third."""
        if transfer.request.credentials is None or transfer.challenged:
            return False
        header = self._lessons.answer(answer) if answer.status == 401 else ""
        if header:
            transfer.answer_challenge(answer, header)
        return bool(header)

    def _put_away(self, transfer: Transfer, answer: Fetched) -> Fetched:
        if transfer.authorization:
            self._lessons.succeeded(answer)
        del self._active[transfer.handle]
        if transfer.reusable and len(self._idle) < _IDLE_HANDLES:
            self._idle.append(transfer)
        else:
            transfer.close()
        return answer

    def _watch(self, what: int, descriptor: int, _multi: pycurl.CurlMulti, known: object) -> None:
        """libcurl says which sockets it waits for."""
        if what == pycurl.POLL_REMOVE:
            self._watched.discard(descriptor)
            try:
                self._epoll.unregister(descriptor)
            except (OSError, ValueError):
                return  # closed already: the kernel has forgotten it by itself
            return
        mask = (select.EPOLLIN if what & pycurl.POLL_IN else 0) | (select.EPOLLOUT if what & pycurl.POLL_OUT else 0)
        if descriptor in self._watched:
            with suppress(FileNotFoundError):  # closed and opened again
                self._epoll.modify(descriptor, mask)
                return
        self._watched.add(descriptor)
        self._epoll.register(descriptor, mask)

    def _set_timer(self, milliseconds: int) -> None:
        self._due = None if milliseconds < 0 else time.monotonic() + milliseconds / 1000
