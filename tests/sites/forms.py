"""A site with a sign-in form, as many are made: a session cookie, a hidden token, and redirects to the form."""

import secrets
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any
from urllib.parse import parse_qs, urlsplit

USER, PASSWORD = "reader", "Gehéim C4n4ry&=+"
SIGNED_IN = "Welcome back"


@dataclass
class Asked:
    method: str
    path: str
    headers: dict[str, str]
    body: str
    at: float = field(default_factory=time.monotonic)


@dataclass
class FormSite:
    address: str = ""
    pages: dict[str, bytes] = field(default_factory=dict)  # what a member sees
    redirects: dict[str, str] = field(default_factory=dict)
    open_pages: dict[str, bytes] = field(default_factory=dict)  # what everybody sees
    wall: str = "redirect"  # or "page": the form itself, with 200
    action: str = "/login"
    method: str = "post"
    pages_a_session: int = 1_000_000
    sign_ins: int = 1_000_000  # after so many, the password is another
    landing: str = "/home"
    answer_of_form: int = 303
    password: str = PASSWORD
    seen: list[Asked] = field(default_factory=list)
    sessions: dict[str, int] = field(default_factory=dict)
    tokens: set[str] = field(default_factory=set)
    slow: float = 0.0  # seconds before the sign-in page answers
    broken: int = 0  # answers of the sign-in page that are a 503 first

    def url(self, path: str) -> str:
        return self.address + path

    def asked(self, method: str, path: str) -> int:
        return sum((one.method, one.path.partition("?")[0]) == (method, path) for one in self.seen)

    def form(self, message: str = "") -> bytes:
        token = secrets.token_hex(8)
        self.tokens.add(token)
        return f"""<!doctype html><title>Sign in</title><form action=/search><input name=q></form><p>{message}</p>
            <form method="{self.method}" action="{self.action}"><input type=hidden name=csrf value="{token}">
            <input name=user><INPUT type="password" name='pass'><input type=checkbox name=keep value=yes checked>
            <input type=checkbox name=spam value=yes><select name=lang><option>de<option value=en selected>English
            </select><button name=go value=1>Go</button><button name=other value=2>Forgot</button></form>""".encode()


class _Handler(BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"
    disable_nagle_algorithm = True
    site: FormSite

    def do_GET(self) -> None:
        self._note("")
        path = urlsplit(self.path).path
        if path == "/robots.txt":
            self._send(404)
        elif path == "/login":
            time.sleep(self.site.slow)
            self.site.broken -= 1
            self._send(503 if self.site.broken >= 0 else 200, self.site.form(), **{"Set-Cookie": "seen=1; Path=/"})
        elif path in self.site.open_pages:
            self._send(200, self.site.open_pages[path])
        elif path in self.site.redirects:
            self._send(302, Location=self.site.redirects[path])
        elif not self._is_member():
            if self.site.wall == "page":
                self._send(200, self.site.form())
            else:
                self._send(302, Location=f"/login?next={path}")
        elif path == "/logout":
            self.site.sessions.clear()
            self._send(200, b"<p>bye")
        elif path in self.site.pages:
            self._send(200, self.site.pages[path])
        else:
            self._send(404)

    def do_POST(self) -> None:
        body = self.rfile.read(int(self.headers.get("Content-Length", 0))).decode()
        self._note(body)
        form = {name: values[0] for name, values in parse_qs(body, keep_blank_values=True).items()}
        token = form.pop("csrf", "")
        time.sleep(self.site.slow)
        expected = {"user": USER, "pass": self.site.password, "keep": "yes", "lang": "en", "go": "1"}
        if token not in self.site.tokens or "seen=1" not in self.headers.get("Cookie", ""):
            self._send(403)
        elif form != expected or self.site.sign_ins < 1:
            self._send(200, self.site.form("Wrong user or password"))
        else:
            self.site.tokens.discard(token)
            self.site.sign_ins -= 1
            session = secrets.token_hex(8)
            self.site.sessions[session] = 0
            cookie = f"session={session}; Path=/; HttpOnly"
            self._send(self.site.answer_of_form, Location=self.site.landing, **{"Set-Cookie": cookie})

    def _is_member(self) -> bool:
        pairs = [pair.strip().partition("=") for pair in self.headers.get("Cookie", "").split(";")]
        session = {name: value for name, _, value in pairs}.get("session", "")
        if session not in self.site.sessions:
            return False
        self.site.sessions[session] += 1
        if self.site.sessions[session] > self.site.pages_a_session:
            del self.site.sessions[session]
            return False
        return True

    def _note(self, body: str) -> None:
        headers = {name.lower(): value for name, value in self.headers.items()}
        self.site.seen.append(Asked(self.command, self.path, headers, body))

    def _send(self, status: int, body: bytes = b"", **headers: str) -> None:
        self.send_response(status)
        for name, value in (
            {"Content-Type": "text/html; charset=utf-8", "Content-Length": str(len(body))} | headers
        ).items():
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
def serve(**options: Any) -> Iterator[FormSite]:
    site = FormSite(**options)
    site.pages.setdefault("/home", f"<title>Home</title><p>{SIGNED_IN}</p>".encode())
    server = _Server(("127.0.0.1", 0), type("Handler", (_Handler,), {"site": site}))
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
