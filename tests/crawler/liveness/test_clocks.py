"""Clocks that jump, and another host's that is ahead: nobody waits for the length of it, and nothing comes twice.

The clock of the rows is moved here; tests/faults/test_clocks.py does the same to real processes.
"""

from collections.abc import Callable, Iterator
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.utils import timezone

from clearinghouse.database.digests import digest_of
from clearinghouse.published.models import PublicSwitch
from crawler.engine import response_kind
from crawler.launching import schedules
from crawler.liveness import database_clock
from crawler.liveness.instances import register
from crawler.models import Host, Propagation, Run, Schedule, Webhook, WebhookCall
from crawler.propagation import services
from crawler.propagation.switching import load_balancer, public_home, switch
from crawler.sites import site_store
from crawler.sites.rate_slots import RateSlots, Want
from crawler.sites.site_state import Hosts
from crawler.sites.site_store import Note
from crawler.values import Fetched, Request

pytestmark = pytest.mark.django_db(databases="__all__")
ORIGIN = "http://a.example"
KEY = digest_of(ORIGIN)
HOUR = 3600.0
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=ZoneInfo("UTC"))


class Clocks:
    """The clock of the rows is ahead of the right time by so much."""

    ahead = 0.0


@pytest.fixture
def clocks(monkeypatch: pytest.MonkeyPatch) -> Iterator[Clocks]:
    clocks, asked = Clocks(), database_clock._asked
    monkeypatch.setattr(database_clock, "_asked", lambda: asked() + clocks.ahead)
    yield clocks
    database_clock._distance.now = 0.0


def want(pause: float = 1.0, **more: Any) -> Want:
    return Want(KEY, ORIGIN, pause, 1, 0, **more)


def in_seconds(slot: float) -> float:
    import time

    return slot - time.monotonic()


@pytest.mark.parametrize("jump", [-HOUR, HOUR, -30 * 24 * HOUR, 600.0, -600.0])
@pytest.mark.parametrize("pause", [1.0, 0.2])
def test_after_a_jump_of_the_clock_a_site_is_not_left_alone_for_its_length(
    clocks: Clocks, jump: float, pause: float
) -> None:
    pace, other = RateSlots(register(None)), RateSlots(register(None))
    assert pace.reserve([want(pause)])[KEY]
    pace.reserve([Want(KEY, ORIGIN, pause, 0, 1)])
    clocks.ahead = jump
    waited = 0.0
    while not (slots := other.reserve([want(pause, longest=1.0)])[KEY]):
        clocks.ahead += 0.1  # as time passes
        waited += 0.1
        assert waited < 5, "it stands still"
    assert waited + in_seconds(slots[0]) <= 2.1


def test_a_slot_that_another_rightly_took_is_still_waited_for(clocks: Clocks) -> None:
    """Half a minute, because robots.txt says so; we ignore it and know nothing of it."""
    first, second = RateSlots(register(None)), RateSlots(register(None))
    first.reserve([want(30.0)])
    text = "User-agent: *\nCrawl-delay: 30\n"
    Host.objects.update(robots_status=200, robots_text=text, robots_at=database_clock.seconds())
    first.reserve([Want(KEY, ORIGIN, 30.0, 0, 1)])
    before = Host.objects.get().next_at
    assert second.reserve([want(1.0, longest=1.0)])[KEY] == [] and Host.objects.get().next_at == before


def test_slots_follow_the_clock_of_the_process_once_they_are_given(clocks: Clocks) -> None:
    """A jump while a crawl runs neither brings its requests nearer together nor keeps them away."""
    hosts = Hosts("polite", register(None))
    site = hosts.site(ORIGIN)
    hosts.ready(site, 0.0)
    hosts.ask(1.0)
    (slot,) = site.slots
    clocks.ahead = -HOUR
    assert -0.5 < in_seconds(slot) < 1.5
    hosts.departed(site)
    hosts.landed(site)
    hosts.ready(site, 0.0)
    hosts.ask(3.0)
    (slot,) = site.slots or [float("nan")]
    assert 0.9 < in_seconds(slot) < 2.5, "a second after the answer, whatever the clock says"


@pytest.mark.parametrize("jump", [-HOUR, HOUR])
def test_what_a_site_asked_for_is_waited_for_once_whatever_the_clock_does(clocks: Clocks, jump: float) -> None:
    pace = RateSlots(register(None))
    pace.share({KEY: ORIGIN})
    site_store.write([Note(KEY, 10.0)])
    clocks.ahead = jump
    told = site_store.read([KEY])[KEY].trouble.wait
    assert told <= 10.0 and (told > 9.0 or jump > 0)
    clocks.ahead += 11.0
    assert site_store.read([KEY])[KEY].trouble.wait <= 0.0
    assert site_store.troubles() == {}
    assert pace.reserve([want()])[KEY]


@pytest.mark.parametrize("jump", [-HOUR, -400 * 24 * HOUR])
def test_a_silence_seen_by_a_clock_that_was_ahead_has_just_begun(clocks: Clocks, jump: float) -> None:
    RateSlots(register(None)).share({KEY: ORIGIN})
    site_store.write([Note(KEY, 1.0, (5.0, "timeout"))])
    clocks.ahead = jump
    trouble = site_store.read([KEY])[KEY].trouble
    assert 0 < trouble.failing_for < 1 and trouble.wait <= 1.0
    hosts = Hosts("polite", register(None))
    assert not hosts.given_up(hosts.site(ORIGIN))


def test_a_robots_txt_of_the_future_is_asked_for_again(clocks: Clocks) -> None:
    RateSlots(register(None)).share({KEY: ORIGIN})
    clocks.ahead = 365 * 24 * HOUR
    site_store.write([Note(KEY, robots=(200, b"User-agent: *\nDisallow: /"))])
    assert site_store.read([KEY])[KEY].robots_status == 200 and site_store.robots(KEY) is not None
    clocks.ahead = 0.0
    assert site_store.read([KEY])[KEY].robots_status == 0 and site_store.robots(KEY) is None


