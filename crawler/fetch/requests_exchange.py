"""One request through requests, answered as libcurl's are: same limits, same guard, same words for what went wrong."""

import http.client
import re
import struct
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

import certifi
import requests
import spnego.exceptions
import urllib3.exceptions
from requests.auth import AuthBase
from requests_ntlm import HttpNtlmAuth
from requests_ntlm.requests_ntlm import _get_certificate_hash

from crawler.values import Credentials, Fetched, Request

from . import decoding, transfer_outcome
from .body import ResponseBody, judge
from .curl_transfer import ACCEPT, CONNECT_SECONDS, WHOLE_SECONDS
from .guarded_connections import BROKEN, ExchangeFailed, GuardedRequest, Session, at_work, guarded_request
from .response_head import readable
from .sign_in.digest_auth import target_of

_PIECE = 2_048  # small, because a read waits until so much has come, and the rate must be seen
_FOLD = re.compile(r"\r?\n[ \t]+")  # a header that goes on in the next line
_TIME_OVER = ("timeout", "the time for one page is over")
# What a hostile challenge makes pyspnego and requests-ntlm stumble over.
_HANDSHAKE = (
    spnego.exceptions.SpnegoError, struct.error, PermissionError, LookupError, ValueError, TypeError, AttributeError,
    OverflowError,
)  # fmt: skip
_TROUBLE = (requests.RequestException, urllib3.exceptions.HTTPError, http.client.HTTPException, OSError, ExchangeFailed)


class Ntlm(HttpNtlmAuth):
    """requests-ntlm; the certificate that a password is bound to is asked of our own connection."""

    def response_hook(self, r: requests.Response, **kwargs: Any) -> requests.Response:
        try:
            answer: requests.Response = super().response_hook(r, **kwargs)
        except requests.RequestException:
            raise
        except _HANDSHAKE:
            raise ExchangeFailed("auth_failed", "the NTLM handshake failed") from None
        return answer

    def _get_server_cert(self, response: requests.Response) -> bytes | None:
        line = guarded_request().connection.sock
        certificate = line.getpeercert(True) if hasattr(line, "getpeercert") else None
        found: bytes | None = _get_certificate_hash(certificate) if certificate else None
        return found


@dataclass(frozen=True, slots=True)
class FilledIn:
    """A form ready to be sent, and the page it stood on."""

    data: bytes = field(repr=False)
    page: str


class RequestsConnection:
    """A requests session for one crawl point, used by one thread at a time."""

    def __init__(self, agent: str, credentials: Credentials | None, watch: Callable[[GuardedRequest], None]) -> None:
        self._session = Session()
        self._agent = agent
        self._auth: AuthBase | None = None
        if credentials is not None:
            self._auth = Ntlm(credentials.login, credentials.password)
        self._watch = watch
        self.waited = 0.0  # seconds, for turns

    def get(self, request: Request, until: float = 0.0) -> Fetched:
        return self._exchange(request, None, until)

    def post(self, request: Request, filled: "FilledIn", until: float = 0.0) -> Fetched:
        """Send a filled-in form."""
        return self._exchange(request, filled, until)

    def close(self) -> None:
        self._session.close()

    def _exchange(self, request: Request, form: FilledIn | None, until: float) -> Fetched:
        began = time.monotonic()
        task = at_work.guarded_request = GuardedRequest(target_of(request.url), until or began + WHOLE_SECONDS)
        self._watch(task)
        answer = Fetched(request)
        try:
            self._send_twice(request, form, answer)
        except _TROUBLE as problem:
            answer.reason, answer.detail = task.over or _of(problem)
        finally:
            task.finish()
            at_work.guarded_request = None
            self.waited += task.waited
        if answer.reason:
            answer.body = b""
        answer.milliseconds = round((time.monotonic() - began - task.waited) * 1000)
        return answer

    def _send_twice(self, request: Request, form: FilledIn | None, answer: Fetched) -> None:
        """Once more where a connection that was kept from an earlier page ends without a word: the server may have
        closed it just when we wrote (RFC 9112, 9.3.1). A form is not sent twice."""
        try:
            self._send(request, form, answer)
        except requests.ConnectionError as problem:
            task = guarded_request()
            if form is not None or task.over or not (task.kept and task.requests == 1 and _is_silence(problem)):
                raise
            self._send(request, None, answer)

    def _send(self, request: Request, form: FilledIn | None, answer: Fetched) -> None:
        method = "GET" if form is None else "POST"
        prepared = requests.Request(
            method, request.url, self._headers(request, form), data=form.data if form else None, auth=self._auth
        ).prepare()
        prepared.url = request.url
        options: dict[str, Any] = {"verify": certifi.where(), "proxies": {}, "cert": None}
        limits = (min(CONNECT_SECONDS, guarded_request().left()), guarded_request().left())
        reply = self._session.send(prepared, stream=True, timeout=limits, allow_redirects=False, **options)
        try:
            _read(reply, answer)
        finally:
            self._session.cookies.clear()
            reply.close()

    def _headers(self, request: Request, form: FilledIn | None) -> dict[str, str]:
        encodings = "identity" if request.identity_encoding else decoding.ACCEPTED
        headers = {"User-Agent": self._agent, "Accept": ACCEPT, "Accept-Encoding": encodings}
        if request.etag:
            headers["If-None-Match"] = request.etag
        if request.last_modified:
            headers["If-Modified-Since"] = request.last_modified
        if request.cookies:
            headers["Cookie"] = request.cookies
        if form is not None:
            headers["Content-Type"] = "application/x-www-form-urlencoded"
            headers["Origin"], headers["Referer"] = request.address.origin, form.page
        return headers


