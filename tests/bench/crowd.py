"""Many people beside two instances at full speed: 10,000 requests, of which none may fail or find a locked database;
twenty viewers of one run, as the page polls, and what they take of a core; and 50 people at work beside a crawl and a
propagation, who shall not wait much longer than 5 of them (see at_work).

python -m tests.bench.crowd [--requests 10000] [--clients 4] [--pages 15000] [--seconds 60]
                             [--viewers 20] [--people 50] [--rounds 3]

0 requests, viewers or people leave that part out. Every twentieth request writes: a new crawl point (library), or the
speed of the run (WebCrawl). Viewers look as static/live.js does: every two seconds while somebody uses the page, every
fifteen after two minutes.
"""

import itertools
import os
import re
import threading
import time
from argparse import Namespace
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ThreadPoolExecutor
from contextlib import contextmanager
from dataclasses import dataclass, field
from pathlib import Path

import requests

from crawler.engine import process_limits
from tests.bench import at_work, ground, machine, site
from tests.bench.crawl import CRAWL, fill, folder, house, manage, nginx, options_of, start_of
from tests.bench.screens import administrator, crawling, in_background, signed_in, web

LOOKS = (
    "/", "/documents/", "/documents/1/crawl-points/", "/crawls/", "/crawls/{run}/", "/crawls/{run}/live?since=x",
    "/crawls/{run}/pages/", "/crawls/{run}/urls/", "/crawls/{run}/errors/", "/crawls/{run}/hosts/",
    "/crawls/{run}/log/", "/crawl-points/", "/reports/coverage/", "/search/?q=measures",
)  # fmt: skip
WRITES = 20  # every so many requests
WRITTEN = 50  # documents that get new crawl points
PAUSES = (15.0, 2.0)  # between two polls of a viewer
SHARE = 0.05  # of one core
CRAWLED = 12  # documents that are crawled one after the other, again and again
PROPAGATE = (*CRAWL[:2], "propagate", "--full", "--include-stopped", "--json")
_POLL = re.compile(r'id="live-poll"[^>]*hx-get="([^"]+)"')


@dataclass
class Answers:
    statuses: Counter[int] = field(default_factory=Counter)
    times: list[float] = field(default_factory=list)
    wrong: list[str] = field(default_factory=list)

    def take(self, path: str, answer: requests.Response, began: float) -> None:
        self.times.append((time.perf_counter() - began) * 1000)
        self.statuses[answer.status_code] += 1
        if answer.status_code >= 400 or "/sign-in/" in answer.url or "database is locked" in answer.text:
            self.wrong.append(f"{path}: {answer.status_code}")


class Client:
    """One person with a browser."""

    def __init__(self, address: str, var: Path) -> None:
        self._address, self._session = address, signed_in(address, *administrator(var))

    def look(self, path: str, answers: Answers) -> requests.Response:
        began = time.perf_counter()
        answer = self._session.get(self._address + path, timeout=60)
        answers.take(path, answer, began)
        return answer

    def write(self, path: str, entries: dict[str, str], answers: Answers) -> None:
        began = time.perf_counter()
        values = entries | {"csrfmiddlewaretoken": self._session.cookies["csrftoken"]}
        page = self._address + path
        answers.take(path, self._session.post(page, values, headers={"Referer": page}, timeout=60), began)


@contextmanager
def always_crawling(var: Path, documents: list[int], instances: int = 2, nice: int = 0) -> Iterator[Callable[[], int]]:
    """Two instances, and again two when they are done, of these documents in turn; what it gives says which run goes
    on. Raises what ended the crawls: at once when none ever stored a page, else at the end."""
    over, now = threading.Event(), [0]
    waiting = itertools.cycle(documents)

    def crawl_on() -> None:
        while not over.is_set():
            with crawling(var, list(itertools.islice(waiting, instances)), nice) as (run_id, going_on):
                if not run_id:
                    raise RuntimeError("the crawl ended without a page")
                now[0] = run_id
                while going_on() and not over.wait(0.2):
                    pass

    with ThreadPoolExecutor(1) as pool:
        crawls = pool.submit(crawl_on)
        try:
            while not now[0] and not crawls.done():
                time.sleep(0.1)
            if now[0]:
                yield lambda: now[0]
        finally:
            over.set()
            crawls.result()


@contextmanager
def always_propagating(var: Path, nice: int) -> Iterator[None]:
    """Everything anew, again and again; raises what ended it, at the end."""
    over = threading.Event()
    command = ["nice", "-n", str(nice), *PROPAGATE]

    def publish() -> None:
        while not over.wait(0.2):
            process = in_background(command, var, nice)
            while process.poll() is None:
                if over.wait(0.2):
                    process.terminate()
                    process.wait(60)
            if process.returncode and not over.is_set():
                raise RuntimeError(f"the propagation ended with {process.returncode}")

    with ThreadPoolExecutor(1) as pool:
        work = pool.submit(publish)
        try:
            yield
        finally:
            over.set()
            work.result()


