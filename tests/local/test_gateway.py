"""The front: requests whole before a thread works on them, answers whole however slowly they are read, turns for all.

A process of its own runs the front; behind it stands a small server of the tests in place of gunicorn.
"""

import asyncio
import http.client
import os
import signal
import socket
import socketserver
import subprocess
import sys
import threading
import time
from collections.abc import Coroutine, Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from clearinghouse.gateway import routes
from clearinghouse.gateway.request_turns import RequestTurns
from clearinghouse.local import ports
from tests.flow.house import BASE, until


class Seen(NamedTuple):
    """A request as it came to a process."""

    proxy: bytes
    head: bytes
    body: bytes


class Process(socketserver.ThreadingUnixStreamServer):
    """Answers what its path says: /big/N so many bytes, /slow/S after so many seconds, /cut a half of it."""

    daemon_threads = True

    def __init__(self, place: Path) -> None:
        self.seen: list[Seen] = []
        self.at_work = self.most_at_work = 0
        super().__init__(str(place), Handler)


class Handler(socketserver.StreamRequestHandler):
    server: Process

    def handle(self) -> None:
        proxy = self.rfile.readline()
        head = b""
        while (line := self.rfile.readline()) not in (b"\r\n", b""):
            head += line
        lengths = [line for line in head.lower().split(b"\r\n") if line.startswith(b"content-length:")]
        body = self.rfile.read(int(lengths[0].split(b":")[1])) if lengths else b""
        self.server.seen.append(Seen(proxy, head, body))
        self.server.at_work += 1
        self.server.most_at_work = max(self.server.most_at_work, self.server.at_work)
        try:
            with suppress(OSError):
                self.answer(head.split(b" ")[1].decode())
        finally:
            self.server.at_work -= 1

    def answer(self, path: str) -> None:
        kind, _, number = path.removeprefix("/search").strip("/").partition("/")
        if kind == "slow":
            time.sleep(float(number))
        data = b"x" * int(number) if kind == "big" else b"good day"
        promised = len(data) * (2 if kind == "cut" else 1)
        lines = f"HTTP/1.1 200 OK\r\nContent-Length: {promised}\r\nConnection: close\r\nX-Kept: yes\r\n\r\n"
        self.wfile.write(lines.encode() + data)


class House(NamedTuple):
    port: int
    staff: Process
    public: Process
    front: "subprocess.Popen[bytes]"

    def ask(self, path: str, method: str = "GET", body: Any = None, **headers: str) -> http.client.HTTPResponse:
        web = http.client.HTTPConnection("127.0.0.1", self.port, timeout=20)
        web.request(method, path, body, headers, encode_chunked="Transfer-Encoding" in headers)
        return web.getresponse()

    def raw(self, data: bytes) -> socket.socket:
        one = socket.create_connection(("127.0.0.1", self.port), timeout=20)
        one.sendall(data)
        return one


@pytest.fixture
def house(tmp_path: Path) -> Iterator[House]:
    port = ports.any_free()
    names = {"CLEARINGHOUSE_VAR": str(tmp_path), "CLEARINGHOUSE_PORT": str(port), "PATH": os.environ["PATH"]}
    with (tmp_path / "said").open("wb") as said:
        front = subprocess.Popen([sys.executable, "-m", "clearinghouse.gateway"], cwd=BASE, env=names, stderr=said)
    place = subprocess.run(
        [sys.executable, "-m", "clearinghouse.gateway.routes", "web"], cwd=BASE, env=names, capture_output=True,
        text=True, check=True,
    ).stdout.strip()  # fmt: skip
    staff = Process(Path(place))
    public = Process(Path(place.replace("web.sock", "public.sock")))
    for one in (staff, public):
        threading.Thread(target=one.serve_forever, daemon=True).start()
    try:
        until(lambda: not ports.free(port), "the front listens")
        yield House(port, staff, public, front)
    finally:
        for one in (staff, public):
            one.shutdown()
            one.server_close()
        front.kill()
        front.wait()


def test_the_public_has_a_process_of_its_own(house: House) -> None:
    for path in ("/search/?q=a", "/help/", "/static/app.css", "/healthz", "/readyz", "/opensearch.xml"):
        assert house.ask(path).read() == b"good day"
    assert (len(house.public.seen), house.staff.seen) == (6, [])
    for path in ("/", "/sign-in/", "/documents/", "/api/v1/runs/", "/searching/"):
        assert house.ask(path).status == 200
    assert len(house.staff.seen) == 5


