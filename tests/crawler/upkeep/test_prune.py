"""manage.py prune: old results go, and nothing that is shown, compared with, open or new."""

import random
from collections.abc import Iterator
from datetime import datetime, timedelta
from io import StringIO
from typing import Any

import pytest
from django.core.management import call_command
from django.utils import timezone

from clearinghouse.database.digests import digest_of
from clearinghouse.operations import retention
from clearinghouse.search.models import SearchUse
from crawler.ledger import ledger_check
from crawler.models import (
    Event,
    Excursion,
    LedgerEntry,
    Mark,
    Notice,
    PageBody,
    PageHead,
    PageVersion,
    Preview,
    Propagation,
    Run,
)
from crawler.upkeep import pruning
from crawler.upkeep.pruning import choose, erase
from tests.propagation.world import START, World, add_document, propagate, shown

pytestmark = pytest.mark.django_db(databases="__all__")
GONE = ("failed", "http_4xx", 404)


@pytest.fixture(autouse=True)
def kept_for_100_days(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_KEEP", "runs:100,log:50,notices:50,searches:50,previews:5")
    monkeypatch.setenv("CLEARINGHOUSE_KEEP_LAST", "2")
    monkeypatch.setattr(erase, "_BREATH", 0)


def later(days: int = 400) -> datetime:
    return START + timedelta(days=days)


def runs() -> list[int]:
    return list(Run.objects.order_by("id").values_list("id", flat=True))


def whole() -> bool:
    """Every version that is named is there with its bytes, and nothing is stored that nobody names."""
    named = set(LedgerEntry.objects.exclude(version_id=None).values_list("version_id", flat=True))
    named |= set(PageHead.objects.values_list("version_id", flat=True))
    versions = dict(PageVersion.objects.values_list("id", "digest"))
    bodies = {bytes(digest) for digest in PageBody.objects.values_list("digest", flat=True)}
    return named == set(versions) and {bytes(digest) for digest in versions.values()} == bodies


def test_of_a_page_that_changed_each_time_only_what_is_needed_stays() -> None:
    document, world = add_document(), World()
    for number in range(6):
        world.run(document, {"a": f"text {number}", "b": "always the same"})
    propagate()
    done = pruning.prune(later())
    assert (done.excursions, done.addresses, done.versions, done.bodies) == (4, 8, 4, 4)
    assert runs() == sorted(Run.objects.order_by("-id").values_list("id", flat=True)[:2])
    assert whole()
    assert propagate(full=True).state == "done" and shown() == {"a": "text 5", "b": "always the same"}
    assert world.run(document, {"b": "always the same"}).ledger.get().outcome == "unchanged", "heads are compared with"


def test_nothing_goes_that_is_young_or_among_the_newest_or_kept_for_ever(monkeypatch: pytest.MonkeyPatch) -> None:
    document, world = add_document(), World()
    for number in range(6):
        world.run(document, {"a": f"text {number}"})
    propagate()
    assert pruning.prune(later(100)).excursions == 0
    monkeypatch.setenv("CLEARINGHOUSE_KEEP_LAST", "6")
    assert pruning.prune(later()).excursions == 0
    monkeypatch.setenv("CLEARINGHOUSE_KEEP_LAST", "2")
    monkeypatch.setenv("CLEARINGHOUSE_KEEP", "runs:0")
    assert pruning.prune(later()).excursions == 0


def test_a_crawl_that_still_holds_a_page_stays_with_all_newer_ones() -> None:
    document, world = add_document(), World()
    world.run(document, {"a": "old", "b": "one"})
    holds = world.run(document, {"a": "old", "rare": "seen once, by a crawl that was stopped later"})
    for number in range(4):
        world.run(document, {"a": f"text {number}"}, state="stopped")
    propagate(include_stopped=True)
    assert pruning.prune(later()).excursions == 0, "b is shown from the first"
    world.run(document, {"b": "one"}, state="stopped")
    propagate(include_stopped=True)
    before = shown()
    assert pruning.prune(later()).excursions == 1
    assert Excursion.objects.filter(pk=holds.pk).exists()
    propagate(full=True, include_stopped=True)
    assert shown() == before and "rare" in before


def test_results_no_propagation_has_taken_stay_but_discarded_ones_go() -> None:
    document, world = add_document(), World()
    cancelled = world.run(document, {}, state="cancelled")
    for number in range(5):
        world.run(document, {"a": f"text {number}"})
    assert [one.id for one in choose.excursions(later())] == [cancelled.pk]


def test_a_page_that_left_does_not_come_back() -> None:
    document, world = add_document(), World()
    world.run(document, {"a": "one", "left": "it was here"})
    for number in range(2):
        world.run(document, {"a": f"two {number}"}, also={"left": GONE})
    for number in range(3):
        world.run(document, {"a": f"three {number}"})
    propagate()
    assert shown() == {"a": "three 2"}
    assert pruning.prune(later()).excursions == 4
    propagate(full=True)
    assert shown() == {"a": "three 2"}


@pytest.mark.parametrize("seed", range(6))
def test_in_any_history_a_generation_is_the_same_with_and_without_what_went(seed: int) -> None:
    chance, world = random.Random(seed), World()
    documents = [add_document(f"Document {number}") for number in range(2)]
    for _ in range(9):
        document = chance.choice(documents)
        paths = [path for path in "abcdef" if chance.random() < 0.6]
        also = {path: GONE if chance.random() < 0.7 else ("failed", "timeout", 0) for path in "abcdef"
                if path not in paths and chance.random() < 0.5}  # fmt: skip
        links = {path: [(chance.choice("abcdef"), "to it")] for path in paths}
        state = chance.choice(["finished", "finished", "finished_at_limit", "stopped"])
        world.run(
            document, {path: f"text {chance.randrange(3)}" for path in paths}, state=state, also=also, links=links
        )
    propagate(include_stopped=True, accepted_losses=[one.pk for one in documents])
    before = shown()
    pruning.prune(later())
    propagate(full=True, include_stopped=True, accepted_losses=[one.pk for one in documents])
    assert shown() == before
    assert whole()


def test_killed_between_two_steps_it_goes_on_and_the_ledger_check_knows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(erase, "_ROWS", 40)
    document, world = add_document(), World()
    for number in range(4):
        world.run(document, {f"page-{page}": f"text {number}" for page in range(45)} if number == 0 else {"a": "x"})
    Excursion.objects.update(found=0)
    world.run(document, {f"page-{page}": "text" for page in range(45)})
    propagate()
    first = choose.excursions(later())[0]
    step: Iterator[Any] = erase.excursion(first.id)
    assert next(step) == (40, 40)
    assert [said for said in ledger_check.faults(Run.objects.get(pk=first.run_id)) if "says" in said] == []
    del step  # and here it is killed
    done = pruning.prune(later())
    assert (done.excursions, done.addresses) == (3, 7)
    assert whole()


def test_a_run_goes_with_its_last_document_and_says_so_before() -> None:
    world, documents = World(), [add_document("Often"), add_document("Seldom")]
    both = world.run(documents[0], {"a": "0"}).run
    second = world.run(documents[1], {"z": "0"})
    Excursion.objects.filter(pk=second.pk).update(run=both)
    for number in range(4):
        world.run(documents[0], {"a": str(number)})
    propagate()
    pruning.prune(later())
    assert [one.title for one in both.excursions.all()] == ["Seldom"]
    assert Event.objects.get(run=both, kind="pruned").text.startswith("Often: the results of its crawl were removed")


def test_while_somebody_propagates_no_result_goes_and_while_somebody_crawls_no_bytes() -> None:
    document, world = add_document(), World()
    for number in range(4):
        world.run(document, {"a": f"text {number}"})
    propagate()
    row = Propagation.objects.create(requested_by="x", created_at=timezone.now(), state="paused")
    assert pruning.prune(later()).excursions == 0
    row.delete()
    run = Run.objects.create(requested_by="x", created_at=timezone.now(), state="running")
    assert pruning.prune(later(), only_while_quiet=True).excursions == 0
    done = pruning.prune(later())
    assert (done.excursions, done.bodies) == (2, 0)
    run.delete()
    assert pruning.prune(later()).bodies == 2 and whole()


def test_logs_notices_previews_and_search_counts_go_by_their_own_days() -> None:
    run = World().run(add_document(), {"a": "x"}).run
    open_one = Run.objects.create(requested_by="x", created_at=START, state="paused")
    for one in (run, open_one):
        Event.objects.create(run=one, at=START, kind="x", text="old")
    Event.objects.create(run=run, at=later(), kind="x", text="new")
    Notice.objects.create(key="old", event="x", at=START, sentence="x")
    Preview.objects.create(doc_id=1, asked_by="x", asked_at=START)
    SearchUse.objects.create(day=START.date() - timedelta(days=100), query="x", query_key=digest_of("x"))
    said = StringIO()
    call_command("prune", "--dry-run", stdout=said)
    assert "Would remove" in said.getvalue() and Notice.objects.exists()
    done = pruning.prune(later())
    assert (done.log, done.notices, done.previews) == (1, 1, 1)
    assert sorted(Event.objects.values_list("text", flat=True)) == ["new", "old"], (
        "the log of an open run is read by it"
    )


def test_a_dry_run_says_what_then_goes() -> None:
    document, world = add_document(), World()
    for number in range(5):
        world.run(document, {"a": f"text {number}"})
    propagate()
    found, listed = pruning.preview(later())
    assert Run.objects.count() == 5 and [one.title for one in listed] == [document.title] * 3
    assert pruning.prune(later()).excursions == found.excursions == 3


def test_the_tick_asks_once_a_day_when_it_is_quiet(monkeypatch: pytest.MonkeyPatch) -> None:
    rung: list[str] = []
    monkeypatch.setattr(pruning.queues, "ring", lambda queue, job: not rung.append(job))
    run = Run.objects.create(requested_by="x", created_at=START, state="running")
    assert not pruning.ring_when_due(later())
    run.delete()
    assert pruning.ring_when_due(later()) and not pruning.ring_when_due(later())
    assert pruning.ring_when_due(later() + timedelta(days=1))
    assert rung == ["crawler.jobs.prune"] * 2 and Mark.objects.filter(name="retention").exists()


def test_what_the_operator_names_replaces_its_default_and_nonsense_is_said(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_KEEP", "runs:7")
    assert (retention.days("runs"), retention.days("notices")) == (7, 365)
    for wrong in ("runs", "runs:x", "audit:30", "runs:-1"):
        monkeypatch.setenv("CLEARINGHOUSE_KEEP", wrong)
        with pytest.raises(SystemExit, match="CLEARINGHOUSE_KEEP"):
            retention.days("runs")
