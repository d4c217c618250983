"""A web server with named misbehaviours, on a socket of its own: it says exactly the bytes it is told to.

with Site() as site:
    site.pages["/cut"] = raw(b"HTTP/1.1 200 OK\\r\\nContent-Length: 100\\r\\n\\r\\nshort")
    fetch(site.url("/cut")); site.log  # one Asked for each request, in order
"""

import socket
import ssl
import threading
import time
from collections.abc import Callable, Iterator
from typing import BinaryIO, NamedTuple, Self


class Asked(NamedTuple):
    """One request as it came over the wire."""

    method: str
    target: str
    headers: dict[str, str]  # names in lower case
    at: float


Answer = bytes | Iterator[bytes]
Page = Callable[[Asked], Answer]


def raw(data: bytes) -> Page:
    """These bytes, then the connection is closed."""
    return lambda asked: iter((data,))


def page(body: bytes | str, *headers: str, status: str = "200 OK", kind: str = "text/html") -> Page:
    """A well-made answer; headers as "Name: value"."""
    data = body.encode() if isinstance(body, str) else body
    lines = [f"HTTP/1.1 {status}", f"Content-Length: {len(data)}", *headers]
    if kind:
        lines.append(f"Content-Type: {kind}")
    return lambda asked: ("\r\n".join(lines) + "\r\n\r\n").encode() + data


def redirect(place: str, status: str = "302 Found") -> Page:
    return page(b"", f"Location: {place}", status=status)


def drip(head: bytes, piece: bytes, seconds: float, times: int = 1_000_000) -> Page:
    """The head, then one piece after another, slowly."""

    def pieces(asked: Asked) -> Iterator[bytes]:
        yield head
        for _ in range(times):
            time.sleep(seconds)
            yield piece

    return pieces


class Site:
    """Serves `pages` by path (the query left aside) on one loopback port, each connection in a thread of its own."""

    def __init__(self, host: str = "127.0.0.1", tls: ssl.SSLContext | None = None) -> None:
        self.pages: dict[str, Page] = {}
        self.log: list[Asked] = []
        self.connections = 0
        self._tls = tls
        self._socket = socket.create_server((host, 0), family=socket.AF_INET6 if ":" in host else socket.AF_INET)
        self.host, self.port = host, self._socket.getsockname()[1]
        self._open = True
        self._thread = threading.Thread(target=self._accept, daemon=True)

    def __enter__(self) -> Self:
        self._thread.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._open = False
        self._socket.shutdown(socket.SHUT_RDWR)  # closing alone would leave accept() listening
        self._socket.close()

    def url(self, path: str = "/") -> str:
        host = f"[{self.host}]" if ":" in self.host else self.host
        return f"{'https' if self._tls else 'http'}://{host}:{self.port}{path}"

    def _accept(self) -> None:
        while self._open:
            try:
                connection, _ = self._socket.accept()
            except OSError:
                return
            self.connections += 1
            threading.Thread(target=self._serve, args=(connection,), daemon=True).start()

    def _serve(self, connection: socket.socket) -> None:
        try:
            if self._tls is not None:
                connection = self._tls.wrap_socket(connection, server_side=True)
            with connection:
                stream = connection.makefile("rb")
                while self._open and (asked := _read(stream)) is not None:
                    self.log.append(asked)
                    if not self._answer(connection, asked):
                        return
        except OSError:
            return  # the client has had enough

    def _answer(self, connection: socket.socket, asked: Asked) -> bool:
        """Send the answer; may the connection be used again?"""
        found = self.pages.get(asked.target.partition("?")[0])
        answer = found(asked) if found else page(b"not here", status="404 Not Found")(asked)
        if isinstance(answer, bytes):
            connection.sendall(answer)
            head, _, body = answer.partition(b"\r\n\r\n")
            closes = "close" in (asked.headers.get("connection", ""), _header(head, b"connection"))
            return not closes and _header(head, b"content-length") == str(len(body))
        for piece in answer:
            connection.sendall(piece)
        return False


def _read(stream: BinaryIO) -> Asked | None:
    """One request head; None when the client is gone."""
    first = stream.readline(65_537)
    if not first.strip():
        return None
    method, target, _ = first.decode("latin-1").split(" ", 2)
    headers: dict[str, str] = {}
    while line := stream.readline(65_537).strip():
        name, _, value = line.decode("latin-1").partition(":")
        headers[name.strip().lower()] = value.strip()
    return Asked(method, target, headers, time.monotonic())


def _header(head: bytes, name: bytes) -> str:
    lines = (line.partition(b":") for line in head.split(b"\r\n")[1:])
    return next((value.strip().decode("latin-1").lower() for key, _, value in lines if key.strip().lower() == name), "")
