"""Many tiny documents: one page each, through the command `crawl` and through RQ tickets, beside the budget.

python -m tests.bench.documents [--documents 10000]
"""

import argparse
import os
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.bench import ground
from tests.bench.crawl import BASE, PYTHON, environment, manage, nginx

BUDGET = 500  # documents a second
LONGEST = 180.0  # seconds for one measurement
HOUSE = (
    ("embedded_redis",), ("tick",), ("rqworker", "control", "--verbosity", "0"),
    ("rqworker", "crawl", "--verbosity", "0"),
)  # fmt: skip
_FILL = """
import django; django.setup()
import sys
from clearinghouse.library.models import Document, Sheet
from crawlpoints.models import CrawlPoint, CrawlPointLink
count, address = int(sys.argv[1]), sys.argv[2]
documents = Document.objects.bulk_create([Document() for _ in range(count)], batch_size=500)
Sheet.objects.bulk_create([Sheet(document=d, title=f"Document {d.pk}") for d in documents], batch_size=500)
points = [CrawlPoint(url=f"{address}/d{n % 100}/p{n}.html", root=f"{address}/d{n % 100}/p{n}") for n in range(count)]
points = CrawlPoint.objects.bulk_create(points, batch_size=500)
links = [CrawlPointLink(document=d, crawl_point=p) for d, p in zip(documents, points, strict=True)]
CrawlPointLink.objects.bulk_create(links, batch_size=500)
"""


def write_site(count: int, folder: Path) -> None:
    """Pages of a few hundred bytes; each links to its neighbour, which belongs to another document."""
    for number in range(count):
        file = folder / f"d{number % 100}" / f"p{number}.html"
        file.parent.mkdir(parents=True, exist_ok=True)
        file.write_text(
            f"<!doctype html><html lang=en><head><title>Page {number}</title></head><body><h1>Page {number}</h1>"
            f"<p>{'A measure is described here. ' * 12}</p><a href='p{number + 100}.html'>next</a></body></html>"
        )


def house(work: Path, count: int, address: str) -> Path:
    var = work / "house"
    var.mkdir()
    ground.found(var)
    manage(var, "prepare")
    command = [PYTHON, "-c", _FILL, str(count), address]
    names = environment(var) | {"DJANGO_SETTINGS_MODULE": "clearinghouse.settings"}
    subprocess.run(command, env=names, cwd=BASE, check=True)
    return var


def by_command(var: Path) -> int:
    return int(str(manage(var, "crawl", "--speed", "fast")["crawled"]))


def through_rq(var: Path) -> Callable[[], int]:
    """From the command launch to the end of the run; Redis, the tick and the workers are there already."""
    names = environment(var)
    processes = [
        subprocess.Popen([PYTHON, "manage.py", *words], env=names, cwd=BASE, stdout=subprocess.DEVNULL)
        for words in HOUSE
    ]
    time.sleep(4.0)  # workers are idle, as in a house that has been running for a while

    def run() -> int:
        launch = [PYTHON, str(BASE / "manage.py"), "launch", "--speed", "fast"]
        subprocess.run(launch, env=names, check=True, capture_output=True)
        return wait_for_end(var)

    def finish() -> None:
        for process in reversed(processes):
            process.terminate()
        for process in processes:
            process.wait(20)

    run.finish = finish  # type: ignore[attr-defined]
    return run


def wait_for_end(var: Path) -> int:
    deadline = time.monotonic() + LONGEST
    while time.monotonic() < deadline:
        if ground.rows(var, "webcrawl", "SELECT 1 FROM run WHERE finished_at IS NOT NULL"):
            return int(ground.rows(var, "webcrawl", "SELECT SUM(crawled) FROM excursion")[0][0])
        time.sleep(0.05)
    return 0


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--documents", type=int, default=10_000)
    count = parser.parse_known_args()[0].documents
    missing = [tool for tool in ("nginx",) if shutil.which(tool) is None]
    if missing:
        sys.exit(f"NOT RUN: {', '.join(missing)} missing on this machine")
    with tempfile.TemporaryDirectory(prefix="clearinghouse-bench-") as name:
        work = Path(name)
        work.chmod(0o755)
        write_site(count, work / "site")
        with nginx(work / "site", work) as address:
            report(count, measure(work, count, address))


def measure(work: Path, count: int, address: str) -> dict[str, tuple[int, float]]:
    template, found = house(work, count, address), {}
    for way in ("crawl", "launch, through RQ"):
        var = work / way.partition(",")[0]
        ground.copy(template, var)
        run = through_rq(var) if way.startswith("launch") else lambda var=var: by_command(var)
        began = time.monotonic()
        pages = run()
        found[way] = (pages, time.monotonic() - began)
        getattr(run, "finish", lambda: None)()
    return found


def report(count: int, found: dict[str, tuple[int, float]]) -> None:
    print(f"{count} documents of one page, {os.cpu_count()} cores; budget {BUDGET} documents/s")
    print("| by | pages stored | seconds | documents/s | of the budget |\n| --- | --- | --- | --- | --- |")
    for way, (pages, seconds) in found.items():
        rate = pages / seconds
        print(f"| {way} | {pages} | {seconds:.2f} | {rate:.0f} | {rate / BUDGET:.2f} × |")


if __name__ == "__main__":
    main()
