"""A site behind NTLM: the server side is pyspnego's, each connection is let in by itself, as IIS does it."""

import base64
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

import spnego
from spnego.channel_bindings import GssChannelBindings
from spnego.exceptions import SpnegoError

from tests.sites.certificates import Authority

USER, PASSWORD = "CORP\\reader", "Pässwörd-C4n4ry"


@dataclass
class NtlmSite:
    address: str
    pages: dict[str, tuple[int, dict[str, str], bytes]] = field(default_factory=dict)
    seen: list[tuple[str, str]] = field(default_factory=list)  # path, first word and length of Authorization
    times: list[float] = field(default_factory=list)  # of all requests
    served: list[str] = field(default_factory=list)  # paths given to somebody who is signed in
    connections: int = 0
    refusal: bytes = b"who are you?"
    bound_to: bytes = b""  # channel bindings the server insists on

    def url(self, path: str) -> str:
        return self.address + path


class _Handler(BaseHTTPRequestHandler):
    """One connection."""

    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    site: NtlmSite

    def setup(self) -> None:
        super().setup()
        self.site.connections += 1
        self.context: Any = None

    def do_GET(self) -> None:
        given = self.headers.get("Authorization", "")
        self.site.seen.append((self.path, given[:4]))
        self.site.times.append(time.monotonic())
        if self.context is not None and self.context.complete and not given:
            self._page()
        elif given.startswith("NTLM "):
            self._step(base64.b64decode(given[5:]))
        else:
            self._refuse("NTLM")

    def _step(self, token: bytes) -> None:
        if self.context is None or self.context.complete:
            bindings = GssChannelBindings(application_data=self.site.bound_to) if self.site.bound_to else None
            options = spnego.NegotiateOptions.use_ntlm
            self.context = spnego.server(protocol="ntlm", options=options, channel_bindings=bindings)
        try:
            answer = self.context.step(token)
        except SpnegoError:
            self.context = None
            self._refuse("NTLM")
            return
        if self.context.complete:
            self._page()
        else:
            self._refuse("NTLM " + base64.b64encode(answer or b"").decode())

    def _page(self) -> None:
        self.site.served.append(self.path)
        status, headers, body = self.site.pages.get(self.path, (404, {}, b"not here"))
        self._send(status, {"Content-Type": "text/html"} | headers, body)

    def _refuse(self, challenge: str) -> None:
        self._send(401, {"WWW-Authenticate": challenge}, self.site.refusal)

    def _send(self, status: int, headers: dict[str, str], body: bytes) -> None:
        self.send_response(status)
        for name, value in (headers | {"Content-Length": str(len(body))}).items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(body)

    def handle(self) -> None:
        with suppress(ConnectionError):
            super().handle()

    def log_message(self, *args: Any) -> None:
        """Quiet: `seen` is the log."""


class _Server(ThreadingHTTPServer):
    daemon_threads = True
    request_queue_size = 64  # many may come at once


@contextmanager
def serve(users: Path, authority: Authority | None = None) -> Iterator[NtlmSite]:
    """`users` is a file for pyspnego (NTLM_USER_FILE must name it), written here."""
    users.write_text(f"CORP:reader:{PASSWORD}\n")
    site = NtlmSite("")
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    if authority is not None:
        server.socket = authority.server.wrap_socket(server.socket, server_side=True)
        site.bound_to = b"tls-server-end-point:" + authority.digest
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    site.address = f"{'https' if authority else 'http'}://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
