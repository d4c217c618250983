"""Many slow hosts: 200 documents on 200 hosts that answer after 100 ms, no pause, 2 connections per host.

python -m tests.bench.slow_hosts [--hosts 200] [--pages 40]

The peer is the ideal (every connection always waiting for an answer), or the same crawl of hosts that answer at once
(all that the processor allows), whichever is lower.
"""

import asyncio
import json
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path

from tests.bench import machine
from tests.bench.crawl import (
    BASE,
    CRAWL,
    PYTHON,
    crawled,
    environment,
    folder,
    free_port,
    house,
    options_of,
    wait_for_port,
)

BUDGET = 0.8
DELAY = 0.1
CONNECTIONS = 2
# The speed `fast` with other connections; there is no setting for it yet, so the table of speeds is changed.
_CRAWL = f"""
import sys
import django; django.setup()
from crawler.sites.speeds import SPEEDS
SPEEDS["fast"] = (0.0, {CONNECTIONS})
from django.core.management import execute_from_command_line
execute_from_command_line(["manage.py", *sys.argv[1:]])
"""


def page(number: int, pages: int) -> bytes:
    """Of 2 KB. The first links to all, so that the connections and not the links are what is waited for."""
    targets = range(pages) if number == 0 else (0, (number + 1) % pages, number * 7 % pages)
    links = "".join(f'<li><a href="/p{n}.html">Measure {n}</a></li>' for n in targets)
    text = "A measure is described here, with its source. " * 40
    start = f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body><ul>{links}</ul>"
    return f"{start}<p>{text[: max(0, 2000 - len(start))]}</p></body></html>".encode()


class Site(asyncio.Protocol):
    """One connection: the answer to each request comes after the delay; the same pages whatever the host."""

    def __init__(self, answers: dict[bytes, bytes], delay: float) -> None:
        self._answers, self._delay = answers, delay

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        answer = self._answers.get(path, b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n")
        asyncio.get_running_loop().call_later(self._delay, self._answer, answer)

    def _answer(self, answer: bytes) -> None:
        if not self._transport.is_closing():
            self._transport.write(answer)  # type: ignore[attr-defined]


async def serve(port: int, pages: int, delay: float) -> None:
    answers = {}
    for number in range(pages):
        body = page(number, pages)
        head = f"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: {len(body)}\r\n\r\n"
        answers[f"/p{number}.html".encode()] = head.encode() + body
    server = await asyncio.get_running_loop().create_server(lambda: Site(answers, delay), "0.0.0.0", port, backlog=1024)
    await server.serve_forever()


@contextmanager
def hosts(pages: int, delay: float) -> Iterator[int]:
    """The port on which every address of this machine answers."""
    port = free_port()
    command = [PYTHON, "-m", "tests.bench.slow_hosts", "serve", str(port), str(pages), str(delay)]
    server = subprocess.Popen(command, env=machine.environment(), cwd=BASE)
    try:
        wait_for_port(port)
        yield port
    finally:
        server.terminate()
        server.wait()


def measured(count: int, pages: int, delay: float, work: Path) -> tuple[int, float]:
    with hosts(pages, delay) as port:
        sites = [f"http://127.0.1.{number}:{port}" for number in range(1, count + 1)]
        house(work / "house", [(f"{one}/p0.html", f"{one}/") for one in sites])
        command = [PYTHON, "-c", _CRAWL, *CRAWL[2:]]
        began = time.monotonic()
        done = subprocess.run(command, env=environment(work / "house"), stdout=subprocess.PIPE, check=True)
        return crawled(json.loads(done.stdout)), time.monotonic() - began


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", hosts=200, pages=40)
    count = min(options.hosts, 254)
    found = []
    for delay in (DELAY, 0.0):
        with folder() as work:
            found.append(measured(count, options.pages, delay, work))
    report(count, found)


def report(count: int, found: list[tuple[int, float]]) -> None:
    (pages, seconds), (_, limit_seconds) = found
    rate, ideal, limit = pages / seconds, count * CONNECTIONS / DELAY, found[1][0] / limit_seconds
    ratio = rate / min(ideal, limit)
    held = f"{ratio:.2f} × of the lower one; ≥ {BUDGET} × {machine.kept(ratio >= BUDGET)}"
    rows = [
        (f"answers after {DELAY * 1000:.0f} ms", pages, f"{seconds:.2f}", f"{rate:.0f}", held),
        ("ideal: every connection always in use", "", "", f"{ideal:.0f}", f"{rate / ideal:.2f} ×"),
        (
            "answers at once: the processor's limit",
            found[1][0],
            f"{limit_seconds:.2f}",
            f"{limit:.0f}",
            f"{rate / limit:.2f} ×",
        ),
    ]
    title = f"{count} documents on {count} hosts, no pause, {CONNECTIONS} connections per host, one instance"
    machine.table(title, ("hosts", "pages", "seconds", "pages/s", "ratio"), rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(int(sys.argv[2]), int(sys.argv[3]), float(sys.argv[4])))
    else:
        main()
