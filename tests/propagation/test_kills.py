"""A propagation that is killed anywhere: readers see whole generations, the public goes home, it continues."""

from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.utils import timezone

from clearinghouse.database.aliases import TARGETS
from clearinghouse.published.models import PublicSwitch
from crawler.liveness import instances
from crawler.models import Instance
from crawler.propagation import plan, propagation_claim, services, step_work
from crawler.propagation.switching import public_home, rollback, switch
from tests.proves import proves

from .world import World, add_document, everything, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

OLD = {"": "start", **{f"{n}.html": f"old {n}" for n in range(12)}}
NEW = {"": "start", **{f"{n}.html": f"new {n}" for n in range(11)}, "more.html": "more"}
STEPS = [step for step in plan.steps(TARGETS) if step.name != plan.PLAN]


class Killed(BaseException):
    """Stands for kill -9: nothing of ours catches it."""


@pytest.fixture
def two_generations() -> Any:
    document = add_document()
    world = World()
    world.run(document, OLD)
    propagate()
    # 12.html has gone from the site, but a page leaves only after two runs.
    world.run(document, NEW)
    world.run(document, NEW)
    return document


def wholly_old_or_new() -> None:
    for target in TARGETS:
        assert shown(target) in (OLD, NEW), target


@contextmanager
def statements(hook: Callable[[str], None]) -> Iterator[None]:
    def watch(execute: Any, sql: str, params: Any, many: bool, context: Any) -> Any:
        hook(sql)
        return execute(sql, params, many, context)

    with ExitStack() as stack:
        for alias in connections:
            stack.enter_context(connections[alias].execute_wrapper(watch))
        yield


@proves("I8", "C1")
@pytest.mark.parametrize("step", STEPS, ids=[f"{step.name} {step.target}".strip() for step in STEPS])
@pytest.mark.parametrize("moment", ["before", "after"])
def test_killed_around_a_step_it_continues_from_there(two_generations, monkeypatch, step, moment):
    real = step_work.CARRIED_OUT[step.name]

    def dies(job: Any, row: Any) -> None:
        if row.target != step.target:
            return real(job, row)
        if moment == "after":
            real(job, row)
        raise Killed

    monkeypatch.setitem(step_work.CARRIED_OUT, step.name, dies)
    row = services.ask(by="tester")
    with pytest.raises(Killed):
        services.carry_out(row.pk)
    wholly_old_or_new()
    assert switch.is_home()
    monkeypatch.setitem(step_work.CARRIED_OUT, step.name, real)
    assert services.due() == [row.pk]
    assert services.carry_out(row.pk).state == "done"
    assert {target: shown(target) for target in TARGETS} == dict.fromkeys(TARGETS, NEW)
    assert everything("primary") == everything("backup") == everything("development")


@proves("I8", "C1")
def test_killed_at_any_statement_that_writes_readers_see_whole_generations(two_generations):
    """Every 11th writing statement of the whole sequence, over all databases, until one is never reached."""
    victim, killed = 1, True
    while killed:
        row = services.ask(by="tester")
        killed = _killed_at(victim, row.pk)
        wholly_old_or_new()
        public_home.bring_home()
        done = services.carry_out(row.pk)
        assert (done.state, done.error) == ("done", ""), victim
        assert {target: shown(target) for target in TARGETS} == dict.fromkeys(TARGETS, NEW)
        rollback.roll_back(by="tester")
        wholly_old_or_new()
        victim += 11
    assert victim > 100


def _killed_at(victim: int, propagation_id: int) -> bool:
    """Carries out a propagation and kills it at the so-manieth writing statement; whether it came that far."""
    written = 0

    def dies(sql: str) -> None:
        nonlocal written
        written += sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE"))
        if written == victim:
            written += 1
            raise Killed

    try:
        with statements(dies):
            services.carry_out(propagation_id)
    except Killed:
        # Its own row of the instances may not have been written back; the tick would bury it.
        Instance.objects.filter(kind="propagate").update(alive=False)
        return True
    return False


@pytest.fixture
def away(two_generations) -> Any:
    """A propagation at work in a living process, with the public on backup."""
    row = services.ask(by="tester")
    instances.register(None, propagation_claim.KIND)
    assert switch.public_to_backup(row.pk) == ""
    type(row).objects.filter(pk=row.pk).update(state="working")
    return row


@proves("C3")
def test_the_watchdog_brings_the_public_home_when_the_deadline_has_passed(away):
    assert not public_home.bring_home()  # its owner is alive
    PublicSwitch.objects.using("webcrawl").update(deadline=timezone.now())
    assert not public_home.bring_home(), "a clock may have jumped: its owner has until the next look to move it on"
    assert public_home.bring_home()
    assert switch.is_home()


@proves("C3")
def test_the_watchdog_does_not_wait_for_the_deadline_of_a_process_that_is_dead(away):
    Instance.objects.filter(kind=propagation_claim.KIND).update(alive=False)
    assert public_home.bring_home()
    row = switch.switch()
    assert (row.serving, row.owner, row.deadline) == ("primary", None, None)


def test_the_watchdog_leaves_a_public_that_was_moved_again_meanwhile(away):
    seen = switch.switch()
    switch.home()
    switch.public_to_backup(away.pk)
    assert not switch.home(seen=seen)
    assert switch.switch().serving == "backup"


@proves("C2")
def test_a_target_that_is_down_keeps_its_generation_and_stops_nobody_before_it(two_generations):
    def down(sql: str) -> None:
        if "published_interval" in sql and sql.startswith("DELETE"):
            raise OperationalError("the server is gone")

    row = services.ask(by="tester")
    with connections["primary"].execute_wrapper(lambda run, sql, *rest: (down(sql), run(sql, *rest))[1]):
        row = services.carry_out(row.pk)
    assert row.state == "failed"
    assert "primary did not answer" in row.error
    assert [shown(target) for target in TARGETS] == [NEW, OLD, OLD]
    assert switch.is_home()
    assert services.due() == []  # it waits a minute before the next try
    type(row).objects.filter(pk=row.pk).update(finished_at=timezone.now() - timezone.timedelta(minutes=2))
    assert services.due() == [row.pk]
    assert services.carry_out(row.pk).state == "done"
    assert shown("backup") == NEW


@proves("C5")
def test_what_differs_on_a_target_is_not_shown(two_generations, monkeypatch):
    real = step_work.CARRIED_OUT[plan.LOAD]

    def spoils(job: Any, row: Any) -> None:
        real(job, row)
        if row.target == "primary":
            with connections["primary"].cursor() as cursor:
                cursor.execute("UPDATE published_version SET text = 'spoiled' WHERE text LIKE 'new 3'")

    monkeypatch.setitem(step_work.CARRIED_OUT, plan.LOAD, spoils)
    row = propagate()
    assert row.state == "failed"
    assert "3.html differs" in row.error
    assert shown("primary") == shown("backup") == OLD
    assert switch.is_home()


def test_the_public_is_on_backup_while_primary_is_loaded(two_generations, monkeypatch):
    served: dict[tuple[str, str], str] = {}
    for name, real in list(step_work.CARRIED_OUT.items()):

        def notes(job: Any, row: Any, real: Any = real) -> None:
            served[(row.name, row.target)] = switch.switch().serving
            real(job, row)

        monkeypatch.setitem(step_work.CARRIED_OUT, name, notes)
    propagate()
    for name in ("load", "index", "verify", "switch"):
        assert served[(name, "development")] == "primary"
        assert served[(name, "primary")] == "backup"
        assert served[(name, "backup")] == "primary"
