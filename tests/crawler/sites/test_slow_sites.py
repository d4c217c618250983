"""One site that is slow, busy or silent holds up nobody else, and is asked less and less often."""

import socket
import time
from collections.abc import Callable
from itertools import pairwise

import pytest
from django.utils import timezone

from crawler.engine import loop
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.fetch import name_lookup
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.liveness.instances import register
from crawler.models import Excursion, Host, Run
from crawler.policy.robots_file import READ_AT_MOST
from crawler.runs.views.run_summary import _slow_sites
from crawler.sites import site_state
from crawler.sites.site_rules import SiteRules
from crawler.sites.site_state import BREAKER, LONGEST_PROBE, Hosts
from tests.crawler.clock import Clock, stopped
from tests.crawler.conftest import go_on, make_document
from tests.crawler.sites.test_politeness import closed_port
from tests.crawler.sites.test_signing_in_to_sites import links, with_form
from tests.proves import proves
from tests.sites import forms
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
SITE = "http://a.example"


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return stopped(site_state, monkeypatch)


@proves("rule 11", "D1")
def test_a_silent_site_is_probed_alone_and_less_and_less_often(clock: Clock) -> None:
    sites = Hosts("fast", register(None))
    site = sites.site(SITE)
    for _ in range(BREAKER):
        assert sites.ready(site, clock.now)
        sites.silent(site, "timeout")
    waits = []
    for _ in range(14):
        assert not sites.ready(site, clock.now)
        waits.append(site.next_at - clock.now)
        clock.now = site.next_at
        assert sites.ready(site, clock.now)
        sites.departed(site)
        assert not sites.ready(site, clock.now), "one probe at a time"
        sites.landed(site)
        sites.silent(site, "timeout")
    assert all(earlier <= later for earlier, later in pairwise(waits)) and waits[0] == 1.0
    assert waits[-1] == LONGEST_PROBE == 600.0
    sites.answered(site)
    clock.now = site.next_at
    assert sites.ready(site, clock.now) and not site.down_since


@proves("rule 11")
def test_after_our_patience_a_site_is_given_up_and_not_before(clock: Clock) -> None:
    sites = Hosts("fast", register(None))
    site = sites.site(SITE)
    for _ in range(BREAKER):
        sites.silent(site, "connect_failed")
    clock.now += sites.patience - 1
    assert not sites.given_up(site)
    clock.now += 2
    assert sites.given_up(site) and sites.patience == 1800.0


@proves("rule 11")
def test_requests_that_fail_together_are_one_failure(clock: Clock) -> None:
    sites = Hosts("fast", register(None))
    site = sites.site(SITE)
    for _ in range(16):
        sites.departed(site)
    for _ in range(16):
        clock.now += 0.001
        sites.landed(site)
        sites.silent(site, "connect_failed")
    assert site.next_at - clock.now <= 1.0


def test_a_site_that_answers_after_a_silence_is_asked_at_once_again(clock: Clock) -> None:
    sites = Hosts("fast", register(None))
    site = sites.site(SITE)
    for _ in range(BREAKER):
        sites.departed(site)
        sites.silent(site, "timeout")
    for _ in range(BREAKER):
        sites.landed(site)
    sites.answered(site)  # one that was under way when the others failed
    assert sites.ready(site, clock.now)


def test_an_heir_knows_since_when_a_site_is_silent(clock: Clock) -> None:
    first = Hosts("fast", register(None))
    site = first.site(SITE)
    for _ in range(BREAKER):
        first.silent(site, "timeout")
    first.save()
    heir = Hosts("fast", register(None))
    site = heir.site(SITE)
    assert not heir.ready(site, clock.now) and heir.ready(site, clock.now + 1.0), "the next probe is due then"
    clock.now += heir.patience + 1
    assert not heir.given_up(site), "nothing was asked for yet by this one"
    heir.silent(site, "connect_failed")
    assert heir.given_up(site)
    row = Host.objects.get()
    assert row.failing_since and row.probe_reason == "timeout"
    heir.answered(site)
    heir.save()
    row.refresh_from_db()
    assert (row.failing_since, row.probe_reason, row.wait_until) == (0, "", 0)


def test_a_silence_of_last_week_is_not_held_against_a_site(clock: Clock) -> None:
    first = Hosts("fast", register(None))
    site = first.site(SITE)
    for _ in range(BREAKER):
        first.silent(site, "timeout")
    first.save()
    week = time.time() - 7 * 86_400
    Host.objects.update(failing_since=week, wait_until=week + 60)
    later = Hosts("fast", register(None))
    site = later.site(SITE)
    later.silent(site, "timeout")
    assert later.ready(site, clock.now) and not later.given_up(site)
    later.save()
    assert Host.objects.get().failing_since == 0, "screens do not say it either"


