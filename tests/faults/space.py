"""Inside a namespace: a crawl on a disk of its own, which is full for a while (fault A14)."""

import json
import shutil
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

from tests.faults.house import House, with_document
from tests.faults.namespace import ip, mount_small_disk
from tests.sites.graph import Page, Site, serve

MEGABYTES = 64
LEAST_FREE = 20  # megabytes, CLEARINGHOUSE_FREE_SPACE
PAGES = 80
NOTICED_SECONDS, FULL_SECONDS = 2.0, 2.0


def until(true: Callable[[], object]) -> None:
    deadline = time.monotonic() + 40
    while not true() and time.monotonic() < deadline:
        time.sleep(0.02)


def fill(file: Path, leaving: int) -> None:
    """Up to so many free bytes."""
    with file.open("wb", buffering=0) as ballast:
        ballast.write(bytes(max(shutil.disk_usage(file.parent).free - leaving, 0)))
        if leaving:
            return
        for size in (1 << 20, 4096, 1):
            try:
                while True:
                    ballast.write(bytes(size))
            except OSError:
                continue


def asked(site: Site) -> int:
    return sum(site.requests.values())


def main() -> None:
    ip("link", "set", "lo", "up")
    disk = Path(tempfile.mkdtemp())
    mount_small_disk(disk, MEGABYTES)
    pages = {"/m/": Page([f"/m/{n}" for n in range(PAGES)])}
    pages |= {f"/m/{n}": Page(body=b"<p>" + bytes(str(n), "ascii") * 4000, delay=1.0) for n in range(PAGES)}
    with serve(pages) as site:
        house: House = with_document(disk / "house", site.url("/m/"))
        house.databases["CLEARINGHOUSE_FREE_SPACE"] = str(LEAST_FREE)
        house.databases["CLEARINGHOUSE_LOG_LEVEL"] = "WARNING"
        crawl = house.start("crawl", "--speed", "fast", "--json")
        until(lambda: asked(site) > 25)
        fill(disk / "ballast", leaving=LEAST_FREE * 500_000)
        time.sleep(NOTICED_SECONDS)
        before = asked(site)
        fill(disk / "rest", leaving=0)
        time.sleep(FULL_SECONDS)
        found = {"while_full": [before, asked(site)], "alive": crawl.poll() is None}
        found["doctor"] = house.start("doctor").communicate(timeout=60)[0]
        found["disk"] = str(disk)
        (disk / "rest").unlink()
        (disk / "ballast").unlink()
        printed, complained = crawl.communicate(timeout=60)
        found |= {"code": crawl.returncode, "complained": complained[-500:], "run": json.loads(printed or "{}")}
        found["most"] = max(count for path, count in site.requests.items() if path.startswith("/m/"))
        found["told"] = [text for (text,) in house.rows("SELECT text FROM run_event WHERE kind = 'space' ORDER BY id")]
        found["check"] = house.manage("check_ledger", "1")
        found["quick"] = house.rows("PRAGMA quick_check")
    sys.stdout.write(json.dumps(found))
    shutil.rmtree(disk / "house")


if __name__ == "__main__":
    main()
