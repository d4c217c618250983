"""Crawling beside Scrapy and wget: the same site, the same run, alternating, timed from outside, medians.

python -m tests.bench.crawl [--pages 5000] [--rounds 3]

The house the other measurements crawl with is here too: nginx, a prepared VAR folder, the commands.
"""

import argparse
import atexit
import importlib.util
import json
import os
import shutil
import socket
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from functools import cache
from pathlib import Path

from tests.bench import ground, machine, site
from tests.bench.machine import BASE

PYTHON = sys.executable
BUDGETS = {"scrapy": 10.0, "wget -r": 1.0}
_FILL = """
import json, sys
import django; django.setup()
from clearinghouse.library.services import add_document
from crawlpoints.services import add_crawl_point
ids = []
for start, root in json.load(sys.stdin):
    document = add_document(start)
    add_crawl_point(document, {"url": start, "root": root, "depth": "99"})
    ids.append(document.pk)
print(json.dumps(ids))
"""


@contextmanager
def nginx(folder: Path, work: Path, log: str = "off") -> Iterator[str]:
    """One nginx worker without an access log (or with one of a given place and format): fast enough not to be what is
    measured. It reads what we may: files of a process with our settings are for its own account only, and root's worker
    would be somebody else."""
    port = free_port()
    work.mkdir(exist_ok=True)
    config = work / "nginx.conf"
    user = "" if os.geteuid() else "user root root;\n"
    config.write_text(
        f"{user}worker_processes 1; daemon off; pid {work}/nginx.pid; error_log {work}/nginx.log;\n"
        "events { worker_connections 512; }\n"
        f"http {{ log_format times '$msec $request_time'; access_log {log};\n"
        "types { text/html html; } default_type text/html; keepalive_requests 1000000;\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n"
    )
    server = subprocess.Popen(["nginx", "-c", str(config)])
    try:
        wait_for_port(port)
        while len(machine.family(server.pid)) < 2 and server.poll() is None:
            time.sleep(0.02)  # the master listens before its worker is there
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def free_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


def wait_for_port(port: int, patience: float = 20.0) -> None:
    deadline = time.monotonic() + patience
    while time.monotonic() < deadline:
        with socket.socket() as probe:
            if probe.connect_ex(("127.0.0.1", port)) == 0:
                return
        time.sleep(0.05)
    raise TimeoutError(f"nothing listens on port {port}")


