"""The tick is a list of steps: one that fails is told once, counted and shown, and the others go on."""

import logging
import signal
import sqlite3
import subprocess
import time
from contextlib import closing
from datetime import datetime, timedelta
from typing import Any
from zoneinfo import ZoneInfo

import pytest
from django.db import OperationalError
from django.urls import reverse
from django.utils import timezone

from clearinghouse.library.models import Document
from crawler.launching import quiet_hours, schedules
from crawler.liveness import database_clock, instances
from crawler.models import Fault, Instance, Run, Schedule
from crawler.upkeep import machines, tick, tick_report
from crawler.upkeep.doctor import system_tests as parts
from crawler.upkeep.doctor.types import WARNING
from crawlpoints import services
from tests.faults.house import House, with_document

EVERYWHERE = pytest.mark.django_db(databases="__all__")
NOW = datetime(2026, 11, 18, 12, 0, tzinfo=ZoneInfo("UTC"))
STEPS = [name for name, _ in tick.Tick()._steps]


def test_the_public_comes_first() -> None:
    assert STEPS[0] == "move the public back to primary"


@EVERYWHERE
@pytest.mark.parametrize("failing", STEPS)
@pytest.mark.parametrize("error", [OperationalError("connection refused"), KeyError("Mars/Olympus"), OSError("gone")])
def test_any_step_may_fail_and_the_others_go_on(
    failing: str, error: Exception, caplog: pytest.LogCaptureFixture
) -> None:
    done: list[str] = []
    looks = tick.Tick()

    tries = iter(range(4))

    def step(name: str) -> None:
        if name == failing and next(tries) < 3:
            raise error
        done.append(name)

    looks._steps = tuple((name, lambda n=name: [lambda: step(n)]) for name in STEPS)
    with caplog.at_level(logging.WARNING, "crawler.upkeep.tick"):
        assert [looks.round() for _ in range(3)] == [[failing]] * 3
    others = [name for name in STEPS if name != failing]
    assert done == 3 * others
    told = [record for record in caplog.records if failing in record.getMessage()]
    assert len(told) == 1, "once, not at every look"
    (row,) = tick_report.failing()
    assert row.times == 3 and failing in row.sentence and str(error) in row.sentence
    assert looks.round() == [] and not tick_report.failing().exists(), "it works again, and nobody says otherwise"
    assert len([record for record in caplog.records if "again" in record.getMessage()]) <= 2


@EVERYWHERE
def test_one_run_or_schedule_that_fails_stops_no_other() -> None:
    done: list[int] = []

    def part(number: int) -> None:
        if number == 1:
            raise ValueError("one of many")
        done.append(number)

    looks = tick.Tick()
    looks._steps = (("look after runs", lambda: [lambda n=n: part(n) for n in range(3)]),)
    assert looks.round() == ["look after runs"] and done == [0, 2]


@EVERYWHERE
def test_a_step_that_fails_is_shown_by_the_doctor_and_the_system_page() -> None:
    tick_report.looked(timezone.now())
    assert machines.tick_fact().good
    for _ in range(2):
        tick_report.failed("start what is due", OperationalError("no such file"), timezone.now())
    fact = machines.tick_fact()
    assert not fact.good and "could not start what is due" in fact.detail and "2 times" in fact.detail
    told = [line for line in parts.processes() if line.part == "Tick" and line.level == WARNING]
    assert len(told) == 1 and "(2 times since" in told[0].said
    tick_report.worked("start what is due")
    assert machines.tick_fact().good and not Fault.objects.exists()


@EVERYWHERE
def test_a_step_that_a_process_before_could_not_do_is_forgotten_when_it_works() -> None:
    tick_report.failed("count words", OSError("gone"), timezone.now())
    tick_report.failed("what a version before called otherwise", OSError("gone"), timezone.now())
    assert tick.Tick().round() == [] and not tick_report.failing().exists()


