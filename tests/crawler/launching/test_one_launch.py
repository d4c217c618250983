"""Whoever launches, a launch is the same: a run, its line in the audit, a worker woken; held back in quiet hours."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from clearinghouse.accounts.keys import api_keys
from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from clearinghouse.operations import work_queues
from clearinghouse.operations.work_queues import Job
from crawler.launching import crawl_requests, quiet_hours, schedules
from crawler.models import Run, Schedule
from tests.crawler.conftest import make_document

pytestmark = pytest.mark.django_db(databases="__all__")
Launch = Callable[[Any, Document], object]
JSON = "application/json"


def by_form(user: Any, document: Document) -> None:
    browser = Client()
    browser.force_login(user)
    values = {"what": "chosen", "doc": [document.pk], "speed": "polite", "label": "quarterly"}
    assert browser.post("/crawls/launch/", values).status_code == 302


def by_api(user: Any, document: Document) -> None:
    program = Client(headers={"Authorization": f"Bearer {api_keys.create(user, 'test')[1]}"})
    body = {"documents": [document.pk], "label": " quarterly "}
    assert program.post("/api/v1/runs/", body, content_type=JSON).status_code == 201


def by_command(user: Any, document: Document) -> None:
    call_command("launch", "--doc", str(document.pk), "--label", " quarterly ")


def by_schedule(user: Any, document: Document) -> None:
    now = timezone.now()
    plan = Schedule(what="chosen", doc_ids=[document.pk], every="once", label="quarterly", next_at=now, speed="polite",
                    created_by=user.username, created_at=now)  # fmt: skip
    schedules.add(plan, now)
    assert schedules.start_due(now + timedelta(seconds=1))


def by_answer(user: Any, document: Document) -> None:
    crawl_requests.launch(crawl_requests.ask(document, "editor"), user.username)


LAUNCHES = (by_form, by_api, by_command, by_schedule, by_answer)


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Job, tuple[int, ...]]]:
    found: list[tuple[Job, tuple[int, ...]]] = []
    monkeypatch.setattr(work_queues, "_enqueue", lambda job, ids: found.append((job, ids)))
    return found


@pytest.mark.parametrize("launch", LAUNCHES)
def test_a_launch_writes_its_line_and_wakes_a_worker(launch: Launch, administrator: Any, woken: list[Any]) -> None:
    launch(administrator, make_document({"url": "http://127.0.0.1:1/"}))
    run = Run.objects.get()
    assert (run.state, run.control, run.speed, run.excursions.count()) == ("waiting", "", "polite", 1)
    assert run.label == ("" if launch is by_answer else "quarterly")
    assert woken == [(Job.INITIALIZE, (run.pk,))]
    (line,) = Entry.objects.filter(action="launch")
    assert (line.thing_id, line.actor, line.after["speed"]) == (run.pk, run.requested_by, "polite")


@pytest.mark.parametrize("launch", LAUNCHES)
def test_in_quiet_hours_it_is_held_back(launch: Launch, administrator: Any, woken: list[Any]) -> None:
    quiet_hours.set_hours("1" * 168, "administrator")
    launch(administrator, make_document({"url": "http://127.0.0.1:1/"}))
    run = Run.objects.get()
    assert (run.control, run.state, run.hold.reason) == ("pause", "waiting", "quiet") and woken == []
