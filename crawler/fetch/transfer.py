"""One GET: the options of its libcurl handle, the bytes that come in, and what the end of it means."""

import base64
import re
import socket

import certifi
import pycurl

from clearinghouse.addresses.networks import connection_allowed
from crawler.values import Fetched, Request

from . import decoding, digest, outcome
from .body import Body, judge

CONNECT_SECONDS = 15
WHOLE_SECONDS = 60
SLOW_BYTES, SLOW_SECONDS = 1_000, 20  # fewer bytes a second than this for so long is too slow
_HEADER_LINES = 500
_HEADER_BYTES = 256_000
_INTERIM_ANSWERS = 10  # 1xx answers before the real one
_STATUS = re.compile(rb"HTTP/[0-9.]+ +([0-9]{3})(?=[ \r\n])")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_BASIC = 1  # the number of crawl_auth_type_id
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"


class Transfer:
    """A libcurl handle, used for one GET after another."""

    def __init__(self, agent: str) -> None:
        self.handle = pycurl.Curl()
        self.reusable = True
        self._options(agent)
        self._forget()

    def begin(self, request: Request, authorization: str = "") -> Fetched | None:
        """Make the handle ready for this request; an answer at once when it must not be sent."""
        self._forget()
        self.request = request
        self.authorization = authorization
        self.challenged = request.credentials is not None and request.credentials.kind != digest.KIND
        self.reusable = True
        self._spent = (0, 0)
        self._lengths_count = True
        credentials = request.credentials
        if credentials is not None and credentials.kind not in (_BASIC, digest.KIND):
            return Fetched(request, reason="auth_failed", detail="this way of signing in needs another transport")
        handle = self.handle
        try:
            handle.setopt(pycurl.URL, request.url)
            handle.setopt(pycurl.HTTPHEADER, self._headers(request))
        except (ValueError, pycurl.error) as problem:
            return Fetched(request, reason="error", detail=f"the request cannot be sent: {problem}")
        # A password or a cookie is never shown to a server whose certificate nobody has checked.
        unchecked = request.accept_bad_certificate and credentials is None and not request.cookies
        handle.setopt(pycurl.SSL_VERIFYPEER, 0 if unchecked else 1)
        handle.setopt(pycurl.SSL_VERIFYHOST, 0 if unchecked else 2)
        return None

    def begin_again(self, message: str) -> bool:
        """A Content-Length that is no number means none, as in browsers: the same request, read until it is closed."""
        if not self._lengths_count or "Content-Length" not in message:
            return False
        self._forget()
        self._lengths_count = False
        self.reusable = False
        self.handle.setopt(pycurl.IGNORE_CONTENT_LENGTH, 1)
        self.handle.setopt(pycurl.HTTPHEADER, [*self._headers(self.request), b"Connection: close"])
        return True

    def answer_challenge(self, refused: Fetched, authorization: str) -> None:
        """The same request with the proof that we know the password; both together have the time of one."""
        self.authorization = authorization
        self.challenged = True
        self.reusable = False  # its clock is no longer the usual one
        self._spent = (refused.milliseconds, refused.received)
        self.handle.setopt(pycurl.TIMEOUT_MS, max(WHOLE_SECONDS * 1000 - refused.milliseconds, 1))
        self.handle.setopt(pycurl.HTTPHEADER, self._headers(self.request))

    def finish(self, code: int, message: str) -> Fetched:
        """The answer, now that libcurl is done with it."""
        handle = self.handle
        answer = Fetched(
            self.request,
            status=self._status,
            headers=self._headers_in,
            milliseconds=self._spent[0] + round(handle.getinfo(pycurl.TOTAL_TIME) * 1000),
            received=self._spent[1] + int(handle.getinfo(pycurl.SIZE_DOWNLOAD_T) + handle.getinfo(pycurl.HEADER_SIZE)),
            remote=handle.getinfo(pycurl.PRIMARY_IP) or "",
        )
        if self._body is not None:
            answer.body, answer.truncated = self._body.content(), self._body.truncated
        connected = handle.getinfo(pycurl.CONNECT_TIME) > 0
        answer.reason, answer.detail = self._end(answer, outcome.Ending(code, message, connected, answer.status))
        if answer.reason:
            answer.body = b""
        self._forget()
        return answer

    def close(self) -> None:
        self.handle.close()

    def _end(self, answer: Fetched, ending: outcome.Ending) -> tuple[str, str]:
        if self._refused:
            return "address_refused", self._refused
        if self._stopped:
            return self._stopped
        body = self._body
        if body is not None and body.stopped:
            return body.stopped
        if ending.code and not (body and body.enough):
            return outcome.of_libcurl(ending)
        if not self._head_ended:
            return "cut_short", "its headers ended early"
        if body is not None and not body.enough and self._came_short(answer):
            return "cut_short", "the body ended early"
        return judge(answer, body)

    def _came_short(self, answer: Fetched) -> bool:
        """Fewer bytes than declared: libcurl forgets the length beside a Transfer-Encoding that means nothing."""
        length = answer.header("content-length")
        if "chunked" in answer.header("transfer-encoding").lower() or not (length.isascii() and length.isdigit()):
            return False
        return int(self.handle.getinfo(pycurl.SIZE_DOWNLOAD_T)) < int(length[:18])

    def _options(self, agent: str) -> None:
        handle = self.handle
        for option, value in (
            (pycurl.NOSIGNAL, 1),
            (pycurl.PROTOCOLS, pycurl.PROTO_HTTP | pycurl.PROTO_HTTPS),
            (pycurl.FOLLOWLOCATION, 0),
            (pycurl.PROXY, ""),  # nothing of the environment: no proxy, no .netrc
            (pycurl.NETRC, 0),
            (pycurl.PATH_AS_IS, 1),  # the address is canonical; libcurl must not read it again
            (pycurl.HTTP_VERSION, pycurl.CURL_HTTP_VERSION_2TLS),
            (pycurl.HTTP09_ALLOWED, 0),
            (pycurl.USERAGENT, agent),
            (pycurl.CAINFO, certifi.where()),
            (pycurl.CONNECTTIMEOUT_MS, CONNECT_SECONDS * 1000),
            (pycurl.TIMEOUT_MS, WHOLE_SECONDS * 1000),
            (pycurl.LOW_SPEED_LIMIT, SLOW_BYTES),
            (pycurl.LOW_SPEED_TIME, SLOW_SECONDS),
            (pycurl.TCP_NODELAY, 1),
            (pycurl.OPENSOCKETFUNCTION, self._open_socket),
            (pycurl.HEADERFUNCTION, self._header),
            (pycurl.WRITEFUNCTION, self._write),
        ):
            handle.setopt(option, value)

    def _forget(self) -> None:
        self._headers_in: list[tuple[str, str]] = []
        self._header_bytes = 0
        self._answers = 0
        self._bare_line = False  # the last line ended without a carriage return
        self._head_ended = False  # by an empty line; libcurl takes the end of the connection for it, too
        self._status = 0
        self._body: Body | None = None
        self._refused = ""
        self._stopped: tuple[str, str] | None = None

    def _headers(self, request: Request) -> list[bytes]:
        lines = [
            f"Accept: {ACCEPT}",
            f"Accept-Encoding: {'identity' if request.identity_encoding else decoding.ACCEPTED}",
        ]
        if request.etag:
            lines.append(f"If-None-Match: {request.etag}")
        if request.last_modified:
            lines.append(f"If-Modified-Since: {request.last_modified}")
        if request.cookies:
            lines.append(f"Cookie: {request.cookies}")
        if request.credentials is not None and request.credentials.kind == _BASIC:
            pair = f"{request.credentials.login}:{request.credentials.password}".encode()
            lines.append("Authorization: Basic " + base64.b64encode(pair).decode())
        elif self.authorization:
            lines.append(f"Authorization: {self.authorization}")
        if any("\r" in line or "\n" in line or "\0" in line for line in lines):
            raise ValueError("a header value holds a line break")
        return [line.encode() for line in lines]

    def _open_socket(self, _purpose: int, target: tuple[int, int, int, tuple[str, int]]) -> socket.socket | int:
        """The only way to a connection: the address libcurl is about to connect to must be allowed."""
        family, kind, protocol, place = target
        if isinstance(place, bytes) or not connection_allowed(str(place[0]), int(place[1])):
            self._refused = str(place[0])
            return int(pycurl.SOCKET_BAD)
        self._refused = ""
        return socket.socket(family, kind, protocol)

    def _header(self, line: bytes) -> int | None:
        self._header_bytes += len(line)
        if self._header_bytes > _HEADER_BYTES or len(self._headers_in) > _HEADER_LINES:
            return self._stop("bad_response", "its headers are endless")
        if self._body is not None:
            return None  # behind the body come trailers, which nobody needs
        if line.startswith(b"HTTP/"):
            return self._status_line(line)
        if line in (b"\r\n", b"\n"):
            self._head_ended = True
        bare = line[-2:] != b"\r\n"
        if bare != self._bare_line and line in (b"\r\n", b"\n"):
            return self._stop("bad_response", "it is not clear where its headers end")
        self._bare_line = bare
        name, colon, value = line.partition(b":")
        if colon:
            if not _NAME.fullmatch(name):
                return self._stop("bad_response", "a header's name is not usable")
            self._headers_in.append((name.decode("ascii").lower(), readable(value.strip().replace(b"\0", b""))))
        return None

    def _status_line(self, line: bytes) -> int | None:
        status = _STATUS.match(line)
        self._answers += 1
        if status is None:
            return self._stop("bad_response", "its status line is not usable")
        if self._answers > _INTERIM_ANSWERS:
            return self._stop("bad_response", "more than ten interim answers")
        self._status, self._headers_in, self._head_ended = int(status[1]), [], False
        self._bare_line = line[-2:] != b"\r\n"
        return None

    def _write(self, chunk: bytes) -> int | None:
        if self._body is None:
            self._body = Body(self.request, self._status, self._headers_in)
        return None if self._body.write(chunk) else 0

    def _stop(self, reason: str, detail: str) -> int:
        self._stopped = (reason, detail)
        return 0


def readable(value: bytes) -> str:
    """A header's value: UTF-8 where it is that (addresses in Location often are), else as HTTP once said."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