@proves("rule 11", "D1")
def test_a_run_over_a_dead_site_ends_however_short_the_slices_of_its_instances(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_HOST_PATIENCE", "3")
    monkeypatch.setattr(loop, "SLICE_SECONDS", 1.5)
    run = launch(
        LaunchRequest([make_document({"url": f"http://127.0.0.1:{closed_port()}/"}).pk], by="test", speed="fast")
    )
    initialize(run)
    told: set[str] = set()

    def look(_: InstanceLoop) -> None:
        told.update(line["word"].split(" since ")[0] for line in _slow_sites(run, timezone.now()))

    slices = 0
    while run.state != "finished" and slices < 6:
        InstanceLoop(run).work(look)
        slices += 1
        run.refresh_from_db()
    assert (run.state, ledger(run)) == ("finished", {"/": "connect_failed"}) and slices >= 2
    assert told == {"does not answer"}, "and its page says what it waits for"


@proves("D2")
@pytest.mark.parametrize("ignore_robots", [True, False])
def test_an_unknown_name_fails_at_once_and_a_silent_name_server_is_waited_for(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, ignore_robots: bool
) -> None:
    """The name is one that libcurl cannot resolve anywhere; why, the system says as this test wants it."""
    monkeypatch.setenv("CLEARINGHOUSE_HOST_PATIENCE", "2")
    looks: list[str] = []
    for said in socket.EAI_NONAME, socket.EAI_AGAIN:

        def look_up(host: str, *_: object, said: int = said, **__: object) -> None:
            looks.append(host)
            raise socket.gaierror(said, "as the test says")

        monkeypatch.setattr(name_lookup.socket, "getaddrinfo", look_up)
        run = launch(LaunchRequest(
            [make_document({"url": "http://no-such-host.invalid/"}).pk],
            by="test", speed="fast", ignore_robots=ignore_robots,
        ))  # fmt: skip
        initialize(run)
        before = len(looks)
        InstanceLoop(run).work()
        assert ledger(run) == {"/": "dns_failed"} and Host.objects.get().probe_reason in ("", "dns_failed")
        tries = len(looks) - before
        assert tries == 1 if said == socket.EAI_NONAME else tries >= 2


@proves("rule 11")
def test_of_a_robots_txt_only_what_is_read_is_kept_and_not_in_memory(clock: Clock) -> None:
    sites = Hosts("fast", register(None))
    site = sites.site(SITE)
    SiteRules(sites, None, ignored=False).answered(site, 200, b"User-agent: *\nDisallow: /x\n" + b"# more\n" * 200_000)
    sites.save()
    assert READ_AT_MOST - 10 < len(Host.objects.get().robots_text) <= READ_AT_MOST and site.fresh_robots is None
    heir = Hosts("fast", register(None)).site(SITE)
    assert heir.robots is not None and not heir.robots.allowed(SITE + "/x")[0] and heir.fresh_robots is None


@proves("D24")
def test_while_one_site_asks_for_time_the_others_are_crawled(ledger: Ledger) -> None:
    """In one document: two sites, of which one is busy for three seconds."""
    busy = Page(status=429, headers={"Retry-After": "3"})
    with serve({"/": Page(script=[busy])}) as slow, serve({}) as quick:
        quick.pages |= {"/": Page([f"/{n}" for n in range(40)])} | {f"/{n}": Page(delay=0.05) for n in range(40)}
        document = make_document({"url": slow.url("/")}, {"url": quick.url("/")})
        run = launch(LaunchRequest([document.pk], by="test", speed="fast", ignore_robots=True))
        initialize(run)
        begun, all_of_the_quick = time.monotonic(), []

        def look(_: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled == 41 and not all_of_the_quick:
                all_of_the_quick.append(time.monotonic() - begun)

        InstanceLoop(run).work(look)
        assert slow.requests["/"] == 2 and time.monotonic() - begun >= 3.0
    assert all_of_the_quick and all_of_the_quick[0] < 3.0
    run.refresh_from_db()
    assert set(ledger(run).values()) == {"crawled"} and faults(run) == []


@proves("rule 10")
def test_an_heir_signs_in_for_itself(ledger: Ledger) -> None:
    """Cookies are nowhere but in memory: who takes over brings none along."""
    pages = {"/m/": links(*(f"/m/{n}" for n in range(40)))} | {f"/m/{n}": links() for n in range(40)}
    with forms.serve(pages=pages) as site:
        document = make_document(with_form(site))
        run = launch(LaunchRequest([document.pk], by="test", speed="medium", ignore_robots=True))
        initialize(run)

        def leave(one: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 4:
                one.ask_to_stop()

        InstanceLoop(run).work(leave)
        assert site.asked("POST", "/login") == 1 and Excursion.objects.get(run=run).unfinished
        Run.objects.filter(pk=run.pk).update(speed="fast")
        run = go_on(Run.objects.get(pk=run.pk))
        assert site.asked("POST", "/login") == 2
    assert set(ledger(run).values()) == {"crawled"} and len(ledger(run)) == 41
