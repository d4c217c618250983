"""The connections of visitors: who may have one, and for how long it may keep us waiting."""

import asyncio
import fcntl
import hashlib
import re
import socket
import struct
import termios
import time
from contextlib import suppress
from dataclasses import dataclass, field

import h11

from .. import env
from ..web import body_limits
from .buffered_body import PIECE, BufferedBody
from .relay import Headers, NoAnswer, RelayedRequest, VisitorAddress, passed_on
from .request_turns import Key, RequestTurns
from .routes import GROUPS, group_of

MOST_CONNECTIONS = 1_000  # beyond: who has kept us waiting for the longest goes
MOST_BYTES_OF_ALL = 200_000_000  # of requests that are not whole yet
HEAD_SECONDS, BODY_SECONDS = 20.0, 60.0
TURN_SECONDS = 30.0
THROWN_AWAY_SECONDS = 10.0
UNREAD = 128 * 1024  # bytes of answers that the kernel keeps for a slow reader
READING_SECONDS = 60.0  # for the next 64 KB of an answer
LONGEST_PAUSE = 1.0  # between two looks at what was read
_SESSION = re.compile(rb"(?:^|;\s*)sessionid=([^;\s]+)")
_SENTENCES = {
    400: "This request cannot be read.",
    503: "There is too much to do just now, or we are starting. Try again in a few seconds.",
    504: "The answer took too long.",
}


class RequestRefused(Exception):
    """A request that is not passed on."""

    def __init__(self, status: int, sentence: str = "") -> None:
        super().__init__(status)
        self.status, self.sentence = status, sentence or _SENTENCES[status]


@dataclass(eq=False)
class VisitorConnection:
    """One connection."""

    reader: asyncio.StreamReader
    writer: asyncio.StreamWriter
    talk: h11.Connection = field(default_factory=lambda: h11.Connection(h11.SERVER, max_incomplete_event_size=32_768))
    since: float = field(default_factory=time.monotonic)  # when it began to keep us waiting; 0: we are at work for it

    @property
    def visitor(self) -> VisitorAddress:
        peer = self.writer.get_extra_info("peername")
        return (
            VisitorAddress(str(peer[0]).partition("%")[0], int(peer[1]))
            if isinstance(peer, tuple)
            else VisitorAddress("", 0)
        )

    def unread(self) -> int:
        """Bytes of answers that have not come to the visitor's machine; 0 where the kernel does not say."""
        waiting: int = self.writer.transport.get_write_buffer_size()
        with suppress(OSError, ValueError):  # another system, or a socket that is closed
            told = fcntl.ioctl(self.writer.get_extra_info("socket").fileno(), termios.TIOCOUTQ, bytes(4))
            waiting += struct.unpack("i", told)[0]
        return waiting

    def key(self, request: h11.Request) -> Key:
        """Behind a proxy of this machine everybody has its address: then the one it names counts, for taking turns."""
        named = dict(request.headers)
        place = self.visitor.address
        if place.startswith(("127.", "::1")) or not place:
            place = named.get(b"x-forwarded-for", b"").rpartition(b",")[2].strip().decode("latin-1") or place
        session = _SESSION.search(named.get(b"cookie", b""))
        who = named.get(b"authorization") or (session[1] if session else b"")
        return place, hashlib.sha256(who).hexdigest() if who else ""


