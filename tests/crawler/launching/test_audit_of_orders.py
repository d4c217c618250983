"""Who ordered what of crawls, errors and the public site: each order is a line of the audit, signed and comparable."""

import getpass
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from clearinghouse.accounts import options
from clearinghouse.audit.models import Entry
from crawler import jobs
from crawler.findings.decisions import mark_errors
from crawler.launching import control, launch, quiet_hours, schedules
from crawler.models import ErrorGroup, Run, Schedule
from crawler.propagation import services
from crawler.propagation.switching import rollback
from tests.crawler.conftest import make_document
from tests.propagation.world import World, add_document

pytestmark = pytest.mark.django_db(databases="__all__")
HOST = {"url": "http://127.0.0.1:1/"}


def newest(**named: Any) -> Entry:
    return Entry.objects.filter(**named).order_by("id").last() or Entry()


def test_a_launch_says_who_what_and_how() -> None:
    document = make_document(HOST)
    run = launch.launch([document.pk], by="amira", note="after the move", ignore_robots=True)
    entry = newest(action="launch")
    assert (entry.actor, entry.kind, entry.thing_id, entry.document_id) == ("amira", "run", run.pk, document.pk)
    assert entry.after["ignore_robots"] is True and entry.after["note"] == "after the move"


def test_a_run_of_many_documents_belongs_to_none_of_them() -> None:
    documents = [make_document(HOST), make_document(HOST)]
    launch.launch([document.pk for document in documents], by="amira")
    assert newest(action="launch").document_id is None and newest().after["documents"] == 2


def test_every_order_to_a_run_is_written_down_with_before_and_after() -> None:
    document = make_document(HOST)
    run = launch.launch([document.pk], by="amira")
    control.pause(run, "boris")
    control.resume(run, "chen")
    control.set_speed(run, "fast", "dora")
    control.pause_document(run, document.pk, "emil")
    control.resume_document(run, document.pk, "fatma")
    control.apply_excludes(run, document.pk, ["http://127.0.0.1:1/old/*"], "gul")
    control.stop(run, "hana")
    control.cancel(run, "ivan")
    told = [(entry.action, entry.actor) for entry in Entry.objects.filter(kind="run").order_by("id")]
    assert told == [
        ("launch", "amira"), ("pause", "boris"), ("resume", "chen"), ("speed", "dora"), ("pause", "emil"),
        ("resume", "fatma"), ("exclude", "gul"), ("stop", "hana"), ("cancel", "ivan"),
    ]  # fmt: skip
    speed, excludes = newest(action="speed"), newest(action="exclude")
    assert (speed.before, speed.after) == ({"speed": "polite"}, {"speed": "fast"})
    assert (excludes.before, excludes.after) == ({"excludes": []}, {"excludes": ["http://127.0.0.1:1/old/*"]})


def test_a_refused_order_leaves_no_line() -> None:
    run = launch.launch([make_document(HOST).pk], by="amira")
    control.cancel(run, "boris")
    before = Entry.objects.count()
    with pytest.raises(control.WrongMoment):
        control.pause(run, "chen")
    assert Entry.objects.count() == before


def test_plans_quiet_hours_and_the_pause_of_all_crawls_are_written_down() -> None:
    now = timezone.now()
    plan = Schedule(what="all", every="day", at="02:00", created_by="amira", created_at=now)
    schedules.add(plan, now)
    schedules.turn(plan, on=False, now=now)
    schedules.remove(plan)
    actions = list(Entry.objects.filter(kind="schedule").order_by("id").values_list("action", flat=True))
    assert actions == ["plan", "change", "delete"]
    assert newest(action="delete").before["at"] == "02:00"
    quiet_hours.set_hours("1" * 24 + "0" * 144, "amira")
    assert newest().sentence == "Set quiet hours: 24 hours of the week" and newest().before["hours"] == "0" * 168
    quiet_hours.pause_all("boris", "storm")
    assert (newest().actor, newest().sentence) == ("boris", "Paused all crawls")
    quiet_hours.resume_all("chen")
    assert newest().before == {"paused_by": "boris"} and newest().after == {"paused_by": ""}


def test_a_mark_of_an_error_is_written_down() -> None:
    run = launch.launch([make_document(HOST).pk], by="amira")
    excursion = run.excursions.get()
    values = {
        "reason": "timeout",
        "site": "https://ex.gov/",
        "pattern": "/a",
        "count": 2,
        "example": "https://ex.gov/a",
    }
    ErrorGroup.objects.create(
        excursion=excursion, doc_id=excursion.doc_id, run_id=run.pk, ended_at=timezone.now(), key=b"k" * 32, **values
    )
    mark_errors({b"k" * 32}, {excursion.doc_id}, "known", "boris")
    mark_errors({b"k" * 32}, {excursion.doc_id}, "", "chen")
    entry = newest()
    assert (entry.actor, entry.document_id) == ("chen", excursion.doc_id)
    assert (entry.before, entry.after) == ({"state": "known"}, {"state": "new"})
    assert "https://ex.gov/a" in entry.sentence


def test_propagation_and_rollback_are_written_down_by_the_service_itself() -> None:
    world, document = World(), add_document()
    world.run(document, {"a": "one"})
    first = services.carry_out(services.ask(by="amira").pk)
    world.run(document, {"a": "two"})
    services.carry_out(services.ask(by="amira", full=True).pk)
    asked = newest(action="propagate")
    assert asked.actor == "amira" and asked.after["full"] is True
    goals = rollback.roll_back(by="boris")
    entry = newest(action="rollback")
    assert entry.actor == "boris" and entry.after == goals and set(goals.values()) == {first.pk}
    assert set(entry.before.values()) == {first.pk + 1}


def test_the_command_launch_signs_with_the_user_and_takes_the_speed_of_the_settings() -> None:
    document = make_document(HOST)
    options.choose({options.SPEED: "medium"})
    call_command("launch", "--doc", str(document.pk), "--ignore-robots")
    run = Run.objects.get()
    assert run.speed == "medium" and run.requested_by == f"{getpass.getuser()}, command launch"
    assert newest(action="launch").actor == run.requested_by and run.ignore_robots


def test_the_command_launch_starts_nothing_in_quiet_hours(capsys: Any) -> None:
    document = make_document(HOST)
    quiet_hours.set_hours("1" * 168, "amira")
    call_command("launch", "--doc", str(document.pk))
    run = Run.objects.get()
    assert run.control == "pause" and run.hold.reason == "quiet"
    assert "held back" in capsys.readouterr().out
    jobs.initialize(run.pk)
    assert Run.objects.get().state == "waiting", "it has not begun, so it is not paused"