def visit(client: Client, numbers: Iterator[int], last: int, run: Callable[[], int], written: list[int]) -> Answers:
    answers = Answers()
    for number in numbers:
        if number >= last:
            break
        if number % WRITES:
            client.look(LOOKS[number % len(LOOKS)].format(run=run()), answers)
        elif number % (2 * WRITES):
            client.write(f"/crawls/{run()}/speed/", {"speed": "fast"}, answers)
        else:
            address = f"https://example.gov/{number}/"
            entries = {"url": address, "root": address, "depth": "2", "auth_type": "0", "active": "on", "do": "save"}
            path = f"/documents/{written[number % len(written)]}/crawl-points/new/"
            client.write(path, entries, answers)
    return answers


def many(ours: str, var: Path, run: Callable[[], int], written: list[int], options: Namespace) -> Answers:
    """So many requests of so many clients at once."""
    numbers = itertools.count(1)  # next() of it is one step of the interpreter: clients share it
    clients = [Client(ours, var) for _ in range(options.clients)]
    with ThreadPoolExecutor(len(clients)) as pool:
        parts = [pool.submit(visit, one, numbers, options.requests + 1, run, written) for one in clients]
        together = Answers()
        for part in parts:
            found = part.result()
            together.statuses += found.statuses
            together.times += found.times
            together.wrong += found.wrong
    return together


def watching(ours: str, var: Path, run: Callable[[], int], pause: float, options: Namespace) -> tuple[float, Answers]:
    """The share of a core that the web server takes for so many viewers who have opened the page of the run."""
    answers, client = Answers(), Client(ours, var)
    polls = [_next_poll(client.look(f"/crawls/{run()}/", answers)) for _ in range(options.viewers)]
    servers = machine.family(os.getpid(), "gunicorn")
    began, before = time.monotonic(), machine.seconds_of(servers)
    for turn in itertools.count():
        if time.monotonic() - began >= options.seconds:
            break
        viewer = turn % options.viewers
        page = client.look(polls[viewer] or f"/crawls/{run()}/", answers)
        if page.status_code == 200:
            polls[viewer] = _next_poll(page)
        time.sleep(max(0.0, began + (turn + 1) * pause / options.viewers - time.monotonic()))
    return (machine.seconds_of(servers) - before) / (time.monotonic() - began), answers


def _next_poll(page: requests.Response) -> str:
    """What this page is to ask for next; nothing once the run has ended: then the viewer opens the one after it."""
    return (_POLL.findall(page.text) or [""])[0].replace("&amp;", "&")


def points_in(var: Path) -> int:
    return int(ground.rows(var, "library", "SELECT COUNT(*) FROM crawl_point")[0][0])


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(
        arguments, __doc__ or "", requests=10_000, clients=4, pages=15_000, seconds=60, viewers=20, people=50, rounds=3
    )
    machine.require("nginx")
    with folder() as work:
        site.write(options.pages, work / "site")
        var = work / "house"
        house(var, [])
        manage(var, "load_demo")
        with nginx(work / "site", work) as address, web(var) as ours:
            documents = fill(var, [start_of(address)] * CRAWLED)
            if options.requests or options.viewers:
                with always_crawling(var, documents) as run:
                    beside_two_instances(ours, var, run, options)
            if options.people:
                people = at_work.people_of(var, options.people, documents)
                with (
                    always_crawling(var, documents, instances=1, nice=process_limits.NICE) as run,
                    always_propagating(var, process_limits.NICE),
                ):
                    workers = at_work.signed_in_each(ours, people, run)
                    found = at_work.in_turn(workers, documents, options.seconds, options.rounds)
                at_work.report(found)


def beside_two_instances(ours: str, var: Path, run: Callable[[], int], options: Namespace) -> None:
    if options.requests:
        written = fill(var, [(f"https://example.gov/d{n}/", f"https://example.gov/d{n}/") for n in range(WRITTEN)])
        before = points_in(var)
        found = many(ours, var, run, written, options)
        report_many(found, points_in(var) - before, options)
    if options.viewers:
        report_viewers(options.viewers, [(pause, *watching(ours, var, run, pause, options)) for pause in PAUSES])


def report_many(found: Answers, points: int, options: Namespace) -> None:
    p50, p95 = (machine.percentile(found.times, share) for share in (0.5, 0.95))
    told = ", ".join(f"{count} × {status}" for status, count in sorted(found.statuses.items()))
    title = f"{len(found.times)} requests of {options.clients} clients at once beside two instances at full speed"
    lost = options.requests // (2 * WRITES) - points  # saved, but not there
    wrong = len(found.wrong) + lost
    row = (len(found.times), told, points, f"{p50:.0f}", f"{p95:.0f}", wrong, machine.kept(not wrong))
    heads = ("requests", "answers", "crawl points added", "p50, ms", "p95, ms", "failed or locked", "budget: 0")
    machine.table(title, heads, [row])
    print(*found.wrong[:10], sep="\n")


def report_viewers(viewers: int, shares: list[tuple[float, float, Answers]]) -> None:
    names = ("nobody touched the page for two minutes", "all use the page")
    rows = [
        (name, f"{pause:.0f} s", len(answers.times), f"{share:.1%}", f"≤ {SHARE:.0%} {machine.kept(share <= SHARE)}")
        for name, (pause, share, answers) in zip(names, shares, strict=True)
    ]
    machine.table(
        f"{viewers} viewers of a run, two instances crawl",
        ("viewers", "poll every", "polls", "of a core", "budget"),
        rows,
    )


if __name__ == "__main__":
    main()
