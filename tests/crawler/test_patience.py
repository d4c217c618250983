"""One site that is slow, busy or silent holds up nobody else, and is asked less and less often."""

import time
from collections.abc import Callable
from itertools import pairwise

import pytest

from crawler import hosts, intake
from crawler.hosts import BREAKER, LONGEST_PROBE, Hosts
from crawler.initializer import initialize
from crawler.instance import Crawl
from crawler.instances import register
from crawler.ledger_check import faults
from crawler.models import Excursion, Run
from tests.crawler.clock import Clock, stopped
from tests.crawler.conftest import go_on, make_document
from tests.crawler.test_signing_in import links, with_form
from tests.sites import forms
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
SITE = "http://a.example"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return stopped(hosts, monkeypatch)


def test_a_silent_site_is_probed_alone_and_less_and_less_often(clock: Clock) -> None:
    desks = Hosts("fast", register(None))
    desk = desks.desk(SITE)
    for _ in range(BREAKER):
        assert desks.ready(desk, clock.now)
        desks.silent(desk, "timeout")
    waits = []
    for _ in range(14):
        assert not desks.ready(desk, clock.now)
        waits.append(desk.next_at - clock.now)
        clock.now = desk.next_at
        assert desks.ready(desk, clock.now)
        desks.departed(desk)
        assert not desks.ready(desk, clock.now), "one probe at a time"
        desks.landed(desk)
        desks.silent(desk, "timeout")
    assert all(earlier <= later for earlier, later in pairwise(waits)) and waits[0] == 1.0
    assert waits[-1] == LONGEST_PROBE == 600.0
    desks.answered(desk)
    clock.now = desk.next_at
    assert desks.ready(desk, clock.now) and not desk.down_since


def test_after_our_patience_a_site_is_given_up_and_not_before(clock: Clock) -> None:
    desks = Hosts("fast", register(None))
    desk = desks.desk(SITE)
    for _ in range(BREAKER):
        desks.silent(desk, "connect_failed")
    clock.now += desks.patience - 1
    assert not desks.given_up(desk)
    clock.now += 2
    assert desks.given_up(desk) and desks.patience == 1800.0


def test_while_one_site_asks_for_time_the_others_are_crawled(ledger: Ledger) -> None:
    """In one document: two sites, of which one is busy for three seconds."""
    busy = Page(status=429, headers={"Retry-After": "3"})
    with serve({"/": Page(script=[busy])}) as slow, serve({}) as quick:
        quick.pages |= {"/": Page([f"/{n}" for n in range(40)])} | {f"/{n}": Page(delay=0.05) for n in range(40)}
        document = make_document({"url": slow.url("/")}, {"url": quick.url("/")})
        run = intake.launch([document.pk], by="test", speed="fast", ignore_robots=True)
        initialize(run)
        begun, all_of_the_quick = time.monotonic(), []

        def look(_: Crawl) -> None:
            if Excursion.objects.get(run=run).crawled == 41 and not all_of_the_quick:
                all_of_the_quick.append(time.monotonic() - begun)

        Crawl(run).work(look)
        assert slow.requests["/"] == 2 and time.monotonic() - begun >= 3.0
    assert all_of_the_quick and all_of_the_quick[0] < 3.0
    run.refresh_from_db()
    assert set(ledger(run).values()) == {"crawled"} and faults(run) == []


def test_an_heir_signs_in_for_itself(ledger: Ledger) -> None:
    """Cookies are nowhere but in memory: who takes over brings none along."""
    pages = {"/m/": links(*(f"/m/{n}" for n in range(40)))} | {f"/m/{n}": links() for n in range(40)}
    with forms.serve(pages=pages) as site:
        document = make_document(with_form(site))
        run = intake.launch([document.pk], by="test", speed="medium", ignore_robots=True)
        initialize(run)

        def leave(one: Crawl) -> None:
            if Excursion.objects.get(run=run).crawled >= 4:
                one.ask_to_stop()

        Crawl(run).work(leave)
        assert site.asked("POST", "/login") == 1 and Excursion.objects.get(run=run).unfinished
        Run.objects.filter(pk=run.pk).update(speed="fast")
        run = go_on(Run.objects.get(pk=run.pk))
        assert site.asked("POST", "/login") == 2
    assert set(ledger(run).values()) == {"crawled"} and len(ledger(run)) == 41