@pytest.mark.parametrize(("every", "furthest"), [("day", 50), ("week", 14 * 24 + 2), ("month", 63 * 24)])
def test_a_plan_reckoned_by_a_clock_that_was_ahead_comes_at_its_time(every: str, furthest: int) -> None:
    given: dict[str, Any] = {"every": every, "at": "02:00", "weekdays": [6], "created_by": "amira", "created_at": NOW}
    plan = schedules.add(Schedule(zone="UTC", **given), NOW)
    right = plan.next_at
    Schedule.objects.update(next_at=right + timedelta(days=365))
    schedules.bring_near(NOW)
    assert Schedule.objects.get().next_at == right
    assert right - NOW < timedelta(hours=furthest)


def test_a_plan_that_began_is_not_begun_again_by_a_clock_that_goes_back(world: Any = None) -> None:
    given: dict[str, Any] = {"every": "day", "at": "12:00", "created_by": "amira", "created_at": NOW}
    schedules.add(Schedule(zone="UTC", **given), NOW - timedelta(minutes=5))
    schedules.start_due(NOW + timedelta(minutes=1))
    after = Schedule.objects.get().next_at
    back = NOW - timedelta(minutes=59)
    schedules.bring_near(back)
    assert Schedule.objects.get().next_at == after and schedules.due(back + timedelta(hours=1)) == []


def test_a_load_balancer_is_told_although_a_clock_went_back(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(load_balancer, "configured", lambda: True)
    told: list[str] = []
    monkeypatch.setattr(load_balancer, "tell", lambda serving, beat: told.append(serving))
    switch.switch()
    later = timezone.now() + timedelta(hours=1)
    rows = PublicSwitch.objects.using("webcrawl")
    rows.update(serving="primary", told="", changed_at=later, told_at=later, telling_until=later)
    assert public_home.due(switch.switch(), timezone.now())
    assert switch.follow() == "" and told == ["primary"]


def test_the_public_is_not_brought_home_by_a_jump_while_its_propagation_lives(monkeypatch: pytest.MonkeyPatch) -> None:
    row = Propagation.objects.create(state="working", requested_by="t", created_at=timezone.now(), targets=[])
    instance = register(None, "propagate")
    switch._set("backup", row.pk)
    rows = PublicSwitch.objects.using("webcrawl")
    rows.update(deadline=timezone.now() - timedelta(hours=1))  # as if the clock had jumped ahead
    public_home.bring_home()
    assert switch.switch().serving == "backup", "its owner has a moment to move the deadline on"
    switch.still_away(row.pk)
    rows.update(deadline=timezone.now() - timedelta(hours=1, seconds=5))
    public_home.bring_home()
    assert switch.switch().serving == "backup"
    public_home.bring_home()
    assert switch.switch().serving == "primary", "it moved nothing between two looks"
    assert instance.alive


def test_a_failed_propagation_is_tried_again_although_a_clock_went_back() -> None:
    later = timezone.now() + timedelta(hours=1)
    row = Propagation.objects.create(
        state="failed", requested_by="t", created_at=later, finished_at=later, targets=["primary"]
    )
    row.steps.create(number=0, name="load", target="primary", state="failed", counts={"down": True, "attempts": 1})
    assert services.due() == [row.pk]


def test_a_delivery_is_tried_again_although_a_clock_went_back() -> None:
    from crawler.inbox import webhooks
    from crawler.models import Notice

    now = timezone.now()
    hook = Webhook.objects.create(
        project_id=1, project="p", url="https://a.example/", created_by="t", created_at=now, active=True
    )
    notice = Notice.objects.create(key="k", event="finished", at=now, sentence="s", link="/")
    call = WebhookCall.objects.create(webhook=hook, notice=notice, not_before=now + timedelta(hours=60))
    assert webhooks.is_due(now)
    WebhookCall.objects.filter(pk=call.pk).update(not_before=now + timedelta(minutes=5))
    assert not webhooks.is_due(now)


def test_retry_after_is_measured_by_the_clock_of_the_site_that_says_it() -> None:
    said = "Wed, 18 Nov 2026 12:00:20 GMT"
    headers = [("retry-after", said), ("date", "Wed, 18 Nov 2026 12:00:00 GMT")]
    fetched = Fetched(Request(ORIGIN, None), 503, headers, b"")
    for off in (-HOUR, 0.0, HOUR):
        assert response_kind.judge(fetched, 1, NOW.timestamp() + off).wait == 20.0
    fetched.headers = headers[:1]
    assert response_kind.judge(fetched, 1, NOW.timestamp()).wait == 20.0, "without a date by ours"


def test_the_time_limit_of_a_run_is_measured_by_the_process_that_crawls(
    clocks: Clocks, monkeypatch: pytest.MonkeyPatch
) -> None:
    from crawler.launching import control

    run = Run.objects.create(requested_by="t", created_at=NOW, started_at=database_clock.moment(), max_seconds=1800)
    elapsed = control.Elapsed()
    assert control.orders(run.pk, elapsed).ending == ""
    clocks.ahead = HOUR
    assert control.orders(run.pk, elapsed).ending == "", "an hour ahead at once is a jump"
    passing(monkeypatch, 1900.0)
    assert control.orders(run.pk, elapsed).ending == control.LIMIT


def passing(monkeypatch: pytest.MonkeyPatch, seconds: float) -> None:
    from crawler.launching import control

    real: Callable[[], float] = control.time.monotonic
    monkeypatch.setattr(control.time, "monotonic", lambda: real() + seconds)
