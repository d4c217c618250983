"""A crawl at full speed is killed when as many fetched pages wait to be read as ever may: what is fetched again."""

import os
import signal
import time
from collections.abc import Callable
from pathlib import Path

from crawler.engine.child_processes import MOST_WAITING
from tests.faults import site as sites
from tests.faults.house import House, kill
from tests.faults.lane import UNWRITTEN
from tests.faults.test_stopped import children, command_of
from tests.flow.house import until
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

PAGES = 900
MOST = MOST_WAITING + UNWRITTEN  # goal 6


def parsers_of(crawl: int) -> list[int]:
    return [pid for pid in children(crawl) if b"crawler.extract.parser_process" in command_of(pid)]


def asked(site: Site) -> int:
    return sum(site.requests.values())


def nothing_more_is_fetched(site: Site, crawl: int) -> None:
    """Stop whoever reads pages until so many wait that nobody fetches."""
    deadline, before = time.monotonic() + 25, -1  # a reader that is stopped is replaced after 30 s
    while asked(site) != before and time.monotonic() < deadline:
        before = asked(site)
        for pid in parsers_of(crawl):
            os.kill(pid, signal.SIGSTOP)
        time.sleep(0.7)


@proves("goal 6")
def test_no_more_is_fetched_again_than_was_promised(
    bare: House, tmp_path: Path, record_property: Callable[[str, object], None]
) -> None:
    pages = {"/0": Page([f"/{n}" for n in range(1, PAGES)])} | {f"/{n}": Page() for n in range(1, PAGES)}
    with serve(pages) as site:
        house = bare.copy(tmp_path / "var")
        sites.make(house, [[[site.url("/0"), "--depth", "9"]]])
        crawl = house.start("crawl", "--speed", "fast")
        until(lambda: parsers_of(crawl.pid) and asked(site) > 2, "the crawl is under way")
        nothing_more_is_fetched(site, crawl.pid)
        assert kill(crawl)
        begun = time.monotonic()
        house.manage("crawl", "--resume", "last")
        again = sum(count - 1 for path, count in site.requests.items() if path != "/robots.txt")
        crawled = house.rows("SELECT outcome, count(*) FROM ledger GROUP BY 1")
        house.manage("check_ledger", "1")
    record_property("pages fetched again, most", again)
    record_property("pages lost", PAGES - dict(crawled)["crawled"])
    record_property("seconds until the resumed crawl ended", round(time.monotonic() - begun, 1))
    assert crawled == [("crawled", PAGES)]
    assert MOST_WAITING / 2 < again <= MOST, "fewer, and the test proves nothing"
