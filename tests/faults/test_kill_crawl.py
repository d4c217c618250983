"""kill -9 at any moment of a crawl: nothing is lost, nothing is stored twice, every number fits. The short form."""

import random
import time
from pathlib import Path

import pytest

from tests.faults.house import House, kill, with_document
from tests.sites.graph import Page, Site, serve

PAGES = 150


def pages(rnd: random.Random) -> dict[str, Page]:
    site = {}
    for number in range(PAGES):
        children = [f"/{child}" for child in (2 * number + 1, 2 * number + 2) if child < PAGES]
        across = [f"/{rnd.randrange(PAGES)}" for _ in range(6)]
        site[f"/{number}"] = Page([*children, *across], delay=0.002)
    return site


def crawl_with_kills(house: House, rnd: random.Random, most: int) -> int:
    """Kill the crawl again and again, then let it end; how often a process died by it before it was done."""
    kills = 0
    arguments = ["crawl", "--doc", "1", "--speed", "fast"]
    for _ in range(most):
        process = house.start(*arguments)
        time.sleep(rnd.uniform(0.7, 1.3))
        if not kill(process):
            break
        kills += 1
        if house.rows("SELECT id FROM run"):
            arguments = ["crawl", "--resume", "last"]
    house.manage(*arguments)
    return kills


@pytest.fixture(scope="module")
def undisturbed(tmp_path_factory: pytest.TempPathFactory) -> set[str]:
    with serve(pages(random.Random(1))) as site:
        house = with_document(tmp_path_factory.mktemp("calm"), site.url("/0"))
        house.manage("crawl", "--doc", "1", "--speed", "fast")
        return paths(house)


def paths(house: House) -> set[str]:
    return {"/" + url.split("/", 3)[-1] for (url,) in house.rows("SELECT url FROM ledger WHERE outcome = 'crawled'")}


def refetched(site: Site) -> int:
    return sum(count - 1 for path, count in site.requests.items() if path != "/robots.txt")


@pytest.mark.parametrize("seed", range(4))
def test_a_killed_crawl_ends_as_if_nothing_had_happened(seed: int, tmp_path: Path, undisturbed: set[str]) -> None:
    rnd = random.Random(seed)
    with serve(pages(random.Random(1))) as site:
        house = with_document(tmp_path / "var", site.url("/0"))
        kills = crawl_with_kills(house, rnd, most=4)
        assert paths(house) == undisturbed
        assert len(undisturbed) == PAGES
        # Done twice at most: what was in flight, and one batch that was not written.
        assert refetched(site) <= kills * (100 + 16)
    house.manage("check_ledger")
    assert house.rows("SELECT count(*) - count(DISTINCT url_key) FROM ledger") == [(0,)]
    assert house.rows("SELECT count(*) FROM page_head") == [(PAGES,)]
    assert house.rows("PRAGMA integrity_check") == [("ok",)]


def test_a_maximum_holds_over_kills(tmp_path: Path) -> None:
    rnd = random.Random(9)
    with serve(pages(rnd)) as site:
        house = with_document(tmp_path / "var", site.url("/0"), "--max-pages", "60")
        kills = crawl_with_kills(house, rnd, most=3)
        fetched = {path for path in site.requests if path != "/robots.txt"}
        assert len(fetched) == 60, kills
    house.manage("check_ledger")
