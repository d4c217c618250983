"""What an heir must know of a queue that changes hands, and what it must not take for its own."""

import time
from collections.abc import Callable
from typing import Any

import pytest

from crawler import extract
from crawler.engine import loop, page_outcome
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.liveness import instances
from crawler.liveness.instances import Watch
from crawler.models import Event, Excursion, LedgerEntry, Run, State
from crawlpoints.models import CrawlPoint
from tests.crawler.conftest import go_on, make_document
from tests.crawler.test_commands import manage
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases="__all__")
Ledger = Callable[[Run], dict[str, str]]


def started(*points: dict[str, Any], **options: Any) -> Run:
    run = launch(LaunchRequest([make_document(*points).pk], by="test", **{"speed": "fast"} | options))
    initialize(run)
    return run


def asked(site: Any, folder: str) -> int:
    return sum(count for path, count in site.requests.items() if path.startswith(folder))


@proves("rule 19")
def test_excludes_that_were_applied_hold_for_the_heir_too(ledger: Ledger) -> None:
    names, others = [f"/no/{n}" for n in range(80)], [f"/yes/{n}" for n in range(80)]
    pages = {"/": Page([*names, *others])} | {name: Page(delay=0.1) for name in [*names, *others]}
    with serve(pages) as site:
        run = started({"url": site.url("/")}, speed="medium", ignore_robots=True)
        doc_id = Excursion.objects.get(run=run).doc_id
        applied: list[int] = []

        def apply_and_stop(one: InstanceLoop) -> None:
            mine = Excursion.objects.get(run=run)
            if not applied and mine.crawled >= 3:
                control.apply_excludes(run, doc_id, ["*/no/*"], "editor")
                applied.append(1)
            elif applied and not mine.control:  # it was noticed
                one.ask_to_stop()

        InstanceLoop(run).work(apply_and_stop)
        before = asked(site, "/no/")
        assert Excursion.objects.get(run=run).queued and before < 60
        control.set_speed(run, "fast", "editor")
        run = go_on(run)
        assert asked(site, "/no/") == before
    assert run.state == "finished" and faults(run) == []
    assert ledger(run)["/yes/79"] == "crawled" and list(ledger(run).values()).count("excluded") == 80 - before