class Front:
    def __init__(self) -> None:
        self._turns = {group: RequestTurns(group.at_once, group.each) for group in GROUPS}
        self._places = {group: env.socket_file(group.process) for group in GROUPS}
        self._visits: set[VisitorConnection] = set()
        self._bytes = 0

    async def welcome(self, reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        visit = VisitorConnection(reader, writer)
        writer.get_extra_info("socket").setsockopt(socket.SOL_SOCKET, socket.SO_SNDBUF, UNREAD)
        self._make_room()
        self._visits.add(visit)
        try:
            while await self._one(visit):
                visit.talk.start_next_cycle()
                visit.since = time.monotonic()
        except (OSError, TimeoutError, NoAnswer, h11.LocalProtocolError, asyncio.IncompleteReadError):
            visit.writer.transport.abort()
        except asyncio.CancelledError:  # the front ends, and this connection had nothing under way
            visit.writer.transport.abort()
        finally:
            self._visits.discard(visit)
            with suppress(OSError):
                writer.close()

    async def at_rest(self) -> None:
        """When nobody is being answered any more."""
        while any(not visit.since for visit in self._visits):
            await asyncio.sleep(0.05)

    def _make_room(self) -> None:
        if len(self._visits) >= MOST_CONNECTIONS:
            waiting = [visit for visit in self._visits if visit.since]
            if waiting:
                oldest = min(waiting, key=lambda visit: visit.since)
                self._visits.discard(oldest)
                oldest.writer.transport.abort()

    async def _one(self, visit: VisitorConnection) -> bool:
        """One request and its answer; whether the connection may be used again."""
        body = BufferedBody()
        try:
            request = await self._head(visit)
            if request is None:
                return False
            await self._read_body(visit, request, body)
            await self._taken(visit)
            visit.since = 0.0
            await self._answered(visit, request, body)
        except h11.RemoteProtocolError:
            await self._refuse(visit, RequestRefused(400))
        except RequestRefused as refusal:
            await self._refuse(visit, refusal)
        finally:
            body.close()
        return visit.talk.our_state is h11.DONE and visit.talk.their_state is h11.DONE

    # -- in -----------------------------------------------------------------------------------------------------

    async def _head(self, visit: VisitorConnection) -> h11.Request | None:
        event = await asyncio.wait_for(self._event(visit), HEAD_SECONDS)
        return event if isinstance(event, h11.Request) else None

    async def _event(self, visit: VisitorConnection) -> object:
        while (event := visit.talk.next_event()) is h11.NEED_DATA:
            if visit.talk.they_are_waiting_for_100_continue:
                go_on = h11.InformationalResponse(status_code=100, headers=[])
                visit.writer.write(visit.talk.send(go_on) or b"")
            visit.talk.receive_data(await visit.reader.read(PIECE))
        return event

    async def _read_body(self, visit: VisitorConnection, request: h11.Request, body: BufferedBody) -> None:
        length = dict(request.headers).get(b"content-length", b"0")
        most = body_limits.most_bytes(request.target.partition(b"?")[0].decode("latin-1"))
        if not length.isdigit() or int(length[:18]) > most:
            raise RequestRefused(413, body_limits.sentence(most))
        until, counted = time.monotonic() + BODY_SECONDS, 0
        try:
            while True:
                event = await asyncio.wait_for(self._event(visit), max(until - time.monotonic(), 0.001))
                if not isinstance(event, h11.Data):
                    return
                counted += len(event.data)
                self._bytes += len(event.data)
                if counted > most:
                    raise RequestRefused(413, body_limits.sentence(most))
                if self._bytes > MOST_BYTES_OF_ALL:
                    raise RequestRefused(503)
                body.add(event.data)
        finally:
            self._bytes -= counted

    async def _taken(self, visit: VisitorConnection) -> None:
        """Returns when the answer before this request was read: who asks for twenty and reads none costs one."""
        pause = 0.01
        async with asyncio.timeout(READING_SECONDS):
            while visit.unread():
                if visit.writer.is_closing():
                    raise NoAnswer
                await asyncio.sleep(pause)
                pause = min(2 * pause, LONGEST_PAUSE)

    # -- out ----------------------------------------------------------------------------------------------------

    async def _answered(self, visit: VisitorConnection, request: h11.Request, body: BufferedBody) -> None:
        group = group_of(request.target)
        exchange, taken = RelayedRequest(visit.visitor, request, body), None
        try:
            try:
                async with self._turns[group].one(visit.key(request), TURN_SECONDS):
                    if visit.reader.at_eof():
                        raise NoAnswer  # nobody waits for it any more
                    head = await exchange.begin(self._places[group])
                    taken = asyncio.create_task(self._hand_on(visit, head, exchange))
                    taken.add_done_callback(lambda _: exchange.leave())
                    await exchange.read_all()
            except TimeoutError:
                raise RequestRefused(503) from None
            except NoAnswer:
                if visit.talk.our_state is not h11.SEND_RESPONSE or visit.reader.at_eof():
                    raise
                raise RequestRefused(503) from None
            visit.since = time.monotonic()  # from here on only its reading keeps us waiting
            await taken
        finally:
            if taken is not None and not taken.done():
                taken.cancel()
            exchange.close()

    async def _hand_on(self, visit: VisitorConnection, head: h11.Response, exchange: RelayedRequest) -> None:
        headers = passed_on(list(head.headers))
        await self._write(visit, h11.Response(status_code=head.status_code, reason=head.reason, headers=headers))
        async for piece in exchange.pieces():
            await self._write(visit, h11.Data(data=piece))
        await self._write(visit, h11.EndOfMessage())

    async def _write(self, visit: VisitorConnection, event: h11.Event) -> None:
        visit.writer.write(visit.talk.send(event) or b"")
        await asyncio.wait_for(visit.writer.drain(), READING_SECONDS)

    async def _refuse(self, visit: VisitorConnection, refusal: RequestRefused) -> None:
        if visit.talk.our_state not in (h11.IDLE, h11.SEND_RESPONSE):
            raise NoAnswer
        text = f"{refusal.sentence}\n".encode()
        headers: Headers = [
            (b"content-type", b"text/plain; charset=utf-8"), (b"content-length", str(len(text)).encode()),
            (b"cache-control", b"no-store"), (b"connection", b"close"),
        ]  # fmt: skip
        if refusal.status == 503:
            headers.append((b"retry-after", b"5"))
        await self._write(visit, h11.Response(status_code=refusal.status, headers=headers))
        await self._write(visit, h11.Data(data=text))
        await self._write(visit, h11.EndOfMessage())
        if refusal.status == 413:
            await self._throw_away(visit)

    async def _throw_away(self, visit: VisitorConnection) -> None:
        """What is still being sent, for a while: who is cut off in the middle of it never sees the sentence."""
        with suppress(TimeoutError, OSError):
            async with asyncio.timeout(THROWN_AWAY_SECONDS):
                while await visit.reader.read(PIECE):
                    pass
