"""Crawling beside Scrapy and wget: the same site, the same run, alternating, timed from outside, medians.

python -m tests.bench.crawl [--pages 5000] [--rounds 3] [--site URL]
"""

import argparse
import json
import os
import platform
import shutil
import statistics
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench import site

BASE = Path(__file__).resolve().parent.parent.parent
PYTHON = sys.executable


@contextmanager
def nginx(folder: Path, work: Path) -> Iterator[str]:
    """One nginx worker without an access log: fast enough not to be what is measured."""
    port = 18_080
    config = work / "nginx.conf"
    config.write_text(
        f"worker_processes 1; daemon off; pid {work}/nginx.pid; error_log {work}/nginx.log;\n"
        "events { worker_connections 512; }\n"
        "http { access_log off; types { text/html html; } default_type text/html; keepalive_requests 1000000;\n"
        f"server {{ listen 127.0.0.1:{port}; root {folder}; }} }}\n"
    )
    server = subprocess.Popen(["nginx", "-c", str(config)])
    time.sleep(0.5)
    try:
        yield f"http://127.0.0.1:{port}"
    finally:
        server.terminate()
        server.wait()


def manage(var: Path, *arguments: str) -> dict[str, object]:
    environment = os.environ | {
        "CLEARINGHOUSE_VAR": str(var),
        "CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8",
        "CLEARINGHOUSE_ALLOWED_PORTS": "1-65535",
        "CLEARINGHOUSE_LOG_LEVEL": "WARNING",
    }
    command = [PYTHON, str(BASE / "manage.py"), *arguments, "--json"]
    done = subprocess.run(command, env=environment, capture_output=True, text=True, check=True)
    return json.loads(done.stdout) if done.stdout.strip() else {}


def ours(start: str, work: Path) -> Callable[[int], int]:
    """Each round begins with a fresh copy of a prepared house."""
    template = work / "template"
    template.mkdir()
    manage(template, "prepare")
    manage(template, "add_document", "Bench")
    manage(template, "add_crawl_point", "1", start, "--root", start.rsplit("/", 2)[0] + "/", "--depth", "99")

    def run(number: int) -> int:
        var = work / f"ours-{number}"
        shutil.copytree(template, var)
        result = manage(var, "crawl", "--doc", "1", "--speed", "fast", "--ignore-robots")
        shutil.rmtree(var)
        return int(str(result["crawled"]))

    return run


def scrapy(start: str, work: Path) -> Callable[[int], int]:
    def run(number: int) -> int:
        peer = str(Path(__file__).with_name("scrapy_peer.py"))
        arguments = ["-m", "scrapy", "runspider", peer, "-a", f"start={start}", "-a", f"db={work}/scrapy-{number}.db"]
        done = subprocess.run([PYTHON, *arguments], capture_output=True, text=True, check=True, cwd=work)
        return int(json.loads(done.stdout.strip().splitlines()[-1])["pages"])

    return run


def wget(start: str, work: Path) -> Callable[[int], int]:
    def run(number: int) -> int:
        folder = work / f"wget-{number}"
        subprocess.run(["wget", "-q", "-r", "-l", "inf", "-P", str(folder), start], check=False)
        pages = sum(1 for _ in folder.rglob("*.html"))
        shutil.rmtree(folder)
        return pages

    return run


def measure(contestants: dict[str, Callable[[int], int]], rounds: int) -> dict[str, tuple[int, float]]:
    """Alternating, so that a slow moment of the machine hits all alike."""
    seconds: dict[str, list[float]] = {name: [] for name in contestants}
    pages: dict[str, int] = {}
    for number in range(rounds):
        for name, run in contestants.items():
            began = time.monotonic()
            pages[name] = run(number)
            seconds[name].append(time.monotonic() - began)
    return {name: (pages[name], statistics.median(times)) for name, times in seconds.items()}


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--pages", type=int, default=5000)
    parser.add_argument("--rounds", type=int, default=3)
    options = parser.parse_args()
    missing = [tool for tool in ("nginx", "wget") if shutil.which(tool) is None]
    if missing:
        raise SystemExit(f"NOT RUN: {', '.join(missing)} missing on this machine")
    with tempfile.TemporaryDirectory(prefix="clearinghouse-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        site.write(options.pages, work / "site")
        with nginx(work / "site", work) as address:
            start = f"{address}/{site.path_of(0)}"
            contestants = {
                "clearinghouse": ours(start, work),
                "scrapy": scrapy(start, work),
                "wget -r": wget(start, work),
            }
            report(measure(contestants, options.rounds), options)


def report(results: dict[str, tuple[int, float]], options: argparse.Namespace) -> None:
    print(f"{options.pages} pages, {options.rounds} rounds, medians; {platform.platform()}, {os.cpu_count()} cores")
    print("| who | pages | seconds | pages/s | ours is |\n| --- | --- | --- | --- | --- |")
    pages, seconds = results["clearinghouse"]
    our_rate = pages / seconds
    for name, (pages, seconds) in results.items():
        rate = pages / seconds
        print(f"| {name} | {pages} | {seconds:.2f} | {rate:.0f} | {our_rate / rate:.2f} × |")


if __name__ == "__main__":
    main()
