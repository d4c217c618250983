"""Inside a namespace: the same people on a house whose PostgreSQL has a disk of its own, full to the last byte.

First no table can grow any more (53100, as the server says it). Then its log of what is written cannot grow either: the
server ends, and starts again when there is room. As root, so that PostgreSQL can run as somebody else.
"""

import json
import shutil
import sys
import tempfile
import time
from contextlib import suppress
from pathlib import Path
from typing import Any

import psycopg
import requests

from tests.faults.full_pages import NOTE, READ, Everybody, told, while_full
from tests.faults.namespace import ip, mount_small_disk
from tests.faults.space import fill
from tests.flow.house import ENDED, House, until
from tests.postgres import NAMES, Server, programs
from tests.sites.graph import Page, Site, serve

MEGABYTES = 512
PAGES = 150  # some of them come before, some while the disk is full, some afterwards
SMALL_LOG = ("max_wal_size = '64MB'", "min_wal_size = '32MB'")  # else it may keep a gigabyte of it


def main() -> None:
    ip("link", "set", "lo", "up")
    disk, beside = Path(tempfile.mkdtemp()), Path(tempfile.mkdtemp(prefix="full-"))
    disk.chmod(0o755)
    mount_small_disk(disk, MEGABYTES)
    found = programs()
    assert found is not None
    server = Server(found, durable=True, disk=disk)
    house = House(beside)
    house.env |= {"CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8"}
    try:
        for setting in SMALL_LOG:
            server.execute(f"ALTER SYSTEM SET {setting}", database="postgres")
        server.execute("SELECT pg_reload_conf()", database="postgres")
        house.env |= {f"CLEARINGHOUSE_{key}": server.url(name) for key, name in NAMES.items()}
        sys.stdout.write(json.dumps(lived(house, server, disk)))
    finally:
        house.close()
        if server.pid:
            server.crash()
        shutil.rmtree(beside)


def lived(house: House, server: Server, disk: Path) -> dict[str, Any]:
    house.manage("prepare")
    everybody = Everybody(house)
    found: dict[str, Any] = {"signed_in": everybody.signed_in}
    with serve(chain()) as site:
        house.manage("add_document", "A long one")
        house.manage("add_crawl_point", 2, site.url("/0"), "--depth", PAGES)
        run = house.manage("launch", "--doc", 2, "--speed", "medium")["run"]
        until(lambda: asked(site) > 5, "the crawl is under way", 60)
        server.execute("CHECKPOINT", database="postgres")
        fill(disk / "ballast", leaving=0)
        found |= while_full(everybody) | everybody.commands_while_full()
        time.sleep(8)  # a round of the tick
        found["alive"] = everybody.alive()
        found["ended"] = log_cannot_grow(server)
        found["down"] = while_down(everybody)
        time.sleep(8)
        found["alive_down"] = everybody.alive()
        (disk / "ballast").unlink()
        found |= went_on(everybody, server, run)
        found["most"] = max(count for path, count in site.requests.items() if path != "/robots.txt")
    found |= everybody.with_room_again()
    found["ready_again"] = told(requests.get(f"{everybody.address}/readyz", timeout=60))
    return found


def chain() -> dict[str, Page]:
    return {f"/{n}": Page([f"/{n + 1}"] if n + 1 < PAGES else [], delay=0.3) for n in range(PAGES)}


def asked(site: Site) -> int:
    return sum(site.requests.values())


def went_on(everybody: Everybody, server: Server, run: int) -> dict[str, Any]:
    """How long it took until pages were shown, and the crawl had ended, after there was room."""
    begun, house = time.monotonic(), everybody.house
    if not answers(server):
        server.start()
    until(lambda: everybody.ann.see("/").status_code == 200, "pages are shown again", 60)
    shown = time.monotonic() - begun
    ended = until(lambda: over(house, run), f"the crawl ends\n{house.log[-3000:]}", 180)
    house.manage("check_ledger", run)
    return {"shown": shown, "run": ended, "seconds": time.monotonic() - begun}


def over(house: House, run: int) -> dict[str, Any] | None:
    told_of = house.manage("run", run)
    return told_of if told_of["state"].startswith(ENDED) else None


def log_cannot_grow(server: Server) -> bool:
    """Write until the log of the server (16 MB a piece) needs one piece more; whether the server ended by it."""
    deadline = time.monotonic() + 60
    while time.monotonic() < deadline:
        try:
            server.execute("SELECT pg_logical_emit_message(true, 'x', repeat('x', 1000000))", database="postgres")
        except psycopg.Error:
            break
    time.sleep(2)
    return not answers(server)


def answers(server: Server) -> bool:
    with suppress(psycopg.Error):
        return server.execute("SELECT 1", database="postgres") == [(1,)]
    return False


def while_down(everybody: Everybody) -> dict[str, Any]:
    ann = everybody.ann
    return {
        "read": {path: ann.see(path).status_code for path in READ if path not in ("/healthz", "/readyz")},
        "note": told(ann.post(f"{ann.address}/documents/1/notes/", data={"text": NOTE}, timeout=60)),
        "healthy": ann.see("/healthz").status_code,
        "ready": told(ann.see("/readyz")),
        "api": told(everybody.program.get(f"{everybody.address}/api/v1/documents/", timeout=60)),
    }


if __name__ == "__main__":
    main()
