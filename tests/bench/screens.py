"""Screens while crawling at full speed: the same client, idle and loaded alternately, with one and two instances.

python -m tests.bench.screens [--pages 15000] [--seconds 8] [--rounds 3] [--nice 0]

The web server is the line `web` of the Procfile, the house the demo's; the crawl is the command, in the same VAR
folder, as hard as it may: the workers of the Procfile run at --nice 15.
"""

import signal
import subprocess
import time
from argparse import Namespace
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager, suppress
from pathlib import Path

import requests
from honcho.environ import parse_procfile

from crawler.engine import process_limits
from tests.bench import ground, machine, site
from tests.bench.crawl import (
    BASE,
    CRAWL,
    PYTHON,
    environment,
    fill,
    folder,
    free_port,
    house,
    manage,
    nginx,
    options_of,
    start_of,
)

BUDGETS = {1: 1.25, 2: 2.0}  # instances -> p95 loaded by p95 idle
WHO = "administrator"
PAGES = ("panel", "navigator", "run page")
Times = dict[str, list[float]]  # milliseconds of each page


@contextmanager
def web(var: Path) -> Iterator[str]:
    port = free_port()
    names = environment(var) | {"CLEARINGHOUSE_PORT": str(port)}
    names["PATH"] = f"{Path(PYTHON).parent}:{names.get('PATH', '')}"
    subprocess.run([PYTHON, "manage.py", "collectstatic", "--no-input", "-v", "0"], env=names, cwd=BASE, check=True)
    lines = parse_procfile((BASE / "Procfile").read_text()).processes
    # Each leads a session of its own, as under a process manager: the kernel may divide the processor among sessions.
    servers = [
        subprocess.Popen(lines[name], shell=True, env=names, cwd=BASE, start_new_session=True)
        for name in ("front", "web", "public")
    ]
    try:
        for path in ("/sign-in/", "/search/"):
            wait_for_page(port, path)
        yield f"http://127.0.0.1:{port}"
    finally:
        for server in servers:
            server.terminate()
        for server in servers:
            server.wait()


def wait_for_page(port: int, path: str) -> None:
    """A port listens before there is anybody to answer."""
    until = time.monotonic() + 60
    while time.monotonic() < until:
        with suppress(requests.ConnectionError):
            if requests.get(f"http://127.0.0.1:{port}{path}", timeout=30).ok:
                return
        time.sleep(0.2)
    raise TimeoutError(f"no {path} within a minute")


def administrator(var: Path) -> tuple[str, str]:
    """Name and password of the demo's."""
    lines = (var / "demo-sign-ins").read_text().splitlines()
    return WHO, next(line.split()[1] for line in lines if line.startswith(WHO))


def signed_in(address: str, name: str, password: str) -> requests.Session:
    session = requests.Session()
    door = f"{address}/sign-in/"
    session.get(door, timeout=30).raise_for_status()
    entries = {"username": name, "password": password, "csrfmiddlewaretoken": session.cookies["csrftoken"]}
    answer = session.post(door, entries, headers={"Referer": door}, timeout=30)
    answer.raise_for_status()
    if answer.url.startswith(door):
        raise ValueError(f"{name} was not let in")
    return session


class Visitor:
    """One client that opens the three pages again and again."""

    def __init__(self, address: str, var: Path) -> None:
        self._address, self._session = address, signed_in(address, *administrator(var))

    def look(self, seconds: float, run_id: int, going_on: Callable[[], bool] = lambda: True) -> Times:
        """Until the time is over, or what loads the machine has ended; once at least."""
        found: Times = {name: [] for name in PAGES}
        paths = dict(zip(PAGES, ("/documents/1/crawl-points/", "/documents/", f"/crawls/{run_id}/"), strict=True))
        deadline = time.monotonic() + seconds
        while not found[PAGES[-1]] or (time.monotonic() < deadline and going_on()):
            for name, path in paths.items():
                began = time.perf_counter()
                answer = self._session.get(self._address + path, timeout=60)
                found[name].append((time.perf_counter() - began) * 1000)
                if answer.status_code != 200 or answer.history:
                    raise ValueError(f"{path}: {answer.status_code} {answer.url}")
        return found


