"""Connections for requests that connect to an allowed address only, and that another thread can end at any moment.

requests counts its timeouts for each read: a server that drips a byte now and then holds it for ever. So every
exchange has an Errand with one deadline for all of it; whoever sees it pass pulls the cord of the connection.
"""

import http.client
import io
import re
import socket
import threading
import time
from collections.abc import Callable
from contextlib import suppress
from typing import Any

import requests
import urllib3
from requests.adapters import HTTPAdapter
from urllib3.connection import HTTPConnection, HTTPSConnection
from urllib3.connectionpool import HTTPConnectionPool, HTTPSConnectionPool
from urllib3.util.response import assert_header_parsing

from clearinghouse.addresses.networks import connection_allowed

from . import name_lookup, transfer_outcome
from .curl_transfer import SLOW_BYTES, SLOW_SECONDS

_REFUSAL_AT_MOST = 64_000  # bytes of a 401 that are read to keep its connection
_INTERIM_ANSWERS = 10  # 1xx answers before the real one
_STATUS = re.compile(rb"HTTP/1\.[01] [0-9]{3}(?=[ \r\n])")
_BROKEN_LINE = re.compile(rb"\r(?!\n|$)|\0")
_BODILESS = (http.client.NO_CONTENT, http.client.NOT_MODIFIED)
_NTLM_CHALLENGE = re.compile(r"\b(?:NTLM|Negotiate)\s+[\w+/]", re.IGNORECASE)


# A body that does not come as its head says.
BROKEN = (urllib3.exceptions.HTTPError, http.client.HTTPException, OSError)


class ExchangeFailed(Exception):
    """An exchange that ended, in the words of the closed list of reasons."""

    def __init__(self, reason: str, detail: str) -> None:
        super().__init__(detail)
        self.reason, self.detail = reason, detail


def _at_once(go: Callable[[], None]) -> None:
    go()


class GuardedRequest:
    """One exchange under way: what goes out, until when, and the cord that ends it."""

    def __init__(self, target: str, until: float) -> None:
        self.target = target
        self.until = until
        self.ask: Callable[[Callable[[], None]], None] = _at_once  # for a turn; calls back when it has come
        self.ended: Callable[[], None] | None = None  # called when a request that had asked is over
        self.free = 1  # requests that may go without asking
        self._turns = 0  # that were given
        self.waited = 0.0  # seconds
        self._waiting = False
        self._granted = threading.Event()
        self.over: tuple[str, str] | None = None  # reason and detail, when it was ended from outside
        self.requests = 0  # that went out
        self.kept = False  # the first of them over a connection that had been used before
        self.received = 0
        self._seen = (time.monotonic(), 0)  # when the rate was last looked at, and what had come by then
        self.connection: Any = None
        self._cord: socket.socket | None = None
        self._lock = threading.Lock()

    def hold(self, connection: Any) -> None:
        """This connection is used from now on. A cord of our own: http.client lets go of a socket it still reads."""
        with self._lock:
            self._drop()
            self.connection, self._cord = connection, connection.cord.dup()
            if self.over:
                self._pull()

    def finish(self) -> None:
        """The exchange has ended by itself."""
        with self._lock:
            self._drop()
        if self._turns and self.ended is not None:
            self.ended()

    def end(self, reason: str = "error", detail: str = "the crawl ended") -> None:
        """From another thread: no more of it."""
        with self._lock:
            self.over = self.over or (reason, detail)
            self._pull()
        self._granted.set()

    def look(self, now: float) -> None:
        """From another thread, now and then: end it if its time is over, or if it is too slow."""
        since, before = self._seen
        if self._waiting:
            return
        if now > self.until:
            self.end("timeout", "the time for one page is over")
        elif now - since >= SLOW_SECONDS:
            self._seen = now, self.received
            if self.received - before < SLOW_BYTES * SLOW_SECONDS:
                self.end("too_slow", "less than 1 KB/s")

    def wait_for_turn(self) -> None:
        """Before each request: the site may have to be left alone for a while, and the clock stands still then."""
        if self.free:
            self.free -= 1
            return
        began, self._waiting = time.monotonic(), True
        self.ask(self._granted.set)
        self._granted.wait()
        now = time.monotonic()
        self.waited += now - began
        self.until += now - began
        self._seen = (now, self.received)
        if self.over:
            raise ExchangeFailed(*self.over)
        self._granted.clear()
        self._turns += 1
        self._waiting = False

    def left(self) -> float:
        return max(self.until - time.monotonic(), 0.001)

    def _pull(self) -> None:
        if self._cord is not None:
            with suppress(OSError):  # closed by the other side
                self._cord.shutdown(socket.SHUT_RDWR)

    def _drop(self) -> None:
        if self._cord is not None:
            self._cord.close()
            self._cord = None


