"""An order to a run is done wholly or not at all, and can be given again: every order, with every write of it failing.

The table of orders is checked against crawler.launching.control: an order that is new there is missing here, and is
told.
"""

import inspect
import re
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from typing import Any

import pytest
from django.core.management import call_command
from django.db import OperationalError, connections

from clearinghouse.audit.models import Entry
from clearinghouse.database.aliases import DEFAULT, WEBCRAWL
from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from crawler.engine.initializer import initialize
from crawler.errors import AllBusy, WrongMoment
from crawler.findings.decisions import repair
from crawler.findings.types import Fix
from crawler.launching import control, crawl_requests, launch, quiet_hours, schedules
from crawler.models import CrawlRequest, Event, Excursion, Finding, Hold, Run, Schedule
from crawlpoints.queries import patterns_of, points_of
from tests.crawler.conftest import make_document

pytestmark = pytest.mark.django_db(databases="__all__", transaction=True)
HOST = {"url": "http://127.0.0.1:1/"}
WRITES = ("INSERT", "UPDATE", "DELETE")
LEAST = 4


class Failing:
    """The k-th write fails, as a database that is locked or gone makes it fail; a commit is a write, too."""

    def __init__(self, at: int) -> None:
        self.left = at
        self.struck = ""

    def _next(self, what: str) -> None:
        self.left -= 1
        if self.left == 0:
            self.struck = what
            raise OperationalError("database is locked")

    def execute(self, execute: Callable[..., Any], sql: str, params: Any, many: bool, context: Any) -> Any:
        if sql.startswith(WRITES):
            self._next(f"{context['connection'].alias}: {sql[:60]}")
        return execute(sql, params, many, context)

    def commit(self, alias: str, commit: Callable[[], None]) -> None:
        self._next(f"{alias}: COMMIT")
        commit()


@contextmanager
def failing(at: int) -> Iterator[Failing]:
    fault = Failing(at)
    with ExitStack() as stack, pytest.MonkeyPatch.context() as patch:
        for alias in (DEFAULT, WEBCRAWL):
            stack.enter_context(connections[alias].execute_wrapper(fault.execute))
            commit = connections[alias].commit
            patch.setattr(connections[alias], "commit", lambda a=alias, c=commit: fault.commit(a, c))
        yield fault


def state() -> dict[str, Any]:
    """Everything an order may change, but for times and numbers."""
    documents = Excursion.objects.order_by("id").values_list("state", "control", "snapshot")
    return {
        "runs": list(Run.objects.order_by("id").values_list("state", "control", "speed", "label")),
        "documents": [(state, control, snapshot["excludes"]) for state, control, snapshot in documents],
        "log": {(kind, unnumbered(text)) for kind, text in Event.objects.values_list("kind", "text")},
        "audit": {(who, unnumbered(text)) for who, text in Entry.objects.values_list("actor", "sentence")},
        "requests": list(CrawlRequest.objects.values_list("state", "answered_by")),
        "held": Hold.objects.count(),
        "plans": list(Schedule.objects.values_list("active", flat=True)),
        "silence": [quiet_hours.week().paused_by, quiet_hours.week().hours],
    }


def unnumbered(text: str) -> str:
    return re.sub(r"\d+", "N", text)


def started() -> Run:
    run = launch.launch([make_document(HOST).pk], by="amira")
    initialize(run)
    return Run.objects.get()


def paused() -> Run:
    run = started()
    control.pause(run, "amira")
    return Run.objects.get()


def with_paused_document() -> Run:
    run = started()
    control.pause_document(run, Excursion.objects.get().doc_id, "amira")
    return Run.objects.get()


def of_document(order: Callable[..., None], *more: Any) -> Callable[[Run], None]:
    return lambda run: order(run, Excursion.objects.get(run=run).doc_id, *more, "boris")


ORDERS: dict[str, tuple[Callable[[], Run], Callable[[Run], object]]] = {
    "pause": (started, lambda run: control.pause(run, "boris")),
    "hold": (started, lambda run: control.hold(run, "boris")),
    "resume": (paused, lambda run: control.resume(run, "boris")),
    "stop": (started, lambda run: control.stop(run, "boris")),
    "cancel": (paused, lambda run: control.cancel(run, "boris")),
    "pause_document": (started, of_document(control.pause_document)),
    "resume_document": (with_paused_document, of_document(control.resume_document)),
    "apply_excludes": (started, of_document(control.apply_excludes, ["http://127.0.0.1:1/old/*"])),
    "set_label": (started, lambda run: control.set_label(run, "before the move", "boris")),
    "set_speed": (started, lambda run: control.set_speed(run, "fast", "boris")),
}


def test_the_table_names_every_order_there_is() -> None:
    there = {
        name
        for name, function in inspect.getmembers(control, inspect.isfunction)
        if {"run", "by"} <= inspect.signature(function).parameters.keys() and not name.startswith("_")
    }
    assert there - {"record"} == ORDERS.keys()


