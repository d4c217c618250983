"""A request whose length nobody said (Transfer-Encoding: chunked), made one with a length: Django reads no other.

Without this its body would count as empty, and what was asked for in it would be lost without a word.
clearinghouse.gateway does the same before; this is for who connects to a web process without it. And whatever part of a
request its answer did not need is taken all the same: a connection that is closed with unread bytes in it breaks, and
the front would lose the answer. Called by: wsgi.
"""

import io
from collections.abc import Callable, Iterable
from typing import Any

from . import body_limits

_PIECE = 65_536
Application = Callable[[dict[str, Any], Callable[..., Any]], Iterable[bytes]]


class WholeBodies:
    def __init__(self, application: Application) -> None:
        self._application = application

    def __call__(self, environ: dict[str, Any], start: Callable[..., Any]) -> Iterable[bytes]:
        if "CONTENT_LENGTH" in environ or not environ.get("HTTP_TRANSFER_ENCODING"):
            answer = self._application(environ, start)
            _take_rest(environ)
            return answer
        if not environ.get("wsgi.input_terminated"):  # nobody knows where it ends
            return _refused(start, "411 Length Required", "Send this with its length (Content-Length).")
        most = body_limits.most_bytes(environ.get("PATH_INFO", ""))
        body = _read(environ["wsgi.input"], most)
        if body is None:
            return _refused(start, "413 Content Too Large", body_limits.sentence(most))
        length = {"CONTENT_LENGTH": str(len(body)), "wsgi.input": io.BytesIO(body)}
        environ = {name: value for name, value in environ.items() if name != "HTTP_TRANSFER_ENCODING"}
        return self._application(environ | length, start)


def _take_rest(environ: dict[str, Any]) -> None:
    left = body_limits.MOST_OF_AN_IMPORT if environ.get("wsgi.input_terminated") else 0  # else it could wait for ever
    while left > 0 and (piece := environ["wsgi.input"].read(_PIECE)):
        left -= len(piece)


def _read(stream: Any, most: int) -> bytes | None:
    """All of it; None when it is too much."""
    found = io.BytesIO()
    while piece := stream.read(_PIECE):
        if found.tell() + len(piece) > most:
            return None
        found.write(piece)
    return found.getvalue()


def _refused(start: Callable[..., Any], status: str, sentence: str) -> Iterable[bytes]:
    body = f"{sentence}\n".encode()
    start(status, [("Content-Type", "text/plain; charset=utf-8"), ("Content-Length", str(len(body))),
                   ("Cache-Control", "no-store"), ("Connection", "close")])  # fmt: skip
    return [body]
