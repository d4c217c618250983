"""One run that comes to know a million addresses: how fast, how large, how long its end takes; proved by check_ledger.

python -m tests.bench.million [--pages 17000] [--links 60] [--fan 100] [--tenth 1]

Twice: under a maximum, where most addresses wait in the queue and are skipped at the end; and under a depth limit,
where they are skipped as they are found. Each page links to so many others that no page had named before, so that
nothing is found twice; a tenth of it comes first, so that what an address takes is what the two differ by. The site is
made as it is asked for, by a process that does nothing else.
"""

import asyncio
import json
import resource
import signal
import subprocess
import sys
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
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
    manage,
    options_of,
    wait_for_port,
)
from tests.bench.growth import watch

BYTES_BUDGET = 120  # of an instance, for each address it knows
MEMORY_BUDGET = 250.0  # MB of an instance with its helpers
DEPTH = 2  # of the crawl under a depth limit: 1 + fan + fan × fan pages are crawled
_HEAD = b"HTTP/1.1 200 OK\r\nContent-Type: text/html; charset=utf-8\r\nContent-Length: %d\r\n\r\n"
_TEXT = "A measure is described here, with its source. " * 10


def path_of(number: int) -> str:
    return f"/d{number % 100}/p{number}.html"


def page(number: int, links: int) -> bytes:
    children = range(number * links + 1, number * links + links + 1)
    anchors = "".join(f'<li><a href="/d{n % 100}/p{n}.html">Measure {n}</a></li>' for n in children)
    start = f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body><p>{_TEXT}{number}</p>"
    return f"{start}<ul>{anchors}</ul></body></html>".encode()


class Server(asyncio.Protocol):
    """One connection; every address is a page."""

    asked = 0
    last = 0.0

    def __init__(self, links: int) -> None:
        self._links = links

    def connection_made(self, transport: asyncio.BaseTransport) -> None:
        self._transport = transport

    def data_received(self, data: bytes) -> None:
        path = data.split(b" ", 2)[1]
        Server.asked, Server.last = Server.asked + 1, time.monotonic()
        number = path[path.rfind(b"p") + 1 : -5] if path.endswith(b".html") else b""
        answer = b"HTTP/1.1 404 Not Found\r\nContent-Length: 0\r\n\r\n"
        if number.isdigit():
            body = page(int(number), self._links)
            answer = _HEAD % len(body) + body
        self._transport.write(answer)  # type: ignore[attr-defined]


async def serve(port: int, links: int) -> None:
    """Until it is asked to end; then it tells how often it was asked for something, and when for the last time."""
    over, loop = asyncio.Event(), asyncio.get_running_loop()
    loop.add_signal_handler(signal.SIGTERM, over.set)
    async with await loop.create_server(lambda: Server(links), "127.0.0.1", port, backlog=1024):
        await over.wait()
    print(json.dumps({"asked": Server.asked, "last": Server.last}))


@dataclass
class Served:
    address: str
    asked: int = 0
    last: float = 0.0  # by the clock all processes of a machine share


@contextmanager
def site(links: int) -> Iterator[Served]:
    port = free_port()
    command = [PYTHON, "-m", "tests.bench.million", "serve", str(port), str(links)]
    server = subprocess.Popen(command, env=machine.environment(), cwd=BASE, stdout=subprocess.PIPE, text=True)
    served = Served(f"http://127.0.0.1:{port}")
    try:
        wait_for_port(port)
        yield served
    finally:
        server.terminate()
        told = json.loads(server.communicate(timeout=20)[0] or "{}")
        served.asked, served.last = told.get("asked", 0), told.get("last", 0.0)


@dataclass(frozen=True)
class Way:
    """How most addresses of a run are kept out, and how many are crawled."""

    name: str
    links: int
    depth: int
    most: int = 0

    @property
    def options(self) -> list[str]:
        return ["--depth", str(self.depth), "--max-pages", str(self.most)]


