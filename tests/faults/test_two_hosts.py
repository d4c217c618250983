"""Two hosts share PostgreSQL and Redis and crawl one run together; one of them is cut off, comes back, and dies.

Each host has its own settings, state folder and processes; the far one lives in namespaces of its own, so that nobody
here can see whether its processes run: as between real machines, only its silence tells (design rule 7).
"""

import os
import shutil
import signal
import tempfile
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from crawler.engine.page_outcome import _ABOVE_INT32 as BLOCK
from tests.faults import namespace
from tests.faults.databases import TWICE
from tests.faults.house import House as Prepared
from tests.faults.site import make
from tests.flow.house import House, until
from tests.postgres import Server
from tests.requirements import need
from tests.sites.graph import Page, Site, serve

DOCUMENTS, LENGTH = 4, 110  # a page leads to the next one, and to one more
SLOW = 1.5  # of a page, until nothing more happens
# Root needs no namespace of users, and in one it could not reach the socket of a PostgreSQL that runs as somebody else.
FAR = ("unshare", *(() if os.geteuid() == 0 else ("--map-root-user",)), "--pid", "--uts", "--mount-proc", "--fork",
       "--kill-child", "sh", "-c", 'hostname far && exec "$@"', "far")  # fmt: skip
DATABASES = {"DB": "library", "DB_WEBCRAWL": "crawl"}
WORKERS = 2
SERVING = (
    "SELECT count(DISTINCT i.id) FROM active_queue q JOIN instance i ON i.id = q.instance_id "
    "WHERE i.alive AND i.host {} 'far'"
)
CRAWLED = "SELECT coalesce(sum(crawled), 0) FROM excursion"


class Host(House):
    """Processes with settings of their own, perhaps in namespaces of their own."""

    prefix: tuple[str, ...] = ()
    urls: dict[str, str]  # of its databases

    def start_manage(self, *words: str):
        python = self.env["PATH"].split(os.pathsep)[0] + "/python"
        return self.start(*self.prefix, python, "manage.py", *words)

    def signal(self, number: int) -> int:
        """To every process of it; how many there were."""
        found = list(self.processes())
        for pid in found:
            os.kill(pid, number)
        return len(found)


class Pair:
    def __init__(self, near: Host, far: Host, server: Server, site: Site) -> None:
        self.near, self.far, self.server, self.site = near, far, server, site

    def value(self, query: str) -> int:
        return int(self.server.execute(query, database=DATABASES["DB_WEBCRAWL"])[0][0])

    def both_serve(self) -> bool:
        return self.value(SERVING.format("=")) > 0 and self.value(SERVING.format("<>")) > 0

    def stored(self, who: str) -> int:
        """Pages this host brought: a version's id lies in the block of the instance that wrote it."""
        of_host = f"FROM page_version v JOIN instance i ON i.id = (v.id >> 28) - {BLOCK} WHERE i.host {who} 'far'"
        return self.value(f"SELECT count(*) {of_host}")

    def both_store(self) -> bool:
        """Both serve documents, and each brings pages."""
        until(self.both_serve, f"both serve\n{self.near.log[-2000:]}{self.far.log[-2000:]}", 60)
        before = {who: self.stored(who) for who in ("=", "<>")}
        until(lambda: all(self.stored(who) > count for who, count in before.items()), "both bring pages", 60)
        return True

    def far_is_buried(self) -> bool:
        return self.value("SELECT count(*) FROM instance WHERE alive AND host = 'far'") == 0

    def goes_on(self) -> bool:
        before = self.value(CRAWLED)
        until(lambda: self.value(CRAWLED) > before, "the run goes on", 60)
        return True


def pages() -> dict[str, Page]:
    chain = {
        f"/{d}/{n}": Page([f"/{d}/{n + 1}", f"/{d}/leaf{n}"] if n + 1 < LENGTH else [f"/{d}/leaf{n}"], delay=SLOW)
        for d in range(DOCUMENTS)
        for n in range(LENGTH)
    }
    return chain | {f"/{d}/leaf{n}": Page([f"/{d}/0"], delay=SLOW) for d in range(DOCUMENTS) for n in range(LENGTH)}