def test_the_process_learns_who_asks_and_nothing_about_the_connection(house: House) -> None:
    kept = {"X-Forwarded-For": "10.1.1.1", "X-Forwarded-Proto": "https", "Cookie": "a=b; c=d"}
    answer = house.ask("/documents/", **kept, Connection="keep-alive, X-Mine", **{"X-Mine": "1", "TE": "trailers"})
    assert answer.headers["X-Kept"] == "yes" and answer.headers["Connection"] is None
    (seen,) = house.staff.seen
    assert seen.proxy.startswith(b"PROXY TCP4 127.0.0.1 127.0.0.1 ") and seen.proxy.endswith(b" 80\r\n")
    lines = seen.head.lower().split(b"\r\n")
    for name, value in kept.items():
        assert f"{name}: {value}".lower().encode() in lines
    assert not any(line.startswith((b"x-mine", b"te:", b"transfer-encoding")) for line in lines)


def test_a_body_in_pieces_comes_with_its_length(house: House) -> None:
    pieces = [b"a" * 70_000, b"b" * 600_000]
    assert house.ask("/x", "POST", iter(pieces), **{"Transfer-Encoding": "chunked"}).status == 200
    (seen,) = house.staff.seen
    assert seen.body == b"".join(pieces) and b"content-length: 670000" in seen.head.lower()


def test_two_readings_of_a_length_are_none(house: House) -> None:
    """Request smuggling: h11 reads strictly, and what goes on is written anew."""
    for lines in (
        b"Content-Length: 4\r\nContent-Length: 5\r\n", b"Content-Length: +4\r\n", b"Transfer-Encoding: xchunked\r\n",
        b"Transfer-Encoding : chunked\r\n", b"Host: other\r\n",
    ):  # fmt: skip
        with house.raw(b"POST /x HTTP/1.1\r\nHost: localhost\r\n" + lines + b"\r\nabcdGET /y HTTP/1.1\r\n\r\n") as one:
            assert b" 400 " in one.recv(1000).split(b"\r\n")[0] or b" 501 " in one.recv(10), lines
    both = b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 4\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n"
    with house.raw(both) as one:
        one.recv(1000)
    assert [seen.body for seen in house.staff.seen] in ([], [b""])