@contextmanager
def folder() -> Iterator[Path]:
    """A folder that also nginx's worker may read."""
    with tempfile.TemporaryDirectory(prefix="clearinghouse-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        yield work


def environment(var: Path) -> dict[str, str]:
    return machine.environment() | {
        "CLEARINGHOUSE_VAR": str(var),
        "CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8",
        "CLEARINGHOUSE_ALLOWED_PORTS": "1-65535",
        "CLEARINGHOUSE_LOG_LEVEL": "WARNING",
        "DJANGO_SETTINGS_MODULE": "clearinghouse.settings",
        "PYTHONPATH": str(BASE),
        **ground.environment(var),
    }


def manage(var: Path, *arguments: str) -> dict[str, object]:
    command = [PYTHON, str(BASE / "manage.py"), *arguments, "--json"]
    done = subprocess.run(command, env=environment(var), stdout=subprocess.PIPE, text=True, check=True)
    return json.loads(done.stdout) if done.stdout.strip() else {}


@cache
def _prepared() -> Path:
    """Empty databases, made once in this process."""
    place = tempfile.mkdtemp(prefix="clearinghouse-bench-")
    atexit.register(shutil.rmtree, place, ignore_errors=True)
    ground.found(Path(place))
    manage(Path(place), "prepare")
    return Path(place)


def house(var: Path, starts: Sequence[tuple[str, str]]) -> list[int]:
    """A VAR folder with one document for each (start, root string); their numbers."""
    ground.copy(_prepared(), var)
    return fill(var, starts)


def fill(var: Path, starts: Sequence[tuple[str, str]]) -> list[int]:
    command, names = [PYTHON, "-c", _FILL], environment(var)
    done = subprocess.run(command, env=names, input=json.dumps(starts), stdout=subprocess.PIPE, text=True, check=True)
    return [int(one) for one in json.loads(done.stdout)]


def start_of(address: str) -> tuple[str, str]:
    """The first page of a generated site, and the root string of all of it."""
    return f"{address}/{site.path_of(0)}", f"{address}/"


CRAWL = (PYTHON, str(BASE / "manage.py"), "crawl", "--speed", "fast", "--ignore-robots", "--json")


def crawled(result: dict[str, object]) -> int:
    return int(str(result["crawled"]))


def ours(address: str, work: Path) -> Callable[[int], int]:
    """Each round begins with a fresh copy of a prepared house."""
    template = work / "template"
    house(template, [start_of(address)])

    def run(number: int) -> int:
        return crawled(manage(work / f"ours-{number}", *CRAWL[2:-1]))

    def prepare(number: int) -> None:
        ground.copy(template, work / f"ours-{number}")

    run.prepare = prepare  # type: ignore[attr-defined]
    return run


def scrapy(start: str, work: Path) -> Callable[[int], int]:
    def run(number: int) -> int:
        peer = str(Path(__file__).with_name("scrapy_peer.py"))
        command = [PYTHON, "-m", "scrapy", "runspider", peer, "-a", f"start={start}", "-a", f"db={number}.db"]
        names = machine.environment()
        done = subprocess.run(command, env=names, stdout=subprocess.PIPE, text=True, check=True, cwd=work)
        return int(json.loads(done.stdout.strip().splitlines()[-1])["pages"])

    return run


def wget(start: str, work: Path) -> Callable[[int], int]:
    def run(number: int) -> int:
        place = work / f"wget-{number}"
        subprocess.run(["wget", "-q", "-r", "-l", "inf", "-P", str(place), start], check=False)
        return sum(1 for _ in place.rglob("*.html"))

    return run


def peers(start: str, work: Path) -> dict[str, Callable[[int], int]]:
    """Those this machine has; for the others one line."""
    found: dict[str, Callable[[int], int]] = {}
    if importlib.util.find_spec("scrapy"):
        found["scrapy"] = scrapy(start, work)
    if not machine.missing(["wget"]):
        found["wget -r"] = wget(start, work)
    for name in BUDGETS.keys() - found.keys():
        print(f"NOT RUN: {name} missing on this machine")
    return found


def measure(contestants: dict[str, Callable[[int], int]], rounds: int) -> dict[str, tuple[int, float]]:
    """Alternating, so that a slow moment of the machine hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    pages: dict[str, int] = {}
    for number in range(rounds):
        for name, run in contestants.items():
            getattr(run, "prepare", lambda _: None)(number)
            began = time.monotonic()
            pages[name] = run(number)
            seconds[name].append(time.monotonic() - began)
    return {name: (pages[name], statistics.median(times)) for name, times in seconds.items()}


def options_of(arguments: Sequence[str] | None, doc: str, **defaults: int) -> argparse.Namespace:
    """Sizes, each with its default; what belongs to another measurement is left to it."""
    parser = argparse.ArgumentParser(description=doc, formatter_class=argparse.RawDescriptionHelpFormatter)
    for name, value in defaults.items():
        parser.add_argument(f"--{name}", type=int, default=value, help=f"default {value}")
    return parser.parse_known_args(arguments)[0]


def main(arguments: Sequence[str] | None = None) -> None:
    options = options_of(arguments, __doc__ or "", pages=5000, rounds=3)
    machine.require("nginx")
    with folder() as work:
        site.write(options.pages, work / "site")
        with nginx(work / "site", work) as address:
            contestants = {"clearinghouse": ours(address, work)} | peers(start_of(address)[0], work)
            report(measure(contestants, options.rounds), options)


def report(results: dict[str, tuple[int, float]], options: argparse.Namespace) -> None:
    pages, seconds = results["clearinghouse"]
    our_rate, rows = pages / seconds, []
    for name, (count, took) in results.items():
        ratio = our_rate * took / count
        budget = f"≥ {BUDGETS[name]:g} × {machine.kept(ratio >= BUDGETS[name])}" if name in BUDGETS else ""
        rows.append((name, count, f"{took:.2f}", f"{count / took:.0f}", f"{ratio:.2f} ×", budget))
    title = f"One instance: {options.pages} pages of about 23 KB with 60 links, {options.rounds} rounds, medians"
    machine.table(title, ("who", "pages", "seconds", "pages/s", "ours is", "budget"), rows)


if __name__ == "__main__":
    main()
