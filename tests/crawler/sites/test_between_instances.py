"""What instances tell each other about sites: who serves them, who asked for time, whose turn it is."""

import time
from collections import Counter
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test.utils import CaptureQueriesContext

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.digests import digest_of
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.liveness import database_clock as rows_clock
from crawler.liveness.instances import register
from crawler.models import Host, HostService, Instance, Run
from crawler.sites import site_state
from crawler.sites.rate_slots import RateSlots, Want, has_turn
from crawler.sites.site_rules import SiteRules
from crawler.sites.site_state import Hosts, SiteState
from crawler.sites.speeds import SPEEDS
from tests.crawler.clock import Clock, stopped
from tests.crawler.conftest import make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
SITE = "http://a.example"
KEY = digest_of(SITE)


@pytest.fixture
def clock(monkeypatch: pytest.MonkeyPatch) -> Clock:
    return stopped(site_state, monkeypatch)


def take_all(sites: Hosts, site: SiteState) -> int:
    """How many requests may go at once."""
    count = 0
    while sites.ready(site, time.monotonic()):
        sites.departed(site)
        count += 1
    return count


def begun(*points: dict[str, Any], **options: Any) -> Run:
    run = launch(LaunchRequest([make_document(*points).pk], by="test", ignore_robots=True, **options))
    initialize(run)
    return run


