"""Owns: speaking HTTP for the demo site. Does not: know its pages. Called by: __main__, tests."""

import base64
import hashlib
import time
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from urllib.parse import urlsplit

from . import MEMBER
from .demo_site import DemoResponse, answers

NOT_FOUND = DemoResponse(b"<!DOCTYPE html><title>Not found</title><h1>This page is gone</h1>", status=404)
OPENED = "Basic " + base64.b64encode(":".join(MEMBER).encode()).decode()


class Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    server_version = "Northfield"
    sys_version = ""
    timeout = 30

    def do_GET(self) -> None:
        self._answer(answers().get(urlsplit(self.path).path, NOT_FOUND))

    do_HEAD = do_GET

    def _answer(self, answer: DemoResponse) -> None:
        if answer.members_only and self.headers.get("Authorization") != OPENED:
            self._send(401, b"<h1>Members only</h1>", {"WWW-Authenticate": 'Basic realm="Members"'})
            return
        time.sleep(answer.delay)
        headers = {"Content-Type": answer.type}
        if answer.location:
            headers["Location"] = answer.location
        if answer.status == 200:
            mark = f'"{hashlib.sha256(answer.body).hexdigest()[:20]}"'
            headers["ETag"] = mark
            if self.headers.get("If-None-Match") == mark:
                self._send(304, b"", {"ETag": mark})
                return
        self._send(answer.status, answer.body, headers)

    def _send(self, status: int, body: bytes, headers: dict[str, str]) -> None:
        self.send_response(status)
        for name, value in headers.items():
            self.send_header(name, value)
        if status != 304:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        if self.command != "HEAD":
            self.wfile.write(body)

    def log_message(self, format: str, *args: object) -> None:
        """Quiet: the terminal belongs to people."""


class Server(ThreadingHTTPServer):
    daemon_threads = True
    allow_reuse_address = True
    request_queue_size = 128


def open_site(port: int, host: str = "127.0.0.1") -> Server:
    answers()  # built before the first visitor comes
    return Server((host, port), Handler)
