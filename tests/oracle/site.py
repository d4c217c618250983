"""A world over real HTTP, in a process of its own: threads and forks of the same process do not go together."""

import html
import json
import os
import signal
import socket
import threading
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.request import urlopen

from .world import Node, World

LOG = "/.requests"


class Served:
    """A world at its address."""

    def __init__(self, world: World, base: str) -> None:
        self.world, self.base = world, base

    def requested(self) -> set[str]:
        """Every URL that was asked for since the start."""
        with urlopen(self.base + LOG) as answer:
            return set(json.load(answer))


def open_socket() -> socket.socket:
    return socket.create_server(("127.0.0.1", 0), backlog=128)


@contextmanager
def served(world: World, listening: socket.socket) -> Iterator[Served]:
    base = f"http://127.0.0.1:{listening.getsockname()[1]}"
    child = os.fork()
    if child == 0:
        _serve_forever(world, listening)
    try:
        yield Served(world, base)
    finally:
        os.kill(child, signal.SIGKILL)
        os.waitpid(child, 0)


def _serve_forever(world: World, listening: socket.socket) -> None:
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    server = ThreadingHTTPServer(
        listening.getsockname(), type("OfWorld", (Handler,), {"world": world, "seen": set()}), bind_and_activate=False
    )
    server.daemon_threads = True
    server.socket.close()
    server.socket = listening
    threading.Thread(target=server.serve_forever, daemon=True).start()
    signal.pause()
    os._exit(0)


class Handler(BaseHTTPRequestHandler):
    world: World
    seen: set[str]

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True

    def do_GET(self) -> None:
        if self.path == LOG:
            self._send(200, json.dumps(sorted(self.seen)).encode(), {"Content-Type": "application/json"})
            return
        if "X-Reference" not in self.headers:
            self.seen.add(f"http://{self.headers['Host']}{self.path}")
        if self.path == "/robots.txt":
            self._send(200 if self.world.robots else 404, self.world.robots.encode(), {"Content-Type": "text/plain"})
        else:
            self._answer(self.world.nodes.get(self.path) or Node(status=404))

    def _answer(self, node: Node) -> None:
        headers = {"Content-Type": node.kind} | ({"Location": node.location} if node.location else {})
        if node.cookie and "seen=1" not in self.headers.get("Cookie", ""):
            self._send(302, b"", {"Location": self.path, "Set-Cookie": "seen=1; Path=/"})
        elif node.etag and self.headers.get("If-None-Match") == '"1"':
            self._send(304, b"", {"ETag": '"1"'})
        else:
            self._send(node.status, body_of(self.path, node), headers | ({"ETag": '"1"'} if node.etag else {}))

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body if status != 304 else b"")

    def handle(self) -> None:
        with suppress(ConnectionError):  # a crawler that was killed hangs up in the middle
            super().handle()

    def log_message(self, *args: Any) -> None:
        """Quiet."""


def body_of(path: str, node: Node) -> bytes:
    name = "twin" if node.duplicate else html.escape(path)
    robots = '<meta name="robots" content="nofollow">' if node.nofollow else ""
    anchors = "".join(
        f'<li><a href="{html.escape(href)}"{" rel=nofollow" if nofollow else ""}>there</a>'
        for href, nofollow in node.links
    )
    return f"<!doctype html><html><head><title>{name}</title>{robots}</head><body>{name}{anchors}".encode()