@proves("rule 11")
def test_a_site_that_an_instance_is_done_with_is_free_for_others_while_it_is_busy_elsewhere(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(site_state, "BEAT_SECONDS", 0.5)
    monkeypatch.setitem(SPEEDS, "polite", (0.05, 1))
    chain = {f"/{n}": Page([f"/{n + 1}"]) for n in range(60)} | {"/60": Page()}
    free_after: list[float] = []
    with serve({"/": Page()}) as left, serve(chain) as busy:
        run = begun({"url": left.url("/")}, {"url": busy.url("/0"), "root": busy.url("/"), "depth": 99}, speed="polite")
        rival, key = RateSlots(register(None)), digest_of(left.address)

        def look(crawl: InstanceLoop) -> None:
            """The first instance commits several times a second, and its beats are none the rarer for it."""
            begun = left.requests["/"] and busy.requests["/3"] and not free_after
            if begun and rival.reserve([Want(key, left.address, 0.05, 1, 0)])[key]:
                free_after.append(busy.requests["/60"])

        InstanceLoop(run).work(look)
    assert free_after == [0], "the site was free only when the other instance had nothing more to do anywhere"


@proves("rule 11")
def test_at_full_speed_a_newcomer_takes_its_share_and_the_other_gives_way_at_its_beat(clock: Clock) -> None:
    """Also where robots.txt is ignored, so that nothing else is known of the site."""
    first, second = Hosts("fast", register(None)), Hosts("fast", register(None))
    site = first.site(SITE)
    assert take_all(first, site) == 16
    assert take_all(second, second.site(SITE)) == 8
    for _ in range(16):
        first.landed(site)
    clock.now += 3.0
    first.beat(clock.now)
    assert take_all(first, site) == 8


def test_who_has_not_asked_a_site_for_a_while_holds_no_share_of_it(clock: Clock) -> None:
    first, second = Hosts("fast", register(None)), Hosts("fast", register(None))
    first.site(SITE)
    site = second.site(SITE)
    for _ in range(2):
        clock.now += 3.0
        first.beat(clock.now)
        second.departed(site)
        second.landed(site)
        second.beat(clock.now)
    assert take_all(second, site) == 16 and HostService.objects.count() == 1


@proves("rule 11")
def test_fewer_connections_than_instances_are_never_exceeded_and_go_round(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, "fast", (0.0, 2))
    crowd = [Hosts("fast", register(None)) for _ in range(3)]
    sites = [one.site(SITE) for one in crowd]
    for one, site in zip(crowd, sites, strict=True):
        one.beat(time.monotonic())
        assert site.shared == 3
    now, served, flying = 2_000_000_000.0, Counter[int](), [0, 0, 0]
    for name in ("time", "monotonic"):
        monkeypatch.setattr(site_state.time, name, lambda: now)
    monkeypatch.setattr(rows_clock, "_asked", lambda: now)
    for step in range(400):  # tenths of a second; each request takes one
        now += 0.1
        for number, (one, site) in enumerate(zip(crowd, sites, strict=True)):
            for _ in range(flying[number]):
                one.landed(site)
            flying[number] = 0
        for number, (one, site) in enumerate(zip(crowd, sites, strict=True)):
            one.ready(site, time.monotonic())
            one.ask(step + 1.0)
            flying[number] = take_all(one, site)
            served[number] += flying[number]
        assert sum(flying) <= 2
    assert min(served.values()) >= 80, served


def test_turns_go_round_also_where_a_site_is_asked_every_second_second() -> None:
    for pause in 1, 2, 3, 30:
        seconds = range(2_000_000_000, 2_000_000_000 + 100 * pause, pause)
        turns = Counter(one for second in seconds for one in (7, 8, 9) if has_turn({7, 8, 9}, one, 1, second))
        assert sum(turns.values()) == 100 and min(turns[one] for one in (7, 8, 9)) >= 15, (pause, turns)
    assert all(has_turn({7, 8}, 7, 2, second) for second in range(10))


@proves("rule 11", "D24")
def test_a_running_rival_hears_that_a_site_asked_for_time(clock: Clock) -> None:
    first, second = Hosts("fast", register(None)), Hosts("fast", register(None))
    theirs, ours = first.site(SITE), second.site(SITE)
    first.leave_alone(theirs, 60.0)
    first.save()
    clock.now += 3.0
    second.beat(clock.now)
    assert not second.ready(ours, clock.now + 50) and second.ready(ours, clock.now + 61)


@proves("D24")
def test_nobody_shortens_the_time_another_was_asked_for(clock: Clock) -> None:
    first, second = Hosts("fast", register(None)), Hosts("fast", register(None))
    theirs, ours = first.site(SITE), second.site(SITE)
    first.leave_alone(theirs, 100.0)
    first.save()
    until = Host.objects.get(key=KEY).wait_until
    SiteRules(second, None, ignored=False).answered(ours, 200, b"User-agent: *\nDisallow: /x")
    second.save()
    second.leave_alone(ours, 10.0)
    second.save()
    row = Host.objects.get(key=KEY)
    assert row.wait_until == until > time.time() + 90 and row.robots_status == 200


def test_a_rival_probes_a_site_that_answered_somebody(clock: Clock) -> None:
    first, second = Hosts("fast", register(None)), Hosts("fast", register(None))
    theirs, ours = first.site(SITE), second.site(SITE)
    for _ in range(5):
        first.silent(theirs, "timeout")
    clock.now += 400
    first.silent(theirs, "timeout")
    first.save()
    clock.now += 3.0
    second.beat(clock.now)
    assert not second.ready(ours, clock.now + 300), "one site, one silence"
    first.answered(theirs)
    first.save()
    clock.now += 3.0
    second.beat(clock.now)
    assert take_all(second, ours) == 1, "it was not told anything by the site itself"


def test_what_is_under_way_is_forgotten_with_the_memory_of_it(monkeypatch: pytest.MonkeyPatch) -> None:
    """The database was away: the answers of before never come, and their places must not stay taken."""
    with serve({"/": Page()}) as site:
        crawl = InstanceLoop(begun({"url": site.url("/")}, speed="polite"))
        sites = crawl.strand.dispatch.hosts
        sites._free(sites.site(site.address), 0.0)
        sites.ask(time.monotonic())
        assert HostService.objects.get(instance=crawl.row).flying == 1

        def away() -> bool:
            raise OperationalError

        monkeypatch.setattr(crawl, "_round", away)
        monkeypatch.setattr(connections, "close_all", lambda: None)  # it is the test's own
        assert crawl._safe_round() and not HostService.objects.filter(instance=crawl.row).exists()
        crawl.strand.dispatch.close()


@pytest.mark.parametrize("speed", ["fast", "polite"])
def test_many_sites_cost_no_query_each(speed: str, clock: Clock) -> None:
    rival = Hosts(speed, register(None))
    counts = []
    for number in (2, 400):
        sites = [f"http://{number}-{n}.example" for n in range(number)]
        rival.meet(sites)
        own = Hosts(speed, register(None))
        clock.now += 10
        with CaptureQueriesContext(connections[WEBCRAWL]) as met:
            own.meet(sites)
        with CaptureQueriesContext(connections[WEBCRAWL]) as beaten:
            own.beat(clock.now)
        assert {own.site(site).shared for site in sites} == {2}
        counts.append((len(met), len(beaten)))
        own.leave()
        Instance.objects.filter(pk=own._pace._instance_id).update(alive=False)
    assert counts[0] == counts[1] and sum(counts[1]) <= 16