class _AtWork(threading.local):
    guarded_request: GuardedRequest | None = None


at_work = _AtWork()


def guarded_request() -> GuardedRequest:
    if at_work.guarded_request is None:
        raise ExchangeFailed("error", "a connection outside a request")
    return at_work.guarded_request


class _Lines(io.BufferedReader):
    """Remembers the last line it was asked for, and whether one was broken in the middle: a carriage return alone ends
    a header for Python, and for nobody else; a zero byte has no place in one."""

    last = b""
    broken = False

    def readline(self, size: int | None = -1, /) -> bytes:
        self.last = super().readline(size)
        self.broken = self.broken or bool(_BROKEN_LINE.search(self.last))
        return self.last


class _Answer(http.client.HTTPResponse):
    """An answer whose head is whole and readable. http.client takes the end of the connection for the end of a head,
    and forgets the lines behind one it cannot read, which may say how long the body is."""

    def __init__(self, sock: socket.socket, *arguments: Any, **options: Any) -> None:
        super().__init__(sock, *arguments, **options)
        self.fp.close()
        self.fp = self._lines = _Lines(sock.makefile("rb", buffering=0))

    def begin(self) -> None:
        super().begin()
        if not self._lines.last:
            raise ExchangeFailed("cut_short", "its headers ended early")
        try:
            assert_header_parsing(self.headers)
        except urllib3.exceptions.HeaderParsingError:
            raise ExchangeFailed("bad_response", "its headers are not usable") from None
        if self._lines.broken:
            raise ExchangeFailed("bad_response", "its headers are not usable")
        self._frame()

    def _read_status(self) -> Any:
        """Of the answer itself: http.client knows of 100 alone that something comes before it."""
        for _ in range(_INTERIM_ANSWERS + 1):
            status = super()._read_status()  # type: ignore[misc]
            if not _STATUS.match(self._lines.last):
                raise ExchangeFailed("bad_response", "its status line is not usable")
            if not 100 <= status[1] < 200 or status[1] == http.client.SWITCHING_PROTOCOLS:
                return status
            http.client.parse_headers(self.fp)
        raise ExchangeFailed("bad_response", "more than ten interim answers")

    def _frame(self) -> None:
        """What the headers say of a body that must not be there, or say twice (RFC 9112, 6.3)."""
        if self.status in _BODILESS:
            del self.headers["transfer-encoding"], self.headers["content-length"]
            self.chunked, self.length = False, 0
        lengths = transfer_outcome.lengths(self.headers.get_all("content-length", []))
        if len(lengths) == 1 and not self.chunked and (length := lengths.pop()).isdecimal() and length.isascii():
            self.headers.replace_header("content-length", length)
            self.length = int(length[:18])
            self.will_close = self._check_close()  # type: ignore[attr-defined]