@dataclass
class Figures:
    way: Way
    result: dict[str, object] = field(default_factory=dict)
    seconds: float = 0.0
    processor: float = 0.0  # seconds of all processes of the crawl: those of a busy machine too
    together: float = 0.0  # peak MB with the helper processes
    main: float = 0.0
    ending: float = 0.0  # seconds after the last request
    megabytes: float = 0.0  # of the database with its log
    checking: float = 0.0  # seconds check_ledger took

    @property
    def known(self) -> int:
        return int(str(self.result["found"]))


def measured(way: Way, work: Path) -> Figures:
    figures, var = Figures(way), work / "house"
    with site(way.links) as served:
        house(var, [])
        document = str(manage(var, "add_document", "A very large site")["doc_id"])
        manage(
            var, "add_crawl_point", document, served.address + path_of(0), "--root", f"{served.address}/", *way.options
        )
        began, before = time.monotonic(), children_seconds()
        process = subprocess.Popen(CRAWL, env=environment(var), stdout=subprocess.PIPE, text=True)
        figures.together, figures.main = watch(process)
        ended = time.monotonic()
        figures.result = json.loads(process.communicate()[0])
        figures.processor = children_seconds() - before
    figures.seconds, figures.ending = ended - began, ended - served.last
    figures.megabytes = sum(file.stat().st_size for file in var.glob("webcrawl.sqlite3*")) / 1024**2
    began = time.monotonic()
    manage(var, "check_ledger", str(figures.result["run"]))  # raises when the run does not balance
    figures.checking = time.monotonic() - began
    return figures


def children_seconds() -> float:
    """Processor time of all processes that were started from here and have ended."""
    spent = resource.getrusage(resource.RUSAGE_CHILDREN)
    return spent.ru_utime + spent.ru_stime


def ways(pages: int, links: int, fan: int) -> list[Way]:
    deep = Way(f"depth limit {DEPTH}, {fan} links a page", fan, DEPTH)
    return [Way(f"maximum {pages:,}, {links} links a page", links, 99, pages), *([deep] if fan else [])]


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=17_000, links=60, fan=100, tenth=1)
    for number, large in enumerate(ways(options.pages, options.links, options.fan)):
        small = ways(max(1, options.pages // 10), options.links, max(2, round(options.fan * 0.32)))[number]
        found = []
        for way in (small, large) if options.tenth else (large,):
            with folder() as work:
                found.append(measured(way, work))
                print(f"{found[-1].known:,} addresses, {found[-1].seconds:.0f} s", flush=True)
        report(found)


def report(found: list[Figures]) -> None:
    rows = []
    for one in found:
        more = one.known - found[0].known
        each = (one.main - found[0].main) * 1024**2 / more if more else 0.0
        rows.append((
            one.way.name, f"{one.known:,}", crawled(one.result), f"{one.seconds:.1f}", f"{one.processor:.1f}",
            f"{crawled(one.result) / one.seconds:.0f}", f"{one.known / one.seconds:,.0f}", f"{one.ending:.1f}",
            f"{one.together:.0f}", f"{one.main:.0f}", f"{each:.0f}" if more else "",
            f"{one.megabytes:.0f}", f"{one.megabytes * 1024**2 / one.known:.0f}", f"balanced, {one.checking:.1f} s",
        ))  # fmt: skip
    if rows[-1][10]:
        held = machine.kept(float(rows[-1][10]) <= BYTES_BUDGET), machine.kept(found[-1].together <= MEMORY_BUDGET)
        budgets = (f"≤ {MEMORY_BUDGET:.0f} {held[1]}", "", f"≤ {BYTES_BUDGET} {held[0]}", "", "", "")
        rows.append(("budget", "", "", "", "", "", "", "", *budgets))
    heads = (
        "most kept out by",
        "addresses known",
        "crawled",
        "seconds",
        "of processors",
        "pages/s",
        "addresses/s",
        "after the last request, s",
        "peak MB with helpers",
        "main process",
        "bytes an address more",
        "database MB",
        "bytes an address",
        "check_ledger",
    )
    machine.table("One run that knows very many addresses", heads, rows)


if __name__ == "__main__":
    if sys.argv[1:2] == ["serve"]:
        asyncio.run(serve(int(sys.argv[2]), int(sys.argv[3])))
    else:
        main()
