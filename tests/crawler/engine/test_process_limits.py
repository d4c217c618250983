"""What changes around a running instance: space, memory, the schema, the document itself."""

import os
import platform
import subprocess
import sys
import time
from collections.abc import Callable, Iterator

import pytest
from django.db import connections
from django.db.migrations.recorder import MigrationRecorder

from clearinghouse.library.models import Document
from crawler import jobs
from crawler.engine import loop, process_limits
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.errors import CrawlerError
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.models import ActiveQueue, Event, Excursion, LedgerEntry, Run
from tests.crawler.conftest import go_on, make_document
from tests.faults.house import BASE
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


@pytest.fixture
def site(monkeypatch: pytest.MonkeyPatch) -> Iterator[Site]:
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.05)
    pages = {"/": Page([f"/{n}" for n in range(60)])} | {f"/{n}": Page(delay=0.2) for n in range(60)}
    with serve(pages) as site:
        yield site


def started(document: Document) -> Run:
    run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
    initialize(run)
    return run


def stored(run: Run) -> int:
    return Excursion.objects.get(run=run).crawled


@proves("A14")
@pytest.mark.sqlite
def test_without_space_nothing_is_fetched_until_there_is_some(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(make_document({"url": site.url("/")}))
    full_since: list[float] = []
    asked: list[int] = []

    def look(_: InstanceLoop) -> None:
        if stored(run) >= 3 and not full_since:
            full_since.append(time.monotonic())
            monkeypatch.setattr(process_limits, "LEAST_FREE", 1 << 62)
        elif full_since and len(asked) < 10 and time.monotonic() - full_since[0] > 2.5:  # it looks once a second
            asked.append(sum(site.requests.values()))
        elif asked:
            monkeypatch.setattr(process_limits, "LEAST_FREE", 1)

    InstanceLoop(run).work(look)
    run.refresh_from_db()
    assert asked[0] == asked[-1] < 61
    assert run.state == "finished" and stored(run) == 61 and faults(run) == []
    said = list(Event.objects.filter(run=run, kind="space").order_by("id").values_list("text", flat=True))
    assert len(said) == 2 and said[0].startswith("No space: ") and "again" in said[1]


@proves("A19")
def test_an_instance_that_has_grown_gives_way_to_a_fresh_process(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    run = started(make_document({"url": site.url("/")}))
    with monkeypatch.context() as patch:
        patch.setattr(process_limits, "MOST_MEMORY", 1)
        patch.setattr(loop, "LEAST_SECONDS", 0.3)
        first = InstanceLoop(run)
        first.work()
    assert first.slice_is_over and not ActiveQueue.objects.exists() and Excursion.objects.get(run=run).unfinished
    assert 1_000_000 < process_limits.memory() < process_limits.MOST_MEMORY
    assert stored(run) > 0, "it must get on, however short memory is"
    assert go_on(run).state == "finished" and stored(run) == 61 and faults(run) == []


@proves("A20")
def test_a_changed_schema_makes_instances_drain_and_workers_refuse(site: Site) -> None:
    run = started(make_document({"url": site.url("/")}))
    recorder = MigrationRecorder(connections["webcrawl"])

    def look(_: InstanceLoop) -> None:
        if stored(run) >= 3 and not process_limits.newer_schema():
            recorder.record_applied("crawler", "0999_of_a_newer_release")

    InstanceLoop(run).work(look)
    assert 3 <= stored(run) < 61 and not ActiveQueue.objects.exists()
    with pytest.raises(CrawlerError, match="restart the worker"):
        jobs.serve(run.pk)
    recorder.record_unapplied("crawler", "0999_of_a_newer_release")
    assert go_on(run).state == "finished" and stored(run) == 61 and faults(run) == []


@proves("A22")
def test_the_excursion_of_a_deleted_document_is_cancelled(site: Site, ledger: Ledger) -> None:
    document = make_document({"url": site.url("/")})
    run = started(document)
    deleted: list[float] = []

    def look(_: InstanceLoop) -> None:
        if stored(run) >= 3 and not deleted:
            document.delete()
            deleted.append(time.monotonic())

    InstanceLoop(run).work(look)
    assert time.monotonic() - deleted[0] < 2.0
    run.refresh_from_db()
    verdicts = list(ledger(run).values())
    assert run.state == "cancelled" and faults(run) == []
    assert "run_cancelled" in verdicts and verdicts.count("crawled") >= 3
    assert LedgerEntry.objects.filter(excursion__run=run).count() == 61


@pytest.mark.skipif(platform.machine() not in ("x86_64", "aarch64"), reason="no number of the system call is known")
def test_a_crawl_gives_way_to_screens() -> None:
    code = "import os, crawler.engine.process_limits as s; s.step_back(); print(os.sched_getscheduler(0), os.nice(0))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True, env=os.environ)
    policy, nice = map(int, answer.stdout.split())
    assert (policy, nice) == (os.SCHED_BATCH, process_limits.NICE)


@pytest.mark.skipif(not process_limits._SESSION.exists(), reason="this kernel knows no groups of sessions")
@pytest.mark.parametrize(
    ("start", "nice"),
    [
        (["nice", "-n", "15", "{python}", "-c", "{code}"], 0),  # a command of somebody who knows why
        (
            ["nice", "-n", "15", "sh", "-c", '{python} -c "{code}"; true'],
            process_limits.SESSION_NICE,
        ),  # a job of a worker
        (["sh", "-c", '{python} -c "{code}"; true'], 0),  # of somebody who works in a terminal
    ],
)
def test_a_session_of_background_work_gives_way_as_a_whole(start: list[str], nice: int) -> None:
    """Else `nice` would count for nothing where the processor is divided among sessions first, as under `make run`."""
    code = "import crawler.engine.process_limits as s; s.step_back(); print(s._SESSION.read_text())"
    command = [word.format(python=sys.executable, code=code) for word in start]
    if os.nice(0):  # a crawl of another test stepped back in this process; who is not root cannot undo that
        if os.geteuid():
            pytest.skip("this process has stepped back itself")
        command = ["nice", "-n", str(-os.nice(0)), *command]
    done = subprocess.run(command, capture_output=True, text=True, check=True, env=os.environ, start_new_session=True)
    assert int(done.stdout.split()[-1]) == nice


def test_an_instance_does_not_carry_about_what_only_a_propagation_needs() -> None:
    """6 MB of each instance's 250."""
    loaded = (
        "import sys, django; django.setup(); import crawler.engine.loop, crawler.engine.web_strand; print(*sys.modules)"
    )
    told = subprocess.run([sys.executable, "-c", loaded], cwd=BASE, stdout=subprocess.PIPE, text=True, check=True)
    assert "crawler.engine.finishing.finish" in told.stdout.split()
    assert not {"requests", "crawler.propagation.services"} & set(told.stdout.split())
