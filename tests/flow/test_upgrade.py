"""Upgrade with a run in progress: stop everything, prepare, start everything; the run goes on to the exact result."""

import signal

from tests.flow.house import House, until
from tests.sites.graph import Page, serve

PAGES = 240
PROCESSES = ("embedded_redis", "rqworker control --verbosity 0", "rqworker crawl --verbosity 0", "tick")


def state(house: House) -> tuple[str, int]:
    sums = "SELECT run.state, sum(crawled) FROM run JOIN excursion ON run_id = run.id GROUP BY run.state"
    ((word, crawled),) = house.rows("webcrawl", sums)
    return word, int(crawled or 0)


def start(house: House) -> None:
    for words in PROCESSES:
        house.start_manage(*words.split())


def stop(house: House) -> None:
    """As a process manager does: everybody is asked to end, and ends."""
    running, house.started = house.started, []
    for process in running:
        process.send_signal(signal.SIGTERM)
    for process in running:
        process.wait(timeout=20)
    assert until(lambda: not house.processes(), "nobody is left", 10) is True


def test_a_run_goes_on_after_an_upgrade_as_if_nothing_had_been(house: House) -> None:
    pages = {"/m/": Page([f"/m/{number}" for number in range(PAGES)])}
    pages |= {f"/m/{number}": Page(delay=0.25) for number in range(PAGES)}
    with serve(pages) as site:
        house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] = site.address.removeprefix("http://")
        document = house.manage("add_document", "Measures")["doc_id"]
        house.manage("add_crawl_point", document, site.url("/m/"), "--depth", 3)
        start(house)
        house.manage("launch", "--doc", document, "--speed", "fast")
        until(lambda: state(house)[1] > 30, "the crawl is on its way")
        stop(house)
        word, crawled = state(house)
        assert word in ("running", "waiting", "interrupted") and crawled < PAGES

        prepared = house.manage("prepare")
        assert {one["state"] for one in prepared["databases"]} == {"up to date"}
        start(house)
        until(lambda: state(house)[0] == "finished", "the run ends", 60)
        assert state(house) == ("finished", PAGES + 1), house.log
        asked = [site.requests[path] for path in pages]
        assert min(asked) == 1 and sum(asked) <= len(pages) + 16, "only what was under way is asked for again"
        house.manage("check_ledger")
