"""Politeness towards sites, over all instances; what happens while a site does not answer."""

import socket
import threading
import time
from collections import Counter
from collections.abc import Callable
from itertools import pairwise

import pytest

from clearinghouse.database.digests import digest_of
from crawler.ledger.ledger_check import faults
from crawler.liveness.instances import register
from crawler.models import Excursion, HostService, Run
from crawler.sites.rate_slots import RateSlots, Want
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
KEY = digest_of("http://a.example")
SITES = {KEY: "http://a.example"}


def want(limit: int = 1, landed: int = 0, pause: float = 1.0) -> Want:
    return Want(KEY, "http://a.example", pause, limit, landed)


def closed_port() -> int:
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        return int(probe.getsockname()[1])


@proves("rule 11", "goal 30")
def test_two_instances_never_have_more_than_the_sites_connections() -> None:
    first, second = RateSlots(register(None)), RateSlots(register(None))
    (slot,) = first.reserve([want()])[KEY]
    assert second.reserve([want()])[KEY] == []
    first.reserve([want(limit=0, landed=1)])
    (later,) = second.reserve([want()])[KEY]
    assert later - slot >= 1.0 - 0.001  # the two looks at the clock differ by what they took


@proves("rule 11")
def test_slots_of_a_dead_instance_are_free_again() -> None:
    dead, alive = register(None), register(None)
    RateSlots(dead).reserve([want()])
    type(dead).objects.filter(pk=dead.pk).update(alive=False)
    assert len(RateSlots(alive).reserve([want()])[KEY]) == 1


def test_a_slot_far_away_is_not_taken() -> None:
    pace = RateSlots(register(None))
    pace.reserve([want(pause=30.0)])
    assert pace.reserve([want(landed=1, pause=30.0)])[KEY] == []


def test_instances_count_who_else_serves_a_site() -> None:
    first, second = RateSlots(register(None)), RateSlots(register(None))
    first.reserve([want()])
    assert first.share(SITES)[KEY] == 1
    assert second.share(SITES)[KEY] == 2
    second.leave()
    assert first.share(SITES)[KEY] == 1
    assert HostService.objects.count() == 1


@proves("rule 11", "goal 30")
def test_polite_leaves_a_second_between_requests_and_makes_one_at_a_time() -> None:
    times: list[float] = []

    class Clock(Counter[str]):
        def __setitem__(self, path: str, count: int) -> None:
            times.append(time.monotonic())
            super().__setitem__(path, count)

    with serve({"/": Page(["/a", "/b"]), "/a": Page(delay=0.3), "/b": Page()}) as site:
        site.requests = Clock()
        crawl(make_document({"url": site.url("/")}), speed="polite", ignore_robots=True)
    assert len(times) == 3
    assert all(later - earlier >= 1.0 for earlier, later in pairwise(times))


@proves("rule 11", "D1")
def test_the_pages_of_a_site_that_stays_silent_fail_after_our_patience(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_HOST_PATIENCE", "1")
    run = crawl(make_document({"url": f"http://127.0.0.1:{closed_port()}/"}))
    assert run.state == "finished"
    assert ledger(run) == {"/": "connect_failed"}
    assert faults(run) == []


@proves("rule 11", "D1")
def test_a_site_that_comes_back_is_crawled_as_if_nothing_had_been(ledger: Ledger) -> None:
    port = closed_port()
    document = make_document({"url": f"http://127.0.0.1:{port}/"})
    opened = threading.Event()

    def open_later() -> None:
        time.sleep(0.6)
        with serve({"/": Page(["/a"]), "/a": Page()}, port=port):
            opened.wait(20)

    thread = threading.Thread(target=open_later)
    thread.start()
    try:
        run = crawl(document)
    finally:
        opened.set()
        thread.join()
    assert ledger(run) == {"/": "crawled", "/a": "crawled"}


@proves("rule 11", "D30")
def test_nothing_is_fetched_while_robots_txt_cannot_be_read(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_HOST_PATIENCE", "1")
    with serve({"/robots.txt": Page(status=503), "/": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
        assert site.requests["/"] == 0
    assert ledger(run) == {"/": "robots_unavailable"}


@proves("D30")
def test_a_redirected_robots_txt_is_followed(ledger: Ledger) -> None:
    rules = Page(body=b"User-agent: *\nDisallow: /x", type="text/plain")
    with serve(
        {"/robots.txt": Page(status=301, location="/r2"), "/r2": rules, "/": Page(["/x"]), "/x": Page()}
    ) as site:
        assert ledger(crawl(make_document({"url": site.url("/")})))["/x"] == "robots_disallowed"


@proves("rule 11", "D24")
def test_a_site_that_asks_to_be_left_alone_is_left_alone(ledger: Ledger) -> None:
    busy = Page(status=429, headers={"Retry-After": "1"})
    with serve({"/": Page(script=[busy])}) as site:
        began = time.monotonic()
        run = crawl(make_document({"url": site.url("/")}))
        assert time.monotonic() - began >= 1.0
        assert site.requests["/"] == 2
    assert ledger(run) == {"/": "crawled"}
    assert Excursion.objects.get(run=run).tallies["slow_down"] == 1, "also when it is crawled in the end"
