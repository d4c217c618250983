"""A site made of a dictionary, served over real HTTP: pages with links, redirects, statuses, and a log of requests."""

import threading
from collections import Counter
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from typing import Any


@dataclass
class Page:
    links: list[str] = field(default_factory=list)
    status: int = 200
    location: str = ""
    body: bytes = b""
    type: str = "text/html; charset=utf-8"
    headers: dict[str, str] = field(default_factory=dict)
    delay: float = 0.0
    script: list["Page"] = field(default_factory=list)  # answers before this one, in order


@dataclass
class Site:
    pages: dict[str, Page]
    address: str = ""
    requests: Counter[str] = field(default_factory=Counter)
    seen: list[tuple[str, dict[str, str]]] = field(default_factory=list)

    def url(self, path: str) -> str:
        return self.address + path


def html(title: str, links: list[str], text: str = "") -> bytes:
    anchors = "".join(f'<li><a href="{link}">to {link}</a></li>' for link in links)
    return (
        f"<!doctype html><html lang=en><head><title>{title}</title><meta name=description content='About {title}'>"
        f"</head><body><h1>{title}</h1><p>{text or title}</p><ul>{anchors}</ul></body></html>"
    ).encode()


@contextmanager
def serve(pages: dict[str, Page], port: int = 0) -> Iterator[Site]:
    site = Site(pages)

    class Handler(BaseHTTPRequestHandler):
        protocol_version = "HTTP/1.1"

        def do_GET(self) -> None:
            site.requests[self.path] += 1
            site.seen.append((self.path, {key.lower(): value for key, value in self.headers.items()}))
            page = site.pages.get(self.path) or Page(status=404, body=b"<p>not found</p>")
            if page.script:
                page = page.script.pop(0)
            if page.delay:
                threading.Event().wait(page.delay)
            body = b"" if page.status in {204, 304} else page.body or html(self.path, page.links)
            self.send_response(page.status)
            if page.location:
                self.send_header("Location", page.location)
            self.send_header("Content-Type", page.type)
            self.send_header("Content-Length", str(len(body)))
            for name, value in page.headers.items():
                self.send_header(name, value)
            self.end_headers()
            self.wfile.write(body)

        def handle(self) -> None:
            with suppress(ConnectionError):  # a crawler that was killed hangs up in the middle
                super().handle()

        def log_message(self, *args: Any) -> None:
            """Quiet: the log of the site is `requests`."""

    server = ThreadingHTTPServer(("127.0.0.1", port), Handler)
    server.daemon_threads = True
    threading.Thread(target=server.serve_forever, kwargs={"poll_interval": 0.05}, daemon=True).start()
    site.address = f"http://127.0.0.1:{server.server_address[1]}"
    try:
        yield site
    finally:
        server.shutdown()
        server.server_close()