def in_background(command: list[str], var: Path, nice: int) -> subprocess.Popen[bytes]:
    """A command as a job of a worker of the Procfile, whose session steps back with it when it runs under nice."""
    process = subprocess.Popen(command, env=environment(var), stdout=subprocess.DEVNULL, start_new_session=True)
    if nice >= process_limits.NICE:
        with suppress(OSError):  # another kernel
            Path(f"/proc/{process.pid}/autogroup").write_text(str(process_limits.SESSION_NICE))
    return process


@contextmanager
def crawling(var: Path, documents: list[int], nice: int) -> Iterator[tuple[int, Callable[[], bool]]]:
    """A crawl with an instance for each document: its run, and whether it still goes on; stopped by a signal."""
    before = newest_run(var)
    chosen = [word for doc in documents for word in ("--doc", str(doc))]
    command = ["nice", "-n", str(nice), *CRAWL, *chosen, "--instances", str(len(documents))]
    process = in_background(command, var, nice)
    try:
        while newest_run(var) == before and process.poll() is None:
            time.sleep(0.05)
        yield newest_run(var), lambda: process.poll() is None
    finally:
        process.send_signal(signal.SIGTERM)
        process.wait(60)


def newest_run(var: Path) -> int:
    """The newest one that has stored something; 0 before."""
    return int(ground.rows(var, "webcrawl", "SELECT MAX(run_id) FROM excursion WHERE crawled > 0")[0][0] or 0)


def measured(visitor: Visitor, var: Path, documents: list[int], options: Namespace) -> tuple[Times, Times]:
    """Idle and loaded, alternating, on the page of the same run."""
    seconds = options.seconds
    idle: Times = {name: [] for name in PAGES}
    loaded: Times = {name: [] for name in PAGES}
    each = len(documents) // options.rounds
    for number in range(options.rounds):
        with crawling(var, documents[number * each : (number + 1) * each], options.nice) as (run_id, going_on):
            add(loaded, visitor.look(seconds, run_id, going_on))
            if not going_on():
                print(f"NOTE: the site was too small: a crawl ended within {seconds} s; use more --pages")
        add(idle, visitor.look(seconds, run_id))
    return idle, loaded


def add(times: Times, more: Times) -> None:
    for name in PAGES:
        times[name] += more[name]


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=15_000, seconds=8, rounds=3, nice=0)
    machine.require("nginx")
    with folder() as work:
        site.write(options.pages, work / "site")
        var = work / "house"
        house(var, [])
        manage(var, "load_demo")
        with nginx(work / "site", work) as address, web(var) as ours:
            visitor = Visitor(ours, var)
            for instances in BUDGETS:
                documents = fill(var, [start_of(address)] * instances * options.rounds)
                report(instances, options.nice, *measured(visitor, var, documents, options))


def report(instances: int, nice: int, idle: Times, loaded: Times) -> None:
    rows = []
    for name in PAGES:
        cells: list[str] = [name, str(len(idle[name])), str(len(loaded[name]))]
        for share in (0.5, 0.95):
            quiet, busy = machine.percentile(idle[name], share), machine.percentile(loaded[name], share)
            cells += [f"{quiet:.1f}", f"{busy:.1f}", f"{busy / quiet:.2f} ×"]
        held = machine.kept(busy / quiet <= BUDGETS[instances])
        rows.append((*cells, f"≤ {BUDGETS[instances]} × {held}"))
    heads = (
        "page",
        "views idle",
        "loaded",
        "p50 idle, ms",
        "loaded",
        "ratio",
        "p95 idle, ms",
        "loaded",
        "ratio",
        "budget",
    )
    who = "1 instance crawls" if instances == 1 else f"{instances} instances crawl"
    machine.table(f"Screens while {who} at full speed, nice {nice}", heads, rows)


if __name__ == "__main__":
    main()
