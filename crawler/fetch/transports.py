"""Where every request goes in: to libcurl, or to the threads that sign in, as the crawl point's key says.

A key that has not opened anything yet is tried with one request at a time, and one that a site refuses for three
pages in a row is not tried again: no account is locked by a crawl (design rule 10, faults D22 and G4). What waits
here for a sign-in counts as active.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from crawler.values import Credentials, Fetched, Request

from . import curl
from .sign_in import sign_in_forms
from .sign_in.cookies import Jar
from .sign_in.point_key import FORM, NTLM, PointKey
from .slots import AtOnce, Slots

if TYPE_CHECKING:
    from . import requests_fetcher
    from .sign_in.form_sign_in import SignedIn

STRIKES = 3  # pages in a row that a site may refuse
RENEWALS = 20  # sign-ins after the first, at most
_OURS = ("auth_failed", "login_page", "error")  # reasons that say nothing good about a key's site


@dataclass(slots=True)
class _Door:
    """What is known of one key on one site."""

    origin: str
    key: Credentials
    opened: bool = False  # the key has opened a page; for a form: we are signed in
    flying: int = 0
    waiting: deque[Request] = field(default_factory=deque)
    strikes: int = 0
    closed: str = ""  # why nothing more goes through
    jar: Jar | None = None
    session: int = 0  # sign-ins so far
    renewed: bool = False  # signed in again, and no page has come of it yet
    renewals: set[str] = field(default_factory=set)  # pages for which we did so; a second time would not help
    signing: bool = False


@dataclass(frozen=True, slots=True)
class _Sent:
    """The mark of a request that went out with the cookies of a sign-in."""

    request: Request
    door: _Door
    session: int


class Fetcher:
    """Many GETs at once, with whatever opens them. One thread uses it: start some, then wait for whichever ends."""

    def __init__(self, max_connections: int = 1024, turns: Slots | None = None) -> None:
        self._turns = turns or AtOnce()
        self._curl = curl.CurlTransport(max_connections, self._turns)
        self._threads: requests_fetcher.RequestsTransport | None = None  # most crawls never need them
        self._doors: dict[tuple[str, Credentials], _Door] = {}
        self._ready: list[Fetched] = []
        self._parked = 0  # let through, and waiting for the turn of their site

    def start(self, request: Request) -> None:
        """Begin a GET; its answer comes out of a later wait()."""
        if request.credentials is None:
            self._curl.start(request)
            return
        door = self._door(request, request.credentials)
        door.waiting.append(request)
        self._let_through(door, request)

    def active(self) -> int:
        """How many were started and have not come out of wait()."""
        waiting = sum(len(door.waiting) for door in self._doors.values()) if self._doors else 0
        threads = self._threads.active() if self._threads else 0
        return self._curl.active() + threads + waiting + self._parked + len(self._ready)

    def take_back(self) -> list[Request]:
        """Those that wait here for their key to open; nothing more is done for them."""
        waiting = [request for door in self._doors.values() for request in door.waiting]
        for door in self._doors.values():
            door.waiting.clear()
        return waiting

    def wait(self, seconds: float) -> list[Fetched]:
        """The answers that are ready; waits for the first one, but no longer than this."""
        answers = self._curl.wait(0.0 if self._ready else seconds)
        if not self._doors:
            return answers
        if self._threads is not None:
            answers += self._threads.wait(0.0)
            for result in self._threads.signed_in():
                self._signed_in(result)
        for answer in answers:
            self._came(answer)
        answers, self._ready = self._ready, []
        return answers

    def close(self) -> None:
        """Drop everything under way."""
        if self._threads is not None:
            self._threads.close()
        self._curl.close()

    # -- going out ----------------------------------------------------------------------------------------------

    def _door(self, request: Request, key: Credentials) -> _Door:
        place = request.address.origin, key
        if place not in self._doors:
            self._doors[place] = _Door(*place, strikes=key.refused if isinstance(key, PointKey) else 0)
        return self._doors[place]

    def _let_through(self, door: _Door, fresh: Request | None = None) -> None:
        """Send what waits, as far as the door allows; but a fresh one in a new turn of its site."""
        while door.waiting:
            if door.closed:
                self._ready.append(Fetched(door.waiting.popleft(), reason="auth_failed", detail=door.closed))
            elif door.key.kind == FORM and not door.opened:
                self._sign_in(door)
                return
            elif door.opened or not door.flying:
                door.flying += 1
                request = door.waiting.popleft()
                if request is fresh:
                    self._send(door, request)
                else:
                    self._parked += 1
                    self._turns.again(request.address.origin, partial(self._unpark, door, request))
            else:
                return

    def _unpark(self, door: _Door, request: Request) -> None:
        """Its turn has come; the door may have been closed meanwhile."""
        self._parked -= 1
        if door.closed or (door.key.kind == FORM and not door.opened):
            door.flying -= 1
            door.waiting.append(request)
            self._let_through(door, request)
        else:
            self._send(door, request)

    def _send(self, door: _Door, request: Request) -> None:
        if door.key.kind == NTLM:
            self._need_threads().start(request)
        elif door.jar is not None:
            cookies = "; ".join(text for text in (door.jar.header(request.address), request.cookies) if text)
            sent = _Sent(request, door, door.session)
            self._curl.start(
                replace(request, credentials=None, cookies=cookies, accept_bad_certificate=False, token=sent)
            )
        else:
            self._curl.start(request)

    def _sign_in(self, door: _Door) -> None:
        if not door.signing:
            assert isinstance(door.key, PointKey)
            door.signing = True
            self._need_threads().sign_in(door.key, door.origin)

    def _need_threads(self) -> "requests_fetcher.RequestsTransport":
        if self._threads is None:
            from . import requests_fetcher  # requests, NTLM and cryptography: 0.14 s to load

            self._threads = requests_fetcher.RequestsTransport(self._turns)
            self._curl.listen(self._threads.bell)
        return self._threads

    # -- coming back --------------------------------------------------------------------------------------------

    def _came(self, answer: Fetched) -> None:
        """An answer of libcurl or of a thread: the caller's, or one that only we need."""
        sent = answer.request.token
        if isinstance(sent, _Sent):
            answer.request, door = sent.request, sent.door
            door.flying -= 1
            self._judge_signed_in(door, answer, sent.session)
        elif answer.request.credentials is not None:
            door = self._door(answer.request, answer.request.credentials)
            door.flying -= 1
            self._judge(door, answer)
        else:
            self._ready.append(answer)
            return
        self._let_through(door)

    def _judge(self, door: _Door, answer: Fetched) -> None:
        """Basic, Digest and NTLM: did the key open this page?"""
        self._ready.append(answer)
        if answer.reason == "auth_failed" or (not answer.reason and answer.status == 401):
            self._strike(door, f"the site refused the saved user ID and password for {STRIKES} pages in a row")
        elif not answer.reason and answer.status < 400:
            door.opened, door.strikes = True, 0

    def _judge_signed_in(self, door: _Door, answer: Fetched, session: int) -> None:
        """A sign-in form: is this the page, or has the site signed us out?"""
        key, request = door.key, answer.request
        assert isinstance(key, PointKey) and key.form is not None and door.jar is not None
        door.jar.take(answer.headers, request.address)
        if not sign_in_forms.signed_out(answer, key.form):
            if answer.reason not in _OURS and 200 <= answer.status < 400:
                door.strikes, door.renewed = 0, False
            self._ready.append(answer)
        elif sign_in_forms.is_sign_in_page(request.address, key.form):
            self._refuse(answer)  # the page itself, found as a link: no sign of anything
        elif session < door.session or door.signing:
            door.waiting.append(request)  # it left before the last sign-in
        elif (
            not door.renewed and not door.closed and request.url not in door.renewals and len(door.renewals) < RENEWALS
        ):
            door.renewed, door.opened = True, False
            door.renewals.add(request.url)
            door.waiting.append(request)
        else:
            self._refuse(answer)
            self._strike(door, f"the site answered with its sign-in page for {STRIKES} pages in a row")

    def _refuse(self, answer: Fetched) -> None:
        answer.reason, answer.detail, answer.body = "login_page", "", b""
        self._ready.append(answer)

    def _signed_in(self, result: "SignedIn") -> None:
        """Every door of this key: there is one, unless a crawl point reaches over several origins."""
        for door in [door for door in self._doors.values() if door.key == result.key]:
            door.signing = False
            if result.jar is not None:
                door.jar, door.opened = result.jar, True
                door.session += 1
            elif result.reason == "auth_failed":
                self._close(door, result.detail)
            else:  # the site was not there: those who wait hear it, the next one tries again
                while door.waiting:
                    request = door.waiting.popleft()
                    self._ready.append(
                        Fetched(request, status=result.status, reason=result.reason, detail=result.detail)
                    )
            self._let_through(door)

    def _strike(self, door: _Door, why: str) -> None:
        door.strikes += 1
        if door.strikes >= STRIKES:
            self._close(door, why)

    def _close(self, door: _Door, why: str) -> None:
        if not door.closed:
            door.closed, door.opened = f"the crawl point is paused: {why}", False
            if isinstance(door.key, PointKey):
                door.key.pause(why)
