"""The same crawl into SQLite and into PostgreSQL, alternating, by one instance and by two; medians.

python -m tests.bench.on_postgres [--pages 2000] [--rounds 3]

The cluster flushes as in production. Two documents hold half of the pages each, so that two instances have something
to do; the library of documents stays in SQLite, because a crawl reads it once.
"""

import json
import shutil
import statistics
import subprocess
import time
from collections.abc import Sequence
from pathlib import Path

from tests.bench import crawl, machine, site
from tests.postgres import Server

WEBCRAWL = "CLEARINGHOUSE_DB_WEBCRAWL"
EMPTY = "empty"


def one_crawl(var: Path, instances: int, databases: dict[str, str]) -> tuple[int, float]:
    """Pages and seconds."""
    command = [*crawl.CRAWL, "--instances", str(instances)]
    began = time.monotonic()
    done = subprocess.run(
        command, env=crawl.environment(var) | databases, stdout=subprocess.PIPE, text=True, check=True
    )
    return crawl.crawled(json.loads(done.stdout)), time.monotonic() - began


def main(arguments: Sequence[str] | None = None) -> None:
    options = crawl.options_of(arguments, __doc__ or "", pages=2000, rounds=3)
    machine.require("nginx")
    server = Server.installed()
    if server is None:
        print("\nNOT RUN: PostgreSQL is missing on this machine")
        return
    try:
        with crawl.folder() as work:
            half = work / "site"
            site.write(options.pages // 2, half)
            with crawl.nginx(half, work / "one") as one, crawl.nginx(half, work / "two") as two:
                template = work / "template"
                crawl.house(template, [crawl.start_of(one), crawl.start_of(two)])
                empty = {WEBCRAWL: server.url(EMPTY)}
                prepare = [*crawl.CRAWL[:2], "prepare"]
                subprocess.run(prepare, env=crawl.environment(template) | empty, stdout=subprocess.DEVNULL, check=True)
                report(measure(server, template, work, options.rounds), options.pages, options.rounds)
    finally:
        server.stop()


def measure(server: Server, template: Path, work: Path, rounds: int) -> dict[tuple[str, int], tuple[int, float]]:
    seconds: dict[tuple[str, int], list[float]] = {}
    pages: dict[tuple[str, int], int] = {}
    for number in range(rounds):
        for instances in (1, 2):
            for kind in ("SQLite", "PostgreSQL"):
                var, databases = work / f"{kind}-{instances}-{number}", {}
                shutil.copytree(template, var)
                if kind == "PostgreSQL":
                    name = f"crawl_{instances}_{number}"
                    server.execute(f"CREATE DATABASE {name} TEMPLATE {EMPTY}", database="postgres")
                    databases = {WEBCRAWL: server.address(name)}
                pages[kind, instances], took = one_crawl(var, instances, databases)
                seconds.setdefault((kind, instances), []).append(took)
    return {key: (pages[key], statistics.median(times)) for key, times in seconds.items()}


def report(results: dict[tuple[str, int], tuple[int, float]], pages: int, rounds: int) -> None:
    rows = []
    for (kind, instances), (count, took) in results.items():
        peer = results["SQLite", instances][1]
        rows.append((kind, instances, count, f"{took:.2f}", f"{count / took:.0f}", f"{peer / took:.2f} ×"))
    title = f"WebCrawl on PostgreSQL: {pages} pages in two documents, {rounds} rounds, medians"
    machine.table(title, ("server", "instances", "pages", "seconds", "pages/s", "beside SQLite"), rows)


if __name__ == "__main__":
    main()
