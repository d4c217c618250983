"""A process that is stopped (SIGSTOP) and never wakes up costs no page and holds nobody up: others go on, it is ended.

The parent of a job's process waits for its end; a parser's loop for its answer; `make run` for nobody: it wakes up.
"""

import os
import signal
import sqlite3
import subprocess
import sys
import time
from collections.abc import Callable
from contextlib import closing
from pathlib import Path

from clearinghouse.operations import process_state
from tests.faults import site as sites
from tests.faults.house import BASE
from tests.faults.house import House as Bare
from tests.flow.conftest import house, prepared_folder  # noqa: F401 - fixtures
from tests.flow.house import House, until
from tests.flow.test_commands import a_document
from tests.sites.graph import Page, serve

PAGES = 400
_ASK = "import django; django.setup(); from crawler.propagation import services; services.ask(by='test')"
UNFINISHED = "SELECT 1 FROM propagation WHERE state IN ('waiting', 'working')"
ALIVE = "SELECT pid FROM instance WHERE alive AND kind = '{}'"


def at_work(place: House, kind: str) -> int:
    """The process of a job of this kind, as soon as there is one."""
    until_ = time.monotonic() + 60
    while time.monotonic() < until_:
        with closing(sqlite3.connect(place.folder / "webcrawl.sqlite3", timeout=20)) as connection:
            if found := connection.execute(ALIVE.format(kind)).fetchone():
                return int(found[0])
        time.sleep(0.002)
    raise AssertionError(f"no process of kind {kind} came\n{place.log[-2000:]}")


def stopped(pid: int) -> bool:
    return process_state.of(pid).stopped


def test_jobs_that_are_stopped_are_ended_and_others_go_on(
    house: House,  # noqa: F811
    record_property: Callable[[str, object], None],
) -> None:
    """The process of a crawl, then that of a propagation; each worker is the only one of its kind."""
    house.start_everything()
    document = a_document(house, depth=3)
    run = house.manage("launch", "--doc", document, "--speed", "medium")["run"]
    until(lambda: house.crawled(run) >= 2, "two pages are crawled", 60)
    crawling = at_work(house, "crawl")
    begun = time.monotonic()
    os.kill(crawling, signal.SIGSTOP)
    until(lambda: not process_state.of(crawling).letter, "the stopped crawl is ended", 60)
    ended_after = time.monotonic() - begun
    result = until(lambda: house.ended(run), "the run ends", 60)
    assert (result["state"], result["crawled"]) == ("finished", 25), house.log
    house.manage("check_ledger", run)

    for _ in range(5):  # a propagation of 25 pages is short: it may be over before it is stopped
        subprocess.run([sys.executable, "-c", _ASK], cwd=BASE, env=house.env, check=True)
        propagating = at_work(house, "propagate")
        os.kill(propagating, signal.SIGSTOP)
        time.sleep(0.1)
        if stopped(propagating):
            break
        until(lambda: not house.rows("webcrawl", UNFINISHED), "it is over")
    begun = time.monotonic()
    done = "SELECT 1 FROM propagation WHERE state = 'done' AND id = (SELECT max(id) FROM propagation)"
    until(lambda: house.rows("webcrawl", done), f"another process goes on\n{house.log[-2000:]}", 90)
    went_on_after = time.monotonic() - begun
    assert not stopped(propagating), "nobody waits for it any more"
    assert house.rows("webcrawl", "SELECT serving FROM public_switch") == [("primary",)]
    assert house.manage("search", "catheterisation")["total"] == 1
    record_property("seconds until a stopped crawl was ended", round(ended_after))
    record_property("seconds until a stopped propagation was done by another process", round(went_on_after))
    assert ended_after < 45 and went_on_after < 60


def test_parsers_that_are_stopped_cost_no_page(
    bare: Bare, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    """All parsers of a crawl, again and again while there are some: each page is read by others."""
    pages = {f"/{n}": Page([f"/{m}" for m in (2 * n + 1, 2 * n + 2) if m < PAGES]) for n in range(PAGES)}
    with serve(pages) as site:
        place = bare.copy(tmp_path / "var")
        sites.make(place, [[[site.url("/0"), "--depth", "99"]]])
        crawl = place.start("crawl", "--speed", "fast", "--json")
        until(lambda: place.rows("SELECT coalesce(sum(crawled), 0) FROM excursion")[0][0] >= 20, "it is under way")
        frozen = [pid for pid in children(crawl.pid) if b"crawler.extract.parser_process" in command_of(pid)]
        for pid in frozen:
            os.kill(pid, signal.SIGSTOP)
        begun = time.monotonic()
        _, said = crawl.communicate(timeout=120)
        assert frozen and crawl.returncode == 0, said
        outcomes = place.rows("SELECT outcome, reason, count(*) FROM ledger GROUP BY 1, 2")
        assert outcomes == [("crawled", "", PAGES)], outcomes
        assert max(site.requests.values()) == 1, "read again, not fetched again"
        place.manage("check_ledger", "1")
        record_property("pages lost by stopped parsers", PAGES - outcomes[0][2])
        record_property("pages fetched again for stopped parsers", sum(site.requests.values()) - len(site.requests))
        record_property("seconds a crawl went on after its parsers were stopped", round(time.monotonic() - begun))


def children(pid: int) -> list[int]:
    listed = Path(f"/proc/{pid}/task").glob("*/children")
    return [int(word) for one in listed for word in one.read_text().split()]


def command_of(pid: int) -> bytes:
    try:
        return Path(f"/proc/{pid}/cmdline").read_bytes()
    except OSError:
        return b""