@proves("rule 19")
def test_excludes_that_were_applied_to_a_document_that_rests_hold_when_it_goes_on(ledger: Ledger) -> None:
    names = [f"/no/{n}" for n in range(30)]
    with serve({"/": Page(names)} | {name: Page(delay=0.3) for name in names}) as site:
        run = started({"url": site.url("/")}, speed="medium", ignore_robots=True)
        doc_id = Excursion.objects.get(run=run).doc_id

        def rest(_: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 2 and not Excursion.objects.get(run=run).control:
                control.pause_document(run, doc_id, "editor")

        InstanceLoop(run).work(rest)
        before = asked(site, "/no/")
        control.apply_excludes(run, doc_id, ["*/no/*"], "editor")
        control.resume_document(Run.objects.get(pk=run.pk), doc_id, "editor")
        run = go_on(run)
        assert asked(site, "/no/") == before < 30
    assert run.state == "finished" and faults(run) == []


@proves("rule 19")
def test_an_heir_fetches_nothing_for_a_crawl_point_that_was_deactivated_before(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    names = [f"/m/{n}" for n in range(40)]
    with serve({"/m/": Page(names), "/b/": Page()} | {name: Page(delay=0.2) for name in names}) as site:
        run = started({"url": site.url("/m/")}, {"url": site.url("/b/")}, speed="medium", ignore_robots=True)
        monkeypatch.setattr(loop, "LOOK_SECONDS", 0.05)

        def deactivate_and_stop(one: InstanceLoop) -> None:
            if Excursion.objects.get(run=run).crawled >= 3:
                CrawlPoint.objects.filter(url__endswith="/m/").update(active=0)
            if Event.objects.filter(run=run, kind="deactivated").exists():
                one.ask_to_stop()

        InstanceLoop(run).work(deactivate_and_stop)
        before = asked(site, "/m/")
        monkeypatch.setattr(loop, "LOOK_SECONDS", 1.0)
        heir = InstanceLoop(run)
        heir._looked = time.monotonic()  # it looked just before it claimed
        heir.work()
        run.refresh_from_db()
        assert asked(site, "/m/") == before < 41
    assert run.state == "finished" and faults(run) == []
    assert Event.objects.filter(run=run, kind="deactivated").count() == 1


@proves("rule 3")
def test_an_answer_that_comes_after_a_pause_is_not_taken_for_the_one_of_the_resumed_queue(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The process stays, the queue was handed back and is served again: its messages were read anew."""
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.05)
    monkeypatch.setattr(loop, "LANDING_SECONDS", 0.2)
    with serve({"/": Page(["/slow"]), "/slow": Page(["/last"], delay=2.0), "/last": Page(delay=1.5)}) as site:
        run = started({"url": site.url("/")})
        paused: list[float] = []

        def pause_and_resume(_: InstanceLoop) -> None:
            state = Excursion.objects.get(run=run).state
            if not paused and site.requests["/slow"]:
                control.pause(run, "admin")
                paused.append(time.monotonic())
            elif len(paused) == 1 and state == State.PAUSED:
                control.resume(Run.objects.get(pk=run.pk), "admin")
                paused.append(time.monotonic())

        InstanceLoop(run, stay=True).work(pause_and_resume)
        assert len(paused) == 2 and paused[1] - paused[0] < 1.5, "the answer was to come after the resumption"
        assert site.requests["/slow"] == 2
    run.refresh_from_db()
    assert ledger(run) == {"/": "crawled", "/slow": "crawled", "/last": "crawled"}
    assert run.state == "finished" and faults(run) == []
    assert Excursion.objects.get(run=run).crashes == 0, "a second verdict on one address is a fault of ours"


@proves("rule 1")
def test_an_instance_that_expands_all_that_is_stored_is_not_taken_for_dead(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A further crawl point reaches the middle of what another has crawled: everything behind it is looked at again."""
    monkeypatch.setattr(instances, "SILENCE_SECONDS", 1.0)
    monkeypatch.setattr(instances, "PULSE_SECONDS", 0.2)
    names = [f"/all/{n}" for n in range(60)]
    pages = {"/all/": Page(names)} | {name: Page(["/all/", name + "x"]) for name in names}
    pages |= {"/late/": Page(["/late/1"], delay=1.5), "/late/1": Page(["/all/"])}
    real, rival, declared_dead, unpacked = extract.unpack_links, Watch(), [], []

    def slow(packed: bytes) -> Any:
        time.sleep(0.05)
        unpacked.append(1)
        declared_dead.extend(rival.declare_silent_dead())
        return real(packed)

    with serve(pages) as site:
        late = {"url": site.url("/late/"), "root": site.url("/")}
        run = started({"url": site.url("/all/"), "depth": 2}, late)
        monkeypatch.setattr(page_outcome.extract, "unpack_links", slow)
        run = go_on(run)
    assert len(unpacked) > 30 and declared_dead == []  # 30 of them take longer than the silence of the dead
    assert run.state == "finished" and faults(run) == []
    assert set(ledger(run).values()) == {"crawled", "http_4xx"}


@proves("I5")
def test_a_run_whose_last_documents_ended_at_the_same_moment_is_concluded_by_its_command() -> None:
    """Each of two instances saw the excursion of the other still open."""
    with serve({"/": Page()}) as site:
        run = started({"url": site.url("/")})
        Excursion.objects.filter(run=run).update(unfinished=False, state=State.FINISHED)
        assert Run.objects.get(pk=run.pk).state == State.RUNNING
        assert manage("crawl", "--resume", "last")["state"] == "finished"
    assert not LedgerEntry.objects.exists()
