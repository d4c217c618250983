"""Clients that are slow on purpose: with their headers, with their bodies, and in reading what they asked for."""

import socket
import threading
import time
from collections.abc import Callable
from typing import NamedTuple, Self

EVERY = 1.0  # seconds between two bytes
_HEAD = b"GET /search/?q=drip HTTP/1.1\r\nHost: localhost\r\nX-Slow: "
_BODY = b"POST /sign-in/ HTTP/1.1\r\nHost: localhost\r\nContent-Length: 100000\r\nContent-Type: text/plain\r\n\r\n"


class Drip(NamedTuple):
    name: str
    first: bytes  # sent at once
    then: bytes  # byte by byte, again and again; nothing: its answer is read so instead


HEADERS = Drip("slow headers", _HEAD, b"a")
BODIES = Drip("slow bodies", _BODY, b"a")


def readers(of: str, path: str) -> Drip:
    """Asks for the same page many times, and reads a byte now and then."""
    return Drip(f"slow reading of {of}", f"GET {path} HTTP/1.1\r\nHost: localhost\r\n\r\n".encode() * 20, b"")


def all_drips(stylesheet: str) -> tuple[Drip, ...]:
    return HEADERS, BODIES, readers("a file", stylesheet), readers("a search", "/search/?q=quality")


class Drips:
    """`count` such clients at a port, for as long as this is entered; one that is sent away comes back."""

    def __init__(self, port: int, drip: Drip, count: int) -> None:
        self._port, self._drip, self._count = port, drip, count
        self._over = threading.Event()
        self._thread = threading.Thread(target=self._work, daemon=True)
        self.sent_away = 0

    def __enter__(self) -> Self:
        self._thread.start()
        time.sleep(2 * EVERY)
        return self

    def __exit__(self, *_: object) -> None:
        self._over.set()
        self._thread.join(10)

    def _work(self) -> None:
        here = [self._come() for _ in range(self._count)]
        while not self._over.wait(EVERY):
            here = [one if self._goes_on(one) else self._again(one) for one in here]
        for one in here:
            one.close()

    def _come(self) -> socket.socket:
        one = socket.socket()
        one.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 4096)
        one.connect(("127.0.0.1", self._port))
        one.sendall(self._drip.first)
        return one

    def _goes_on(self, one: socket.socket) -> bool:
        try:
            if self._drip.then:
                one.send(self._drip.then)
                one.setblocking(False)
                return bool(one.recv(65_536))
            one.setblocking(False)
            return bool(one.recv(1))
        except BlockingIOError:
            return True
        except OSError:
            return False
        finally:
            one.setblocking(True)

    def _again(self, one: socket.socket) -> socket.socket:
        self.sent_away += 1
        one.close()
        return self._come()


def waited(ask: Callable[[], None], times: int, pause: float = 0.05) -> list[float]:
    """Seconds for each of so many requests, one after the other."""
    found = []
    for _ in range(times):
        began = time.perf_counter()
        ask()
        found.append(time.perf_counter() - began)
        time.sleep(pause)
    return sorted(found)
