"""Faults C5 to C8 and C11 of a propagation: what is wrong on a target is never shown, and the rest is not disturbed."""

from collections.abc import Iterator
from datetime import timedelta

import pytest
from django.utils import timezone

from clearinghouse.database.aliases import TARGETS
from clearinghouse.published.models import LiveGeneration, PublicSwitch
from clearinghouse.search.engine import search
from crawler.models import Excursion, Run
from crawler.propagation import plan, services, step_work
from crawler.propagation.loading import load
from crawler.propagation.switching import rollback, switch
from crawlpoints.models import ExcludeUrl
from tests.proves import proves

from .world import ROOT, World, add_document, everything, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

OLD = {"": "start", **{f"{n}.html": f"old {n} common" for n in range(12)}}
NEW = {"": "start", **{f"{n}.html": f"new {n} common" for n in range(12)}, "more.html": "more"}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def document(world):
    found = add_document()
    world.run(found, OLD)
    propagate()
    world.run(found, NEW)
    return found


@pytest.fixture
def trigger() -> Iterator:
    """Makes a table of primary misbehave; gone when the test ends, or earlier."""
    made: list[str] = []

    def make(table: str, body: str) -> None:
        made.append(f"spoils{len(made)}")
        load.execute("primary", f"CREATE TRIGGER {made[-1]} {table} BEGIN {body}; END")

    def drop() -> None:
        while made:
            load.execute("primary", f"DROP TRIGGER {made.pop()}")

    make.drop = drop
    yield make
    drop()


def only_development_moved(row) -> None:
    assert row.state == "failed"
    assert [shown(target) for target in TARGETS] == [NEW, OLD, OLD]
    assert search("old", alias="primary", limit=50).total == 12
    assert switch.is_home()


DROPS = {
    "published_version": "DELETE FROM published_version WHERE published_id = NEW.published_id",
    "published_interval": "DELETE FROM published_interval WHERE id = NEW.id",
    "published_meta": "DELETE FROM published_meta WHERE published_meta_id = NEW.published_meta_id",
}


@proves("C5")
@pytest.mark.sqlite  # a trigger in its words
@pytest.mark.parametrize("table", DROPS)
def test_a_row_that_a_target_drops_stops_the_switch_and_is_named(document, trigger, table):
    """Fault C5."""
    which = f"(SELECT published_id FROM published_version WHERE crawl_page_url = '{ROOT}3.html' AND text LIKE 'new%')"
    when = f"NEW.crawl_page_url = '{ROOT}3.html'" if table == "published_version" else f"NEW.published_id IN {which}"
    trigger(f"AFTER INSERT ON {table} WHEN {when}", DROPS[table])
    row = propagate()
    only_development_moved(row)
    assert "3.html" in row.error
    if table != "published_meta":
        assert "shows 13 pages and should show 14" in row.error
    trigger.drop()
    assert services.retry(row, by="tester")
    assert services.carry_out(row.pk).error == ""
    assert everything("primary") == everything("backup") == everything("development")


@proves("C6")
@pytest.mark.sqlite
def test_an_index_that_cannot_be_written_leaves_the_old_generation_and_its_index_live(document, trigger):
    """Fault C6."""
    trigger("BEFORE INSERT ON published_index_docsize", "SELECT RAISE(ABORT, 'the index is read-only')")
    row = propagate()
    only_development_moved(row)
    assert row.error.startswith("primary refused:")
    assert row.steps.get(state="failed").name == plan.INDEX
    trigger.drop()
    services.retry(row, by="tester")
    assert services.carry_out(row.pk).state == "done"
    assert search("new", alias="primary").total == 12


@proves("C6")
def test_a_page_missing_in_the_index_stops_the_switch(document, monkeypatch):
    real = step_work.CARRIED_OUT[plan.INDEX]

    def forgets(job, step):
        real(job, step)
        if step.target == "primary":
            ids = load.execute("primary", "SELECT MAX(published_id) FROM published_version")[0]
            from clearinghouse.search import backends

            backends.backend("primary").remove(list(ids))

    monkeypatch.setitem(step_work.CARRIED_OUT, plan.INDEX, forgets)
    row = propagate()
    only_development_moved(row)
    assert "has 1 page not in the full text index" in row.error


@proves("C7")
def test_a_site_that_answers_500_everywhere_loses_no_page(world, document):
    """Fault C7, the first half: what fails in passing stays; the second half is the loss guard of test_commands."""
    failing = dict.fromkeys(NEW, ("failed", "http_5xx", 503))
    for _ in range(3):
        world.run(document, {}, also=failing)
    assert propagate().error == ""
    assert shown() == NEW


@proves("C8")
def test_crawls_and_edits_during_a_propagation_are_not_in_it(world, document, monkeypatch):
    """Fault C8: one snapshot for all three targets."""
    real, done = step_work.CARRIED_OUT[plan.LOAD], []

    def meanwhile(job, step):
        if not done:
            done.append(step.target)
            world.run(document, NEW | {"later.html": "later", "1.html": "later"})
            ExcludeUrl.objects.create(document=document, pattern=f"{ROOT}2.html")
            document.sheet.title = "Renamed meanwhile"
            document.sheet.save()
        real(job, step)

    monkeypatch.setitem(step_work.CARRIED_OUT, plan.LOAD, meanwhile)
    assert propagate().error == ""
    assert {target: shown(target) for target in TARGETS} == dict.fromkeys(TARGETS, NEW)
    assert everything("primary") == everything("backup") == everything("development")
    propagate()
    assert shown()["1.html"] == "later" and "2.html" not in shown()