class _Guard:
    """Resolves once, connects to an address that was checked, and shows its cord."""

    cord: socket.socket | None = None
    remote = ""
    used = False

    def _new_conn(self) -> socket.socket:
        here: Any = self
        refused = ""
        for family, kind, protocol, _, place in _resolve(here._dns_host, here.port):
            if not connection_allowed(str(place[0]), int(place[1])):
                refused = here._dns_host  # what a name stands for inside is nobody's business
                continue
            line = socket.socket(family, kind, protocol)
            line.settimeout(min(guarded_request().left(), 15.0))
            self.cord = line.dup()
            guarded_request().hold(self)
            try:
                line.connect(place)
            except OSError:
                self._drop_cord()
                line.close()
                continue
            line.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
            self.remote = str(place[0])
            return line
        raise (
            ExchangeFailed("address_refused", refused) if refused else ExchangeFailed("connect_failed", "no connection")
        )

    def putrequest(self, method: str, url: str, *arguments: Any, **options: Any) -> None:
        """The target goes out as it is canonical, not as urllib3 would write it."""
        if self.cord is not None:
            guarded_request().hold(self)
        guarded_request().kept = self.used and not guarded_request().requests
        guarded_request().requests += 1
        self.used = True
        super().putrequest(method, guarded_request().target, *arguments, **options)  # type: ignore[misc]

    def close(self) -> None:
        self._drop_cord()
        super().close()  # type: ignore[misc]

    def _drop_cord(self) -> None:
        if self.cord is not None:
            self.cord.close()
            self.cord = None
            self.used = False


class _Http(_Guard, HTTPConnection):
    response_class = _Answer


class _Https(_Guard, HTTPSConnection):
    response_class = _Answer


class _HttpPool(HTTPConnectionPool):
    ConnectionCls = _Http


class _HttpsPool(HTTPSConnectionPool):
    ConnectionCls = _Https


class Adapter(HTTPAdapter):
    """One connection for each site; the refusals a sign-in begins with are read here, up to a limit.

    Every request goes through send(), also those that belong to a handshake.
    """

    def __init__(self) -> None:
        super().__init__(pool_connections=1, pool_maxsize=1, max_retries=0)

    def init_poolmanager(self, *arguments: Any, **options: Any) -> None:
        super().init_poolmanager(*arguments, **options)
        self.poolmanager.pool_classes_by_scheme = {"http": _HttpPool, "https": _HttpsPool}

    def send(self, request: requests.PreparedRequest, *arguments: Any, **options: Any) -> requests.Response:
        guarded_request().wait_for_turn()
        answer = super().send(request, *arguments, **options)
        if answer.status_code == 401:
            _swallow(answer)
        return answer


class Session(requests.Session):
    """requests without what it does of its own accord: no redirects, cookies, proxies, .netrc."""

    def __init__(self) -> None:
        super().__init__()
        self.trust_env = False
        self.headers.clear()
        for scheme in ("http://", "https://"):
            self.mount(scheme, Adapter())

    def get_redirect_target(self, resp: requests.Response) -> str | None:
        """None for every answer: otherwise requests reads the whole body of a redirect into memory."""
        return None


def _resolve(host: str, port: int) -> list[Any]:
    try:
        return socket.getaddrinfo(host.strip("[]"), port, type=socket.SOCK_STREAM)
    except (OSError, UnicodeError) as error:
        raise ExchangeFailed("dns_failed", name_lookup.why(error)) from None


def _swallow(answer: requests.Response) -> None:
    """Read a refusal so that its connection can be used again; requests believes it was empty. A broken one ends its
    connection, which matters only in the middle of a handshake."""
    size = 0
    try:
        for piece in _raw(answer).stream(16_384, decode_content=False):
            size += len(piece)
            if size > _REFUSAL_AT_MOST:
                answer.close()
                raise ExchangeFailed("auth_failed", "its refusal is too long to go on signing in")
    except BROKEN:
        answer.close()
        if guarded_request().over or _NTLM_CHALLENGE.search(answer.headers.get("www-authenticate", "")):
            raise
    answer._content = b""
    answer._content_consumed = True


def _raw(answer: requests.Response) -> urllib3.HTTPResponse:
    raw: urllib3.HTTPResponse = answer.raw
    return raw