@pytest.mark.parametrize("name", ORDERS)
def test_whatever_write_fails_the_order_is_not_half_done_and_works_when_given_again(name: str) -> None:
    prove(*ORDERS[name])


def held() -> Run:
    run = started()
    quiet_hours.pause_all("amira")
    quiet_hours.enforce(run.created_at)
    return run


def asked_for() -> Run:
    crawl_requests.ask(make_document(HOST), "chen", note="please")
    return Run()


def planned() -> Run:
    run = started()
    plan = Schedule(what="all", every="day", at="02:00", created_by="amira", created_at=run.created_at)
    schedules.add(plan, run.created_at)
    return run


def nothing() -> Run:
    make_document(HOST)
    return Run()


BROTHERS: dict[str, tuple[Callable[[], Run], Callable[[Run], object]]] = {
    "launch": (nothing, lambda run: launch.launch(None, by="boris")),
    "answer a request by a launch": (asked_for, lambda run: crawl_requests.launch(CrawlRequest.objects.get(), "boris")),
    "decline a request": (asked_for, lambda run: crawl_requests.decline(CrawlRequest.objects.get(), "boris")),
    "turn a plan off": (
        planned,
        lambda run: schedules.turn(Schedule.objects.get(), on=False, now=run.created_at),
    ),
    "pause all": (started, lambda run: quiet_hours.pause_all("boris")),
    "let all go on": (held, lambda run: quiet_hours.resume_all("boris")),
}


@pytest.mark.parametrize("name", BROTHERS)
def test_so_are_the_orders_that_are_not_to_one_run(name: str) -> None:
    prove(*BROTHERS[name], again=(WrongMoment, AllBusy))


def empty() -> None:
    for alias in (DEFAULT, WEBCRAWL):
        call_command("flush", database=alias, interactive=False, verbosity=0)


def prove(prepare: Callable[[], Run], order: Callable[[Run], object], again: tuple[type[Exception], ...] = ()) -> None:
    """`again`: what an order may answer that was carried out, when it is given once more."""
    order(prepare())
    done = state()
    for at in range(1, 60):
        empty()
        run = prepare()
        before = state()
        with failing(at) as fault, suppress(OperationalError):
            order(run)
        if not fault.struck:
            assert at > LEAST, "an order writes its row, its line in the audit, and commits both"
            return
        if fault.struck != f"{DEFAULT}: COMMIT":
            assert state() == before, f"half done: {fault.struck}"
            order(run)
            assert state() == done, fault.struck
            continue
        assert state() == done | {"audit": before["audit"]}, "the audit commits last"
        with suppress(*again):
            order(run)
            assert state() == done, "its line is not missing for good"
    raise AssertionError("it never came to an end")


def found(fix: dict[str, Any]) -> Document:
    """A finding that offers this repair."""
    document = make_document(HOST)
    initialize(launch.launch([document.pk], by="amira"))
    point = points_of(document).get()
    offered = (
        Fix("Repair", exclude="http://127.0.0.1:1/old/*") if not fix else Fix("Repair", point_id=point.pk, change=fix)
    )
    Finding.objects.create(
        excursion=Excursion.objects.get(), run_id=Run.objects.get().pk, doc_id=document.pk, rule="page_limit", weight=2,
        sentence="Stopped", fixes=[offered.to_json()],
    )  # fmt: skip
    return document


def repaired(document: Document) -> dict[str, Any]:
    return {
        "finding": list(Finding.objects.values_list("state", "note", "decided_by")),
        "points": list(points_of(document).values_list("url", "max_pages", "depth", "active", "version")),
        "excludes": patterns_of(document),
        "audit": {(entry.actor, unnumbered(entry.sentence)) for entry in Entry.objects.all()},
    }


@pytest.mark.parametrize(
    "fix", [{}, {"active": 0}, {"max_pages": 900}, {"url": "http://127.0.0.1:1/new/"}],
    ids=["exclude", "deactivate", "raise a limit", "change the address"],
)  # fmt: skip
def test_a_repair_of_which_only_the_first_part_was_done_is_completed_by_pressing_again(fix: dict[str, Any]) -> None:
    with acting_as("boris"):
        document = found(fix)
        repair(Finding.objects.get(), 0, document, "boris")
        done = repaired(document)
        assert done["finding"][0][0] == Finding.State.SOLVED
        for at in range(1, 60):
            empty()
            document = found(fix)
            with failing(at) as fault, suppress(OperationalError):
                repair(Finding.objects.get(), 0, document, "boris")
            if not fault.struck:
                assert at > LEAST
                return
            repair(Finding.objects.get(), 0, document, "boris")
            assert repaired(document) == done, fault.struck
    raise AssertionError("it never came to an end")