@EVERYWHERE
def test_a_schedule_whose_time_zone_vanished_stands_still_and_says_so(document: Document, client: Any) -> None:
    services.add_crawl_point(document, {"url": "https://a.example.gov/", "root": "https://a.example.gov/"})
    given: dict[str, Any] = {"every": "day", "at": "02:00", "created_by": "amira", "created_at": NOW}
    gone = schedules.add(Schedule(zone="UTC", **given), NOW)
    Schedule.objects.filter(pk=gone.pk).update(zone="Mars/Olympus", next_at=NOW - timedelta(hours=3))
    other = schedules.add(Schedule(what="all", zone="UTC", **given), NOW)
    Schedule.objects.filter(pk=other.pk).update(next_at=NOW - timedelta(hours=1))
    looks = tick.Tick()
    assert looks.round() == [] and Run.objects.count() == 1, "the other one starts"
    gone.refresh_from_db()
    assert "Mars/Olympus" in gone.last_said and gone.active and gone.last_run_id is None
    assert [one.pk for _, one in schedules.upcoming(NOW, NOW + timedelta(days=800))].count(gone.pk) == 0
    schedules.turn(gone, on=False, now=NOW)
    schedules.turn(gone, on=True, now=NOW)
    Schedule.objects.filter(pk=gone.pk).update(zone="UTC")
    Run.objects.update(state="finished")
    Run.objects.get().excursions.update(unfinished=False)
    assert looks.round() == [] and Run.objects.count() == 2, "it starts when its zone is there again"


@EVERYWHERE
def test_the_pages_of_plans_show_a_schedule_whose_time_zone_vanished(signed_in: Any, administrator: Any) -> None:
    given: dict[str, Any] = {"every": "day", "at": "02:00", "created_by": "amira", "created_at": NOW}
    plan = schedules.add(Schedule(zone="UTC", **given), NOW)
    Schedule.objects.filter(pk=plan.pk).update(zone="Mars/Olympus", last_said="Its time cannot be calculated")
    client = signed_in(administrator)
    assert client.get(reverse("schedules")).status_code == 200


def test_with_the_development_database_away_the_public_still_comes_home(house: House) -> None:
    """A real tick; the development database is a server where nobody listens."""
    with closing(sqlite3.connect(house.var / "webcrawl.sqlite3")) as connection, connection:
        connection.execute(
            "INSERT OR REPLACE INTO public_switch (id, serving, owner, deadline, changed_at, told, trouble) "
            "VALUES (1, 'backup', NULL, NULL, '2026-01-01 00:00:00', '', '')"
        )
    due = (
        "from crawler.models import Schedule; from django.utils import timezone; now = timezone.now();"
        "Schedule.objects.create(every='day', at='02:00', created_by='amira', created_at=now, next_at=now)"
    )
    house.python(due)
    away = House(house.var, {"CLEARINGHOUSE_DB": "postgres://nobody@127.0.0.1:1/nothing"})
    result = away.manage("tick", "--once")
    assert "start what is due" in result["failed"] and "move the public back to primary" not in result["failed"]
    assert house.rows("SELECT serving FROM public_switch") == [("primary",)]
    assert house.rows("SELECT times FROM fault WHERE process = 'tick: start what is due'") == [(1,)]
    assert house.rows("SELECT COUNT(*) FROM schedule WHERE next_at IS NOT NULL") == [(1,)], "it is due still"
    assert house.manage("tick", "--once")["failed"] == []
    assert house.rows("SELECT COUNT(*) FROM fault") == [(0,)]


@pytest.fixture
def house(tmp_path: Any) -> House:
    return with_document(tmp_path / "var", "http://127.0.0.1:1/")


@EVERYWHERE
def test_a_process_that_was_declared_dead_and_still_hangs_a_minute_later_is_ended(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(tick, "HANGS_SECONDS", 0.5)
    monkeypatch.setattr(instances, "SILENCE_SECONDS", 0.2)
    with subprocess.Popen(["sleep", "100"]) as hanging:
        try:
            row = instances.register(None)
            Instance.objects.filter(pk=row.pk).update(pid=hanging.pid, pid_started=instances._started(hanging.pid))
            looks, until = tick.Tick(), time.monotonic() + 20
            while hanging.poll() is None and time.monotonic() < until:
                assert looks.round() == []
                time.sleep(0.1)
            assert hanging.returncode == -signal.SIGKILL
            assert not Instance.objects.get(pk=row.pk).alive, "first it was declared dead"
        finally:
            hanging.kill()


@EVERYWHERE
def test_the_steps_follow_the_clock_of_the_database(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(database_clock, "moment", lambda: NOW)
    seen: list[datetime] = []
    monkeypatch.setattr(quiet_hours, "enforce", seen.append)
    tick.Tick().round()
    assert seen == [NOW]
