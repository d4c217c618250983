"""One GET: the options of its libcurl handle, the bytes that come in, and what the end of it means."""

import base64
import socket

import certifi
import pycurl

from clearinghouse.addresses.networks import connection_allowed
from crawler.values import Fetched, Request

from . import decoding, transfer_outcome
from .body import ResponseBody, judge
from .response_head import Head, read_head
from .sign_in import digest_auth

CONNECT_SECONDS = 15
WHOLE_SECONDS = 60
SLOW_BYTES, SLOW_SECONDS = 1_000, 20  # fewer bytes a second than this for so long is too slow
_BASIC = 1  # the number of crawl_auth_type_id
ACCEPT = "text/html,application/xhtml+xml,application/xml;q=0.9,*/*;q=0.8"
_PLAIN = [f"Accept: {ACCEPT}".encode(), f"Accept-Encoding: {decoding.ACCEPTED}".encode()]  # of most requests


class Transfer:
    """A libcurl handle, used for one GET after another."""

    def __init__(self, agent: str) -> None:
        self.handle = pycurl.Curl()
        self.reusable = True
        self._lines: list[bytes] = []  # of the head, as libcurl hands them over
        self._sent: tuple[list[bytes], bool] | None = None  # headers and certificate check the handle is set to
        self._options(agent)
        self._forget()

    def begin(self, request: Request, authorization: str = "") -> Fetched | None:
        """Make the handle ready for this request; an answer at once when it must not be sent."""
        self._forget()
        self.request = request
        self.authorization = authorization
        self.challenged = request.credentials is not None and request.credentials.kind != digest_auth.KIND
        self.reusable = True
        self._spent = (0, 0)
        self._lengths_count = True
        credentials = request.credentials
        if credentials is not None and credentials.kind not in (_BASIC, digest_auth.KIND):
            return Fetched(request, reason="auth_failed", detail="this way of signing in needs another transport")
        # A password or a cookie is never shown to a server whose certificate nobody has checked.
        unchecked = request.accept_bad_certificate and credentials is None and not request.cookies
        try:
            self.handle.setopt(pycurl.URL, request.url)
            self._set(self._headers(request), unchecked)
        except (ValueError, pycurl.error) as problem:
            return Fetched(request, reason="error", detail=f"the request cannot be sent: {problem}")
        return None

    def _set(self, headers: list[bytes], unchecked: bool) -> None:
        """Most requests look like the one before them."""
        if self._sent == (headers, unchecked):
            return
        self._sent = None
        self.handle.setopt(pycurl.HTTPHEADER, headers)
        self.handle.setopt(pycurl.SSL_VERIFYPEER, 0 if unchecked else 1)
        self.handle.setopt(pycurl.SSL_VERIFYHOST, 0 if unchecked else 2)
        self._sent = headers, unchecked

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
        handle, head = self.handle, self._read_head()
        answer = Fetched(
            self.request,
            status=head.status,
            headers=head.fields,
            milliseconds=self._spent[0] + round(handle.getinfo(pycurl.TOTAL_TIME) * 1000),
            received=self._spent[1] + int(handle.getinfo(pycurl.SIZE_DOWNLOAD_T) + handle.getinfo(pycurl.HEADER_SIZE)),
            remote=handle.getinfo(pycurl.PRIMARY_IP) or "",
        )
        if self._body is not None:
            answer.body, answer.truncated = self._body.content(), self._body.truncated
        connected = handle.getinfo(pycurl.CONNECT_TIME) > 0
        answer.reason, answer.detail = self._end(
            answer, transfer_outcome.Ending(code, message, connected, answer.status)
        )
        if answer.reason:
            answer.body = b""
        self._forget()
        return answer

    def close(self) -> None:
        self.handle.close()

    def _end(self, answer: Fetched, ending: transfer_outcome.Ending) -> tuple[str, str]:
        if self._refused:
            return "address_refused", self._refused
        head, body = self._read_head(), self._body
        if head.trouble:
            return "bad_response", head.trouble
        if body is not None and body.stopped:
            return body.stopped
        said_all = head.ended and transfer_outcome.says_all(head.status)
        if ending.code and not (said_all or (body and body.enough)):
            return transfer_outcome.of_libcurl(ending)
        if not head.ended:
            return "cut_short", "its headers ended early"
        if body is not None and not (said_all or body.enough) and self._came_short(answer):
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
            (pycurl.HEADERFUNCTION, self._lines.append),
            (pycurl.WRITEFUNCTION, self._write),
        ):
            handle.setopt(option, value)

    def _forget(self) -> None:
        self._lines.clear()
        self._head: Head | None = None
        self._body: ResponseBody | None = None
        self._refused = ""

    def _headers(self, request: Request) -> list[bytes]:
        if not (request.etag or request.last_modified or request.cookies or request.credentials or self.authorization
                or request.identity_encoding):  # fmt: skip
            return _PLAIN
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
        """The only way to a connection: the address libcurl is about to connect to must be allowed. What a
        name stands for inside is nobody's business: the refusal says the name."""
        family, kind, protocol, place = target
        if isinstance(place, bytes) or not connection_allowed(str(place[0]), int(place[1])):
            self._refused = self.request.address.host
            return int(pycurl.SOCKET_BAD)
        self._refused = ""
        return socket.socket(family, kind, protocol)

    def _read_head(self) -> Head:
        """Once, when the body begins or the transfer ends: behind the body come trailers, which nobody needs."""
        if self._head is None:
            self._head = read_head(self._lines)
        return self._head

    def _write(self, chunk: bytes) -> int | None:
        if self._body is None:
            head = self._read_head()
            if head.trouble:
                return 0
            self._body = ResponseBody(self.request, head.status, head.fields, self.request.mark)
        return None if self._body.write(chunk) else 0