def test_connections_are_used_again_and_heads_have_no_body(house: House) -> None:
    web = http.client.HTTPConnection("127.0.0.1", house.port, timeout=20)
    for _ in range(3):
        web.request("HEAD", "/big/5000")
        answer = web.getresponse()
        assert (answer.headers["Content-Length"], answer.read()) == ("5000", b"")
        web.request("GET", "/big/3000000")
        assert len(web.getresponse().read()) == 3_000_000
    web.close()
    with house.raw(b"GET /big/3 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 3) as one:
        until(lambda: len(house.staff.seen) == 9, "all three were answered")
        time.sleep(0.2)
        assert one.recv(5000).count(b"HTTP/1.1 200") == 3


def test_too_much_is_refused_before_it_is_read(house: House) -> None:
    with house.raw(b"POST /x HTTP/1.1\r\nHost: localhost\r\nContent-Length: 8000001\r\n\r\n") as one:
        assert b"413" in one.recv(1000) and house.staff.seen == []


def test_an_answer_that_ends_early_is_no_whole_answer(house: House) -> None:
    with pytest.raises((http.client.IncompleteRead, ConnectionError)):
        house.ask("/cut").read()


def test_a_process_that_is_not_there_is_told_in_a_sentence(house: House, tmp_path: Path) -> None:
    house.staff.server_close()
    answer = house.ask("/documents/")
    assert (answer.status, answer.headers["Retry-After"]) == (503, "5") and b"Try again" in answer.read()
    assert house.ask("/search/").status == 200


def test_who_reads_slowly_holds_no_thread(house: House) -> None:
    slow = [house.raw(b"GET /big/20000000 HTTP/1.1\r\nHost: localhost\r\n\r\n") for _ in range(12)]
    until(lambda: len(house.staff.seen) == 12 and not house.staff.at_work, "all answers were taken", 20)
    assert house.ask("/documents/").status == 200
    for one in slow:
        one.close()


def test_who_reads_no_answer_gets_no_other(house: House) -> None:
    """Twenty questions in one go cost one answer, until it is read."""
    with socket.socket() as one:
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.settimeout(20)
        one.connect(("127.0.0.1", house.port))
        one.sendall(b"GET /big/20000 HTTP/1.1\r\nHost: localhost\r\n\r\n" * 20)
        until(lambda: house.staff.seen, "the first is answered")
        time.sleep(1)
        assert len(house.staff.seen) == 1
        received = b""
        while received.count(b"x" * 20_000) < 20:
            piece = one.recv(65_536)
            assert piece, len(received)
            received += piece
    assert len(house.staff.seen) == 20 == received.count(b"HTTP/1.1 200")


def test_who_sends_slowly_holds_no_thread(house: House) -> None:
    slow = [house.raw(b"GET / HTTP/1.1\r\nHost: loc") for _ in range(50)]
    slow += [house.raw(b"POST / HTTP/1.1\r\nHost: localhost\r\nContent-Length: 10\r\n\r\n12345") for _ in range(50)]
    began = time.monotonic()
    assert house.ask("/documents/").status == 200 and time.monotonic() - began < 5
    assert len(house.staff.seen) == 1
    for one in slow:
        one.close()


def test_nobody_takes_the_threads_of_everybody(house: House) -> None:
    """A session has two requests at work, however many it sends; a colleague's goes at once."""
    greedy = [
        house.raw(b"GET /slow/1 HTTP/1.1\r\nHost: localhost\r\nCookie: a; sessionid=mine\r\n\r\n") for _ in range(10)
    ]
    until(lambda: house.staff.at_work == routes.STAFF.each, "two are at work")
    began = time.monotonic()
    assert house.ask("/documents/", Cookie="sessionid=colleague").status == 200
    assert time.monotonic() - began < 0.9 and house.staff.most_at_work == routes.STAFF.each + 1
    for one in greedy:
        one.close()


def test_it_answers_what_is_under_way_when_it_is_asked_to_end(house: House, tmp_path: Path) -> None:
    """And says nothing of the browsers that keep a connection."""
    with (
        house.raw(b"GET / HTTP/1.1\r\nHost: localhost\r\n\r\n") as kept,
        house.raw(b"GET /slow/1 HTTP/1.1\r\nHost: localhost\r\n\r\n") as one,
    ):
        assert kept.recv(1000).startswith(b"HTTP/1.1 200")
        until(lambda: house.staff.at_work, "it is under way")
        house.front.send_signal(signal.SIGTERM)
        assert one.recv(1000).startswith(b"HTTP/1.1 200")
        assert house.front.wait(10) == 0
    assert (tmp_path / "said").read_text() == ""


def run_apart(work: Coroutine[Any, Any, Any]) -> Any:
    """In a thread of its own: where a browser was opened before, this one has a loop that goes on."""
    with ThreadPoolExecutor(1) as pool:
        return pool.submit(asyncio.run, work).result(timeout=60)


def test_turns_go_round_by_address_and_then_by_session() -> None:
    order: list[str] = []

    async def ask(turns: RequestTurns, key: tuple[str, str]) -> None:
        async with turns.one(key, 5):
            order.append("/".join(key))
            await asyncio.sleep(0.01)

    async def all_of_them() -> None:
        turns = RequestTurns(1, 1)
        greedy = [asyncio.create_task(ask(turns, ("far", f"s{number % 2}"))) for number in range(6)]
        await asyncio.sleep(0)
        await asyncio.gather(*greedy, ask(turns, ("near", "one")))
        with pytest.raises(TimeoutError):
            async with turns.one(("far", "x"), 1), turns.one(("far", "x"), 0.05):
                pass
        async with turns.one(("far", "x"), 1):  # and nothing was lost by it
            pass

    run_apart(all_of_them())
    assert order.index("near/one") <= 2 and order[:3].count("far/s0") == 1


def test_who_never_pauses_has_one_request_at_work(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearinghouse.gateway.request_turns.MUCH", 0.2)
    key, most = ("far", "greedy"), 0

    async def ask(turns: RequestTurns, at_work: list[int]) -> None:
        nonlocal most
        async with turns.one(key, 5):
            at_work[0] += 1
            most = max(most, at_work[0])
            await asyncio.sleep(0.15)
            at_work[0] -= 1

    async def rounds() -> list[int]:
        nonlocal most
        turns, found = RequestTurns(8, 2), []
        for pause in (0.0, 0.0, 0.6):
            await asyncio.sleep(pause)
            at_work, most = [0], 0
            await asyncio.gather(*(ask(turns, at_work) for _ in range(4)))
            found.append(most)
        return found

    assert run_apart(rounds()) == [2, 1, 2]


def test_who_asks_for_very_much_rests_and_nothing_of_it_is_lost(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("clearinghouse.gateway.request_turns.MUCH", 0.05)
    monkeypatch.setattr("clearinghouse.gateway.request_turns.TOO_MUCH", 0.1)
    answered = {"greedy": 0, "other": 0}

    async def ask(turns: RequestTurns, who: str) -> None:
        async with turns.one(("far", who), 5):
            answered[who] += 1

    async def all_of_them() -> float:
        turns, began = RequestTurns(8, 2), time.monotonic()
        greedy = [asyncio.create_task(ask(turns, "greedy")) for _ in range(80)]
        await asyncio.sleep(0.3)
        await ask(turns, "other")
        assert answered["greedy"] < 80
        await asyncio.gather(*greedy)
        return time.monotonic() - began

    took = run_apart(all_of_them())
    assert answered == {"greedy": 80, "other": 1}
    assert took > 0.6  # ten at once, then a hundred a second


def test_only_an_import_may_be_long(house: House) -> None:
    long = b"x" * 9_000_000
    for path, length in (("/documents/1/crawl-points/import/?a=b", len(long)), ("/documents/1/edit/", 0)):
        answer = house.ask(path, "POST", long)
        assert answer.status == (200 if length else 413)
    assert [len(one.body) for one in house.staff.seen] == [len(long)]
