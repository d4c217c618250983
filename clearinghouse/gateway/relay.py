"""One request, brought to the process that answers it over a connection of its own, and the answer brought back.

The process learns the address of the visitor by the PROXY protocol, as if the visitor had connected to it; headers
pass as they came, but for those that are about a connection. Requests and answers are read by h11, and written anew:
where one ends is never a matter of two opinions.
"""

import asyncio
from collections.abc import AsyncIterator
from contextlib import suppress
from dataclasses import dataclass
from pathlib import Path

import h11

from .buffered_body import PIECE, Ahead, BufferedBody

ANSWER_SECONDS = 120.0  # until a process begins to answer, or goes on
MOST_AHEAD = 64_000_000  # bytes of an answer that wait for a slow reader; its process waits beyond that
_OF_A_CONNECTION = {
    b"connection", b"keep-alive", b"proxy-connection", b"proxy-authenticate", b"proxy-authorization", b"te",
    b"trailer", b"transfer-encoding", b"upgrade", b"expect",
}  # fmt: skip
Headers = list[tuple[bytes, bytes]]


class NoAnswer(Exception):
    """The process is not there, or it ended in the middle."""


@dataclass(frozen=True, slots=True)
class VisitorAddress:
    address: str
    port: int

    def line(self) -> bytes:
        """The first line of the PROXY protocol."""
        if not self.address:
            return b"PROXY UNKNOWN\r\n"
        family, here = ("TCP6", "::1") if ":" in self.address else ("TCP4", "127.0.0.1")
        return f"PROXY {family} {self.address} {here} {self.port} 80\r\n".encode()


def passed_on(headers: Headers) -> Headers:
    """Without what is about the connection, and what its header Connection names."""
    named = {word.strip().lower() for name, value in headers if name == b"connection" for word in value.split(b",")}
    return [(name, value) for name, value in headers if name not in _OF_A_CONNECTION | named]


class RelayedRequest:
    """begin() gives the head of the answer, pieces() its body; close() it in any case."""

    def __init__(self, visitor: VisitorAddress, request: h11.Request, body: BufferedBody) -> None:
        self._visitor, self._request, self._body = visitor, request, body
        self._talk = h11.Connection(h11.CLIENT)
        self._reader: asyncio.StreamReader
        self._writer: asyncio.StreamWriter | None = None
        self._ahead = Ahead()
        self._moved = asyncio.Event()
        self._over = False
        self._broken = False
        self._left = False

    async def begin(self, place: Path) -> h11.Response:
        try:
            self._reader, self._writer = await asyncio.open_unix_connection(str(place))
            await self._send()
            while True:
                event = await self._event()
                if isinstance(event, h11.Response):
                    return event
                if not isinstance(event, h11.InformationalResponse):
                    raise NoAnswer
        except (OSError, h11.ProtocolError, TimeoutError) as problem:
            raise NoAnswer from problem

    async def _send(self) -> None:
        assert self._writer is not None
        headers = [(name, value) for name, value in passed_on(list(self._request.headers)) if name != b"content-length"]
        headers += [(b"connection", b"close")]
        if self._body.size or self._request.method in (b"POST", b"PUT", b"PATCH"):
            headers.append((b"content-length", str(self._body.size).encode()))
        head = h11.Request(method=self._request.method, target=self._request.target, headers=headers)
        self._writer.write(self._visitor.line() + (self._talk.send(head) or b""))
        for piece in self._body.pieces():
            self._writer.write(self._talk.send(h11.Data(data=piece)) or b"")
            await self._writer.drain()
        self._writer.write(self._talk.send(h11.EndOfMessage()) or b"")
        await self._writer.drain()

    async def _event(self) -> h11.Event | type[h11.PAUSED]:
        while (event := self._talk.next_event()) is h11.NEED_DATA:
            self._talk.receive_data(await asyncio.wait_for(self._reader.read(PIECE), ANSWER_SECONDS))
        return event  # type: ignore[return-value]

    async def read_all(self) -> None:
        """Take the answer from its process, as fast as that one gives it; pieces() hands it on meanwhile."""
        try:
            while True:
                event = await self._event()
                if isinstance(event, h11.EndOfMessage):
                    break
                if not isinstance(event, h11.Data):
                    raise NoAnswer
                self._ahead.add(event.data)
                self._moved.set()
                while self._ahead.waiting > MOST_AHEAD and not self._left:
                    await asyncio.sleep(0.05)
                if self._left:
                    raise NoAnswer
        except (OSError, h11.ProtocolError, TimeoutError, NoAnswer):
            self._broken = True
        finally:
            self._over = True
            self._moved.set()

    async def pieces(self) -> AsyncIterator[bytes]:
        """Raises NoAnswer when the answer ended before it was whole."""
        while True:
            while self._ahead.waiting:
                yield self._ahead.take()
            if self._over:
                break
            self._moved.clear()
            await self._moved.wait()
        if self._broken:
            raise NoAnswer

    def leave(self) -> None:
        """Nobody reads the answer any more."""
        self._left = True

    def close(self) -> None:
        self._ahead.close()
        self._body.close()
        if self._writer is not None:
            with suppress(OSError):
                self._writer.close()
