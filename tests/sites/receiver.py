"""An address for webhooks: keeps what is sent, answers with the status it is told to."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


class Receiver(ThreadingHTTPServer):
    daemon_threads = True

    def __init__(self) -> None:
        super().__init__(("127.0.0.1", 0), _Desk)
        self.calls: list[dict[str, Any]] = []
        self.status = 200

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Desk(BaseHTTPRequestHandler):
    server: Receiver

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers["Content-Length"]))
        self.server.calls.append({"path": self.path, "agent": self.headers["User-Agent"], "body": json.loads(body)})
        self.send_response(self.server.status)
        if self.server.status in (301, 302, 307):
            self.send_header("Location", f"{self.server.url}/elsewhere")
        self.send_header("Content-Length", "0")
        self.end_headers()

    def log_message(self, *arguments: Any) -> None:
        pass


@contextmanager
def receiver() -> Iterator[Receiver]:
    with Receiver() as server:
        threading.Thread(target=server.serve_forever, daemon=True).start()
        try:
            yield server
        finally:
            server.shutdown()