@proves("C11")
def test_no_clock_decides_which_result_is_newer(world, document):
    """Fault C11: the clocks of the crawler and of a target go wrong by years; only numbers count."""
    long_ago, far = timezone.now() - timedelta(days=9999), timezone.now() + timedelta(days=9999)
    newest = Excursion.objects.latest("id")
    Excursion.objects.filter(pk=newest.pk).update(finished_at=long_ago)
    Run.objects.filter(pk=newest.run_id).update(created_at=long_ago, finished_at=long_ago)
    for alias in TARGETS.values():
        LiveGeneration.objects.using(alias).update(switched_at=far)
    row = propagate()
    assert {target: shown(target) for target in TARGETS} == dict.fromkeys(TARGETS, NEW)
    assert all(load.live(alias) == row.pk for alias in TARGETS.values())
    LiveGeneration.objects.using("backup").update(switched_at=long_ago)
    assert rollback.roll_back(by="tester") == dict.fromkeys(TARGETS, row.pk - 1)


def test_it_pauses_after_a_step_with_the_public_at_home_and_goes_on(document, monkeypatch):
    real = step_work.CARRIED_OUT[plan.INDEX]

    def pauses(job, step):
        if step.target == "primary":
            assert services.pause(job.propagation, by="tester")
        real(job, step)

    monkeypatch.setitem(step_work.CARRIED_OUT, plan.INDEX, pauses)
    row = propagate()
    assert row.state == "paused"
    assert row.steps.get(name=plan.INDEX, target="primary").state == "done"
    assert row.steps.get(name=plan.VERIFY, target="primary").state == "waiting"
    assert switch.is_home()
    assert services.due() == []  # nobody goes on before a person says so
    with pytest.raises(services.WrongMoment, match="is paused"):
        services.ask(by="tester")
    assert services.carry_out(row.pk).state == "paused"
    monkeypatch.setitem(step_work.CARRIED_OUT, plan.INDEX, real)
    assert services.resume(row, by="tester")
    assert services.due() == [row.pk]
    assert services.carry_out(row.pk).state == "done"
    assert shown("primary") == shown("backup") == NEW
    assert not services.pause(row, by="tester")


def test_only_the_chosen_runs_are_taken_and_what_was_taken_stays(world):
    one, two = add_document("One"), add_document("Two")
    world.run(one, {"one.html": "one"})
    propagate()
    left = world.run(one, {"one.html": "one changed"})
    taken = world.run(two, {"two.html": "two"})
    stopped = world.run(two, {"two.html": "two", "stopped.html": "stopped"}, state="stopped")
    propagate(runs=[taken.run_id])
    assert shown() == {"one.html": "one", "two.html": "two"}
    propagate(runs=[stopped.run_id])
    assert set(shown()) == {"one.html", "two.html", "stopped.html"}
    propagate()
    assert shown() == {"one.html": "one changed", "two.html": "two", "stopped.html": "stopped"}
    assert left.run_id < taken.run_id


def test_backup_is_not_loaded_while_it_serves_the_public(document):
    switch.switch()
    PublicSwitch.objects.using("webcrawl").update(serving="backup", owner=999)
    row = propagate(targets=["backup"])
    assert row.error == "backup is not loaded while it serves the public; primary must answer first"
    assert shown("backup") == OLD
    assert not load.newest("backup") >= row.pk


def test_one_that_goes_on_with_primary_moves_the_public_away_again(document, monkeypatch):
    real, served = dict(step_work.CARRIED_OUT), []

    def dies(job, step):
        raise KeyboardInterrupt

    def notes(job, step):
        served.append((step.name, switch.switch().serving))
        real[step.name](job, step)

    monkeypatch.setitem(step_work.CARRIED_OUT, plan.VERIFY, dies)
    row = services.ask(by="tester", targets=["primary", "backup"])
    with pytest.raises(KeyboardInterrupt):
        services.carry_out(row.pk)
    assert switch.is_home()
    monkeypatch.setitem(step_work.CARRIED_OUT, plan.VERIFY, notes)
    monkeypatch.setitem(step_work.CARRIED_OUT, plan.SWITCH, notes)
    services.carry_out(row.pk)
    assert served == [("verify", "backup"), ("switch", "backup"), ("verify", "primary"), ("switch", "primary")]


def test_a_killed_propagation_is_given_up_by_a_rollback(document):
    propagate()
    World().run(document, OLD)
    row = services.ask(by="tester")
    rollback.roll_back(by="tester")
    row.refresh_from_db()
    assert (row.state, row.error) == ("failed", "Given up: rolled back by tester.")
    assert services.due() == []
    assert shown() == OLD


@pytest.mark.sqlite
def test_the_parts_of_the_index_are_merged_between_its_transactions(world, monkeypatch):
    monkeypatch.setattr(load, "_LARGEST", 2)
    world.run(add_document(), {f"{n}.html": f"many words about page {n} common" for n in range(400)})
    assert propagate().error == ""
    parts = load.execute("primary", "SELECT COUNT(DISTINCT segid) FROM published_index_idx")[0][0]
    assert parts <= 4  # of at least forty
    load.execute("primary", "INSERT INTO published_index(published_index, rank) VALUES('integrity-check', 1)")
    assert search("common", alias="primary").total == 400
