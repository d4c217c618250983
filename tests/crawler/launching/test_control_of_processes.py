"""A crawl in a process of its own: what it is told it does within two seconds, and it ends quickly and cleanly."""

import json
import os
import signal
import time
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from tests.faults.house import House, with_document
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

PROMISED = 2.0  # seconds between an order and the last request that ignores it
GRACE = 10.0


def until(true: Callable[[], object], what: str, seconds: float = 30.0) -> None:
    deadline = time.monotonic() + seconds
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.02)


@pytest.fixture(scope="module")
def prepared(tmp_path_factory: pytest.TempPathFactory) -> Iterator[tuple[Site, House]]:
    with serve({}) as site:
        yield site, with_document(tmp_path_factory.mktemp("prepared") / "house", site.url("/m/"))


@pytest.fixture
def site(prepared: tuple[Site, House]) -> Site:
    site = prepared[0]
    site.pages = {"/m/": Page([f"/m/{n}" for n in range(600)])} | {f"/m/{n}": Page(delay=0.5) for n in range(600)}
    site.requests.clear()
    return site


@pytest.fixture
def house(prepared: tuple[Site, House], tmp_path: Path) -> House:
    return prepared[1].copy(tmp_path / "house")


def asked(site: Site, under: str = "/") -> int:
    return sum(count for path, count in site.requests.copy().items() if path.startswith(under))


def state(house: House) -> str:
    return house.rows("SELECT state FROM run")[0][0]


@proves("rule 19")
def test_pause_resume_speed_and_stop_act_within_two_seconds(house: House, site: Site) -> None:
    crawl = house.start("crawl", "--speed", "fast", "--json")
    until(lambda: asked(site) > 30, "the crawl has begun")
    house.manage("run", "1", "pause")
    time.sleep(PROMISED)
    before = asked(site)
    time.sleep(1.0)
    assert asked(site) == before < 600
    house.manage("run", "1", "resume")
    until(lambda: asked(site) > before, "it goes on", PROMISED)
    house.manage("run", "1", "speed", "polite")
    time.sleep(PROMISED)
    before = asked(site)
    time.sleep(2.2)
    assert asked(site) - before <= 3
    house.manage("run", "1", "stop")
    time.sleep(PROMISED)
    before = asked(site)
    crawl.communicate(timeout=GRACE)
    assert asked(site) == before and state(house) == "stopped"
    house.manage("check_ledger", "1")
    assert house.rows("SELECT COUNT(*) FROM ledger WHERE reason = 'run_stopped'")[0][0] > 0


NARROWING = {
    "a crawl point is deactivated": """
from crawlpoints.models import CrawlPoint
from crawlpoints.services import set_active
set_active(CrawlPoint.objects.filter(url__endswith="/off/"), False)""",
    "a crawl point is deleted": """
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint
from crawlpoints.services import delete_crawl_point
delete_crawl_point(CrawlPoint.objects.get(url__endswith="/off/"))""",
    "an exclude URL is applied": """
from crawler.launching import control
from crawler.models import Run
control.apply_excludes(Run.objects.get(), 1, ["*/off/*"], by="editor")""",
}


@proves("rule 19")
@pytest.mark.parametrize("order", NARROWING.values(), ids=NARROWING.keys())
def test_what_is_taken_out_of_a_running_crawl_is_not_asked_for_after_two_seconds(
    house: House, site: Site, order: str
) -> None:
    """By the site's own log, on the real clock; the rest of the document goes on."""
    site.pages |= {"/off/": Page([f"/off/{n}" for n in range(600)])}
    site.pages |= {f"/off/{n}": Page(delay=0.5) for n in range(600)}
    site.pages["/m/"] = Page([f"/m/{n}" for n in range(40)])  # and these lead, deeper, to the other pages
    for n in range(40):
        site.pages[f"/m/{n}"] = Page([f"/m/{40 + 14 * n + k}" for k in range(14)], delay=0.5)
    house.manage("add_crawl_point", "1", site.url("/off/"), "--depth", "50")
    crawl = house.start("crawl", "--speed", "fast", "--json")
    until(lambda: asked(site, "/off/") > 20, "the crawl has begun")
    house.python(order)
    time.sleep(PROMISED)
    off, others = asked(site, "/off/"), asked(site, "/m/")
    time.sleep(2.0)
    assert asked(site, "/off/") == off < 600
    assert asked(site, "/m/") > others, "the rest goes on"
    crawl.send_signal(signal.SIGTERM)
    crawl.communicate(timeout=GRACE)
    house.manage("check_ledger", "1")


@proves("rule 19")
def test_cancel_acts_within_two_seconds(house: House, site: Site) -> None:
    crawl = house.start("crawl", "--speed", "fast", "--json")
    until(lambda: asked(site) > 30, "the crawl has begun")
    house.manage("run", "1", "cancel")
    time.sleep(PROMISED)
    before = asked(site)
    crawl.communicate(timeout=GRACE)
    assert asked(site) == before and state(house) == "cancelled"
    assert house.rows("SELECT COUNT(*) FROM page_head")[0][0] == 0
    house.manage("check_ledger", "1")


def test_a_command_that_has_grown_starts_afresh_and_nobody_notices(house: House, site: Site) -> None:
    site.pages = {"/m/": Page([f"/m/{n}" for n in range(16)])} | {f"/m/{n}": Page() for n in range(16)}
    house.databases["CLEARINGHOUSE_MEMORY"] = "1"  # megabyte: always too much
    crawl = house.start("crawl", "--speed", "medium", "--instances", "2", "--json")
    printed, _ = crawl.communicate(timeout=60)
    assert crawl.returncode == 0 and json.loads(printed)["crawled"] == 17
    drivers = house.rows("SELECT pid, alive FROM instance WHERE kind = 'driver'")
    assert len(drivers) >= 2 and set(drivers) == {(crawl.pid, 0)}
    assert max(count for path, count in site.requests.items() if path != "/robots.txt") == 1
    house.manage("check_ledger", "1")


@proves("A6")
@pytest.mark.parametrize("signals", [[signal.SIGTERM], [signal.SIGINT], [signal.SIGTERM, signal.SIGTERM]])
def test_a_signal_ends_the_process_in_time_and_loses_nothing(
    house: House, site: Site, signals: list[signal.Signals]
) -> None:
    crawl = house.start("crawl", "--speed", "fast", "--json")
    until(lambda: asked(site) > 30, "the crawl has begun")
    begun = time.monotonic()
    for number in signals:
        os.kill(crawl.pid, number)
        time.sleep(0.1)
    crawl.communicate(timeout=GRACE)
    assert time.monotonic() - begun < GRACE
    house.manage("check_ledger", "1")
    assert house.rows("SELECT COUNT(*) FROM active_queue") == [(0,)]
    for path in site.pages:
        site.pages[path].delay = 0.0
    house.manage("crawl", "--resume", "last")
    assert state(house) == "finished" and house.rows("SELECT SUM(crawled) FROM excursion") == [(601,)]
    assert max(count for path, count in site.requests.items() if path != "/robots.txt") == 1
