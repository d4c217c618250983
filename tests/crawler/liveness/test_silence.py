"""Time in which the database refused writes is nobody's silence (design rule 7): neither an instance nor the tick takes
others for dead because of it. The refusal is made where the statements go out; the clock is that of
crawler.liveness.instances.
"""

import os
import signal
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from types import SimpleNamespace
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connections
from django.db.backends.base.base import BaseDatabaseWrapper

from clearinghouse.database.aliases import WEBCRAWL
from crawler.engine import loop
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.liveness import instances
from crawler.models import Instance
from crawler.upkeep import tick
from tests.crawler.clock import Clock
from tests.crawler.conftest import make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
TRANSACTIONS = ('UPDATE "instance" SET "beat"', 'UPDATE "instance" SET "alive"')  # how those of rivals begin
AWAY = 30.0  # seconds that each refusal takes, longer than anybody may be silent


class Refusals:
    """How many transactions the database refuses from now on; each takes its time."""

    def __init__(self, clock: Clock) -> None:
        self.clock = clock
        self.left = self.made = 0

    def __call__(self, execute: Callable[..., Any], statement: str, params: Any, many: bool, context: Any) -> Any:
        if self.left and statement.startswith(TRANSACTIONS):
            self.left -= 1
            self.made += 1
            self.clock.now += AWAY
            raise OperationalError("database is locked")
        return execute(statement, params, many, context)


@pytest.fixture
def refusals(monkeypatch: pytest.MonkeyPatch) -> Iterator[Refusals]:
    clock = Clock()
    monkeypatch.setattr(instances, "time", SimpleNamespace(monotonic=clock.monotonic))
    monkeypatch.setattr(BaseDatabaseWrapper, "close", lambda self: None)  # the test's transaction lives on it
    refusals = Refusals(clock)
    with connections[WEBCRAWL].execute_wrapper(refusals):
        yield refusals


def lives(rival: Instance) -> bool:
    rival.refresh_from_db()
    return rival.alive


@proves("rule 7")
def test_an_instance_takes_nobody_for_dead_because_the_database_refused_writes(
    refusals: Refusals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.0)
    with serve({f"/{n}": Page([f"/{n + 1}"], delay=0.05) for n in range(12)}) as site:
        run = launch(LaunchRequest([make_document({"url": site.url("/0"), "depth": 20}).pk], by="test", speed="fast"))
        initialize(run)
        worker, rival = InstanceLoop(run), instances.register(None)
        worker.work(lambda _: away(refusals))
    assert refusals.made == 2, "one write of a round, and the first try to go on"
    run.refresh_from_db()
    assert run.state == "finished" and lives(rival)


def away(refusals: Refusals) -> None:
    """Once, in the middle."""
    if not refusals.made and not refusals.left:
        refusals.left = 2


@proves("rule 7")
def test_the_tick_takes_nobody_for_dead_because_the_database_refused_writes(
    refusals: Refusals, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(tick, "SECONDS", 0.0)
    rival = instances.register(None)
    whole_round, rounds = tick.Tick.round, iter(range(9))

    def round_(self: tick.Tick) -> list[str]:
        number = next(rounds)
        if number == 1:
            refusals.clock.now += AWAY  # it looks dead; whoever wants to bury it is refused
            refusals.left = 1
        if number == 3:
            os.kill(os.getpid(), signal.SIGTERM)
        return whole_round(self)

    monkeypatch.setattr(tick.Tick, "round", round_)
    with handlers_kept():
        call_command("tick")
    assert refusals.made == 1 and lives(rival)
    refusals.clock.now += AWAY
    with handlers_kept():
        watch = instances.Watch()
        watch.declare_silent_dead()
        refusals.clock.now += AWAY
        watch.declare_silent_dead()
    assert not lives(rival), "while the database answers, silence is death"


@contextmanager
def handlers_kept() -> Iterator[None]:
    before = {number: signal.getsignal(number) for number in (signal.SIGTERM, signal.SIGINT)}
    try:
        yield
    finally:
        for number, handler in before.items():
            signal.signal(number, handler)