def _read(reply: requests.Response, answer: Fetched) -> None:
    raw = reply.raw
    answer.status = reply.status_code
    answer.headers = [
        (name.lower(), readable(_FOLD.sub(" ", value).encode("latin-1", "replace").replace(b"\0", b"")))
        for name, value in raw.headers.items()
    ]
    answer.received = sum(len(name) + len(value) + 4 for name, value in answer.headers)
    answer.remote = guarded_request().connection.remote if guarded_request().connection is not None else ""
    body = ResponseBody(answer.request, answer.status, answer.headers)
    try:
        for piece in raw.stream(_PIECE, decode_content=False):
            answer.received += len(piece)
            guarded_request().received = answer.received
            if not body.write(piece):
                raw.close()
                break
        over = guarded_request().over
        if over:
            raise ExchangeFailed(*over)
    except (*BROKEN, ExchangeFailed):
        raw.close()
        if not transfer_outcome.says_all(answer.status):
            raise
    answer.body, answer.truncated = body.content(), body.truncated
    answer.reason, answer.detail = judge(answer, body)


def _of(problem: BaseException) -> tuple[str, str]:
    """What requests and urllib3 call it, in our words. Their own text may quote the server: it is not passed on."""
    if isinstance(problem, ExchangeFailed):
        return problem.reason, problem.detail
    if isinstance(problem, (requests.exceptions.SSLError, urllib3.exceptions.SSLError)):
        return "tls_failed", "the certificate or encryption is not valid"
    if isinstance(problem, requests.ConnectTimeout):
        return "connect_failed", "no answer"
    if isinstance(problem, (requests.Timeout, urllib3.exceptions.TimeoutError, TimeoutError)):
        return _TIME_OVER
    if isinstance(problem, (urllib3.exceptions.ProtocolError, requests.exceptions.ChunkedEncodingError)):
        return "cut_short", "the body ended early"
    if isinstance(problem, requests.ConnectionError):
        return ("bad_response", "the answer is not HTTP") if _is_nonsense(problem) else ("connect_failed", "it broke")
    return "bad_response", "the answer cannot be read"


def _is_nonsense(problem: requests.ConnectionError) -> bool:
    """Was there an answer, only not one in HTTP?"""
    return any(isinstance(cause, http.client.HTTPException) and not _closed(cause) for cause in _causes(problem))


def _is_silence(problem: requests.ConnectionError) -> bool:
    """Was the connection closed in the place of an answer?"""
    return any(_closed(cause) for cause in _causes(problem))


def _closed(cause: object) -> bool:
    return isinstance(cause, ConnectionError)  # RemoteDisconnected is one


def _causes(problem: requests.ConnectionError) -> tuple[Any, ...]:
    inner = problem.args[0] if problem.args else None
    return inner.args if isinstance(inner, urllib3.exceptions.ProtocolError) else ()