@pytest.fixture
def durable() -> Iterator[Server]:
    """A worker refuses to start on a server that may forget what it acknowledged."""
    server = Server.installed()
    need("postgres", server is not None, "initdb, pg_ctl and postgres are not installed")
    assert server is not None
    try:
        yield server
    finally:
        server.stop()


@contextmanager
def two_hosts(server: Server) -> Iterator[tuple[Host, Host]]:
    """Both share the server; the far one uses the near one's Redis."""
    above = Path(tempfile.mkdtemp(prefix="hosts-"))  # a short name: Redis listens on a socket in it
    near, far = Host(above / "near"), Host(above / "far")
    far.prefix = FAR
    urls = {f"CLEARINGHOUSE_{key}": server.url(name) for key, name in DATABASES.items()}
    for host in (near, far):
        host.folder.mkdir()
        host.env |= {"CLEARINGHOUSE_ALLOWED_NETWORKS": "127.0.0.0/8", "CLEARINGHOUSE_ALLOWED_PORTS": "1-65535",
                     "CLEARINGHOUSE_REDIS_URL": f"unix://{near.folder}/redis.sock", **urls}  # fmt: skip
    del near.env["CLEARINGHOUSE_REDIS_URL"]  # its own
    near.urls = urls
    try:
        yield near, far
    finally:
        far.signal(signal.SIGCONT)
        far.close()
        near.close()
        shutil.rmtree(above, ignore_errors=True)


@pytest.fixture
def pair(durable: Server) -> Iterator[Pair]:
    need("namespaces", namespace.possible(), "unshare may not be used")
    with two_hosts(durable) as (near, far), serve(pages()) as site:
        points = [[[site.url(f"/{d}/0"), "--depth", "999"]] for d in range(DOCUMENTS)]
        make(Prepared(near.folder, near.urls), points)
        yield Pair(near, far, durable, site)


def test_a_host_that_is_cut_off_and_one_that_dies_cost_no_page_and_double_none(
    pair: Pair, record_property: Callable[[str, object], None]
) -> None:
    near, far = pair.near, pair.far
    near.start_redis()
    near.start_worker("control")
    near.start_manage("tick")
    for host in (near, far):
        for _ in range(WORKERS):
            host.start_worker("crawl")
    run = near.manage("launch", "--speed", "fast")["run"]
    assert pair.both_store()

    assert far.signal(signal.SIGSTOP) >= WORKERS  # as if its network were cut: its connections stay, and say nothing
    begun = time.monotonic()
    until(pair.far_is_buried, "the silent host is taken for dead", 60)
    silent = time.monotonic() - begun
    record_property("seconds until a silent host was taken for dead", round(silent))
    assert silent > 15, "it was taken for dead before it was silent for long"
    assert pair.goes_on()
    far.signal(signal.SIGCONT)
    assert pair.both_store(), "it serves again, under a new name"

    assert far.signal(signal.SIGKILL) >= WORKERS  # the whole machine
    until(pair.far_is_buried, "the dead host is buried", 60)
    for page in pair.site.pages.values():
        page.delay = 0.0
    until(lambda: pair.value("SELECT count(*) FROM run WHERE state = 'finished'"), "the run ends", 90)
    record_property("pages fetched again", prove(pair, run))
    record_property("pages lost", 0)


def prove(pair: Pair, run: int) -> int:
    """Every page once; how many were asked for again."""
    rows = pair.server.execute("SELECT doc_id, url, outcome FROM ledger", database=DATABASES["DB_WEBCRAWL"])
    crawled = sorted("/" + url.split("/", 3)[-1] for _, url, outcome in rows if outcome == "crawled")
    assert crawled == sorted(pair.site.pages) and len(rows) == len(crawled)
    assert pair.server.execute(TWICE, database=DATABASES["DB_WEBCRAWL"]) == []
    for host in (pair.near, pair.far):
        host.manage("check_ledger", run)
    again = sum(pair.site.requests[path] - 1 for path in pair.site.pages)
    assert again <= 3 * 16 * DOCUMENTS, f"{again} pages were asked for again"
    return again
