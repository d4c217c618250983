"""Where every request goes in: it takes the transport it needs, with whatever the crawl point's key has opened.

A key that has not opened anything yet is tried with one request at a time, and one that a site refuses for three
pages in a row is not tried again: no account is locked by a crawl (design rule 10, faults D22 and G4). What waits
here for a sign-in counts as active.
"""

from collections import deque
from dataclasses import dataclass, field, replace
from functools import partial
from typing import TYPE_CHECKING

from crawler.values import Credentials, Fetched, Request

from .sign_in import sign_in_forms
from .sign_in.cookies import Jar
from .sign_in.point_key import FORM, PointKey
from .slots import Slots
from .transports import Transports

if TYPE_CHECKING:
    from .requests_fetcher import RequestsTransport
    from .sign_in.form_sign_in import SignedIn

STRIKES = 3  # pages in a row that a site may refuse
RENEWALS = 20  # sign-ins after the first, at most
_OURS = ("auth_failed", "login_page", "error")  # reasons that say nothing good about a key's site


@dataclass(slots=True)
class _SignInState:
    """What is known of one key on one site."""

    origin: str
    key: Credentials
    opened: bool = False  # the key has opened a page; for a form: we are signed in
    flying: int = 0
    waiting: deque[Request] = field(default_factory=deque)
    strikes: int = 0
    refused: str = ""  # why nothing more goes out
    jar: Jar | None = None
    session: int = 0  # sign-ins so far
    renewed: bool = False  # signed in again, and no page has come of it yet
    renewals: set[str] = field(default_factory=set)  # pages for which we did so; a second time would not help
    signing: bool = False


@dataclass(frozen=True, slots=True)
class _Sent:
    """The mark of a request that went out with the cookies of a sign-in."""

    request: Request
    state: _SignInState
    session: int


class Fetcher:
    """Many GETs at once, with whatever opens them. One thread uses it: start some, then wait for whichever ends."""

    def __init__(self, max_connections: int = 1024, turns: Slots | None = None) -> None:
        self._transports = Transports(max_connections, turns)
        self._forms: RequestsTransport | None = None  # most crawls never need it
        self._states: dict[tuple[str, Credentials], _SignInState] = {}
        self._ready: list[Fetched] = []
        self._parked = 0  # sent on, and waiting for the turn of their site

    def start(self, request: Request) -> None:
        """Begin a GET; its answer comes out of a later wait()."""
        if request.credentials is None:
            self._transports.start(request)
            return
        state = self._state(request, request.credentials)
        state.waiting.append(request)
        self._let_through(state, request)

    def active(self) -> int:
        """How many were started and have not come out of wait()."""
        waiting = sum(len(state.waiting) for state in self._states.values()) if self._states else 0
        return self._transports.active() + waiting + self._parked + len(self._ready)

    def take_back(self) -> list[Request]:
        """Those that wait here for their key to open; nothing more is done for them."""
        waiting = [request for state in self._states.values() for request in state.waiting]
        for state in self._states.values():
            state.waiting.clear()
        return waiting

    def wait(self, seconds: float) -> list[Fetched]:
        """The answers that are ready; waits for the first one, but no longer than this."""
        answers = self._transports.wait(0.0 if self._ready else seconds)
        if not self._states:
            return answers
        for result in self._forms.signed_in() if self._forms else ():
            self._signed_in(result)
        for answer in answers:
            self._came(answer)
        answers, self._ready = self._ready, []
        return answers

    def close(self) -> None:
        """Drop everything under way."""
        self._transports.close()

    # -- going out ----------------------------------------------------------------------------------------------

    def _state(self, request: Request, key: Credentials) -> _SignInState:
        place = request.address.origin, key
        if place not in self._states:
            self._states[place] = _SignInState(*place, strikes=key.refused if isinstance(key, PointKey) else 0)
        return self._states[place]

    def _let_through(self, state: _SignInState, fresh: Request | None = None) -> None:
        """Send what waits, as far as its key allows; but a fresh one in a new turn of its site."""
        while state.waiting:
            if state.refused:
                self._ready.append(Fetched(state.waiting.popleft(), reason="auth_failed", detail=state.refused))
            elif state.key.kind == FORM and not state.opened:
                self._sign_in(state)
                return
            elif state.opened or not state.flying:
                state.flying += 1
                request = state.waiting.popleft()
                if request is fresh:
                    self._send(state, request)
                else:
                    self._parked += 1
                    self._transports.slots.again(request.address.origin, partial(self._unpark, state, request))
            else:
                return

    def _unpark(self, state: _SignInState, request: Request) -> None:
        """Its turn has come; the key may have been refused meanwhile."""
        self._parked -= 1
        if state.refused or (state.key.kind == FORM and not state.opened):
            state.flying -= 1
            state.waiting.append(request)
            self._let_through(state, request)
        else:
            self._send(state, request)

    def _send(self, state: _SignInState, request: Request) -> None:
        if state.jar is not None:
            cookies = "; ".join(text for text in (state.jar.header(request.address), request.cookies) if text)
            sent = _Sent(request, state, state.session)
            request = replace(request, credentials=None, cookies=cookies, accept_bad_certificate=False, token=sent)
        self._transports.start(request)

    def _sign_in(self, state: _SignInState) -> None:
        if not state.signing:
            assert isinstance(state.key, PointKey)
            state.signing = True
            self._forms = self._transports.for_forms()
            self._forms.sign_in(state.key, state.origin)

    # -- coming back --------------------------------------------------------------------------------------------

    def _came(self, answer: Fetched) -> None:
        """An answer of libcurl or of a thread: the caller's, or one that only we need."""
        sent = answer.request.token
        if isinstance(sent, _Sent):
            answer.request, state = sent.request, sent.state
            state.flying -= 1
            self._judge_signed_in(state, answer, sent.session)
        elif answer.request.credentials is not None:
            state = self._state(answer.request, answer.request.credentials)
            state.flying -= 1
            self._judge(state, answer)
        else:
            self._ready.append(answer)
            return
        self._let_through(state)

    def _judge(self, state: _SignInState, answer: Fetched) -> None:
        """Basic, Digest and NTLM: did the key open this page?"""
        self._ready.append(answer)
        if answer.reason == "auth_failed" or (not answer.reason and answer.status == 401):
            self._strike(state, f"the site refused the saved user ID and password for {STRIKES} pages in a row")
        elif not answer.reason and answer.status < 400:
            state.opened, state.strikes = True, 0

    def _judge_signed_in(self, state: _SignInState, answer: Fetched, session: int) -> None:
        """A sign-in form: is this the page, or has the site signed us out?"""
        key, request = state.key, answer.request
        assert isinstance(key, PointKey) and key.form is not None and state.jar is not None
        state.jar.take(answer.headers, request.address)
        if not sign_in_forms.signed_out(answer, key.form):
            if answer.reason not in _OURS and 200 <= answer.status < 400:
                state.strikes, state.renewed = 0, False
            self._ready.append(answer)
        elif sign_in_forms.is_sign_in_page(request.address, key.form):
            self._refuse(answer)  # the page itself, found as a link: no sign of anything
        elif session < state.session or state.signing:
            state.waiting.append(request)  # it left before the last sign-in
        elif (
            not state.renewed
            and not state.refused
            and request.url not in state.renewals
            and len(state.renewals) < RENEWALS
        ):
            state.renewed, state.opened = True, False
            state.renewals.add(request.url)
            state.waiting.append(request)
        else:
            self._refuse(answer)
            self._strike(state, f"the site answered with its sign-in page for {STRIKES} pages in a row")

    def _refuse(self, answer: Fetched) -> None:
        answer.reason, answer.detail, answer.body = "login_page", "", b""
        self._ready.append(answer)

    def _signed_in(self, result: "SignedIn") -> None:
        """Wherever this key is used: there is one, unless a crawl point reaches over several origins."""
        for state in [state for state in self._states.values() if state.key == result.key]:
            state.signing = False
            if result.jar is not None:
                state.jar, state.opened = result.jar, True
                state.session += 1
            elif result.reason == "auth_failed":
                self._close(state, result.detail)
            else:  # the site was not there: those who wait hear it, the next one tries again
                while state.waiting:
                    request = state.waiting.popleft()
                    self._ready.append(
                        Fetched(request, status=result.status, reason=result.reason, detail=result.detail)
                    )
            self._let_through(state)

    def _strike(self, state: _SignInState, why: str) -> None:
        state.strikes += 1
        if state.strikes >= STRIKES:
            self._close(state, why)

    def _close(self, state: _SignInState, why: str) -> None:
        if not state.refused:
            state.refused, state.opened = f"the crawl point is paused: {why}", False
            if isinstance(state.key, PointKey):
                state.key.pause(why)
