"""Leave this crawl out, roll back with it, roll forward again: obeyed everywhere, reversible, never half done."""

import json
from collections.abc import Iterator
from html import unescape
from io import StringIO
from typing import Any

import pytest
from django.core.management import CommandError, call_command
from django.urls import reverse

from clearinghouse.accounts.models import Role
from clearinghouse.audit.models import Entry
from clearinghouse.database.aliases import TARGETS, WEBCRAWL
from clearinghouse.published.models import PublishedInterval
from clearinghouse.search import backends
from crawler.errors import WrongMoment
from crawler.models import Event, Excursion
from crawler.propagation import left_out, pinned_scope, runs_to_propagate
from crawler.propagation.loading import load
from crawler.propagation.switching import rollback
from crawler.runs.crawl_changes import excursion_before
from crawler.runs.latest_crawls import last_crawls, trends
from crawlpoints.point_checks import Invalid
from tests.people import make_person

from .test_kills import statements
from .world import World, add_document, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
GOOD, BAD = {"": "start", "a.html": "alpha"}, {"": "Please sign in"}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def document() -> Any:
    return add_document()


@pytest.fixture
def bad(world: World, document: Any) -> Excursion:
    """A bad crawl, propagated after a good one."""
    world.run(document, GOOD)
    propagate()
    crawl = world.run(document, BAD)
    propagate()
    assert shown()[""] == "Please sign in"
    return crawl


def test_a_crawl_that_is_left_out_counts_nowhere_and_counts_again_when_it_is_taken_in(world, document, bad) -> None:
    left_out.leave_out([bad.pk], "  every page   was the sign-in page ", by="ada")
    bad.refresh_from_db()
    assert (bad.left_out_reason, bad.left_out_by) == ("every page was the sign-in page", "ada")
    assert bad.word == "Left out (finished)"
    assert [row.pk for row in left_out.lately()] == [bad.pk]
    last = last_crawls()[document.pk]
    assert (last.run_id, last.since, trends([document.pk])) == (bad.run_id - 1, "left_out", {document.pk: [0]})
    after = world.run(document, GOOD)
    assert excursion_before(after).run_id == bad.run_id - 1
    assert not runs_to_propagate.since_last() or bad.run_id not in {
        one.run.pk for one in runs_to_propagate.since_last()
    }
    after.delete()
    propagate()
    assert shown() == GOOD
    left_out.leave_out([bad.pk], "another reason", by="boris")
    assert Excursion.objects.get(pk=bad.pk).left_out_by == "ada", "what was decided stays until it is taken back"
    left_out.take_in([bad.pk], by="boris")
    entries = list(Entry.objects.filter(kind="run").order_by("id"))
    assert [entry.action for entry in entries] == ["leave_out", "take_in"]
    told = [(entry.before["left_out_reason"], entry.after["left_out_reason"]) for entry in entries]
    assert told[0] == told[1][::-1] and told[0][0] == "" != told[0][1]
    assert Event.objects.filter(run=bad.run_id, kind="leave_out", text__contains="sign-in page").exists()
    propagate()
    assert shown()[""] == "Please sign in"


def test_what_it_missed_is_not_missing(world, document) -> None:
    """Rule 16: a page leaves after two crawls without it; one that is left out is none of them."""
    world.run(document, GOOD)
    gone = {"a.html": ("failed", "http_4xx", 404)}
    first = world.run(document, {"": "start"}, also=gone)
    world.run(document, {"": "start"}, also=gone)
    left_out.leave_out([first.pk], "the site was being moved", by="ada")
    propagate()
    assert shown() == GOOD
    left_out.take_in([first.pk], by="ada")
    propagate(accepted_losses=[document.pk])
    assert shown() == {"": "start"}


@pytest.mark.parametrize("state", ["cancelled", "failed", "running"])
def test_only_what_ended_with_results_can_be_left_out_and_never_without_a_reason(world, document, state) -> None:
    with pytest.raises(Invalid, match="Say why"):
        left_out.leave_out([world.run(document, GOOD).pk], " ", by="ada")
    with pytest.raises(WrongMoment):
        left_out.leave_out([world.run(document, GOOD, state=state).pk], "bad", by="ada")
    assert pinned_scope.counting(include_stopped=False)[document.pk]


def test_a_roll_back_leaves_the_crawl_out_and_a_roll_forward_takes_it_in_again(bad) -> None:
    assert [one.pk for one in rollback.brought(2, 1)] == [bad.pk]
    assert rollback.roll_back(by="ada", leave_out=[bad.pk], reason="bad") == dict.fromkeys(TARGETS, 1)
    row = propagate()
    assert [step.state for step in row.steps.all()][1:] == ["skipped"] * (row.steps.count() - 1), "nothing comes again"
    assert shown() == GOOD
    assert rollback.roll_forward(by="ada", take_in=[bad.pk]) == dict.fromkeys(TARGETS, 2)
    assert shown()[""] == "Please sign in"
    with pytest.raises(WrongMoment, match="no newer generation"):
        rollback.roll_forward(by="ada")
    propagate()
    assert shown()[""] == "Please sign in"


def test_forward_goes_step_by_step_until_the_next_load_takes_the_newer_ones_away(world, document, bad) -> None:
    world.run(document, GOOD | {"b.html": "beta"})
    propagate()
    for _ in range(2):
        rollback.roll_back(by="ada")
    assert [rollback.roll_forward(by="ada")["primary"] for _ in range(2)] == [2, 3]
    rollback.roll_back("primary", by="ada")
    assert rollback.roll_forward(by="ada") == {"primary": 3}
    rollback.roll_back(by="ada")
    world.run(document, GOOD | {"c.html": "gamma"})
    propagate()
    with pytest.raises(WrongMoment):
        rollback.roll_forward(by="ada")


class Killed(BaseException):
    pass


@pytest.fixture
def emptied(transactional_db: None) -> Iterator[None]:
    """What no transaction takes back: the tests after it find empty indexes, and numbers that begin at 1."""
    yield
    for alias in TARGETS.values():
        backends.backend(alias).remove(
            list(PublishedInterval.objects.using(alias).values_list("published_id", flat=True))
        )
    for alias in (*TARGETS.values(), WEBCRAWL):
        call_command("flush", database=alias, interactive=False, verbosity=0)


@pytest.mark.django_db(transaction=True, databases=["default", "webcrawl", "primary", "backup"])
def test_killed_anywhere_a_second_press_or_the_tick_ends_it_and_nothing_goes_further_back(
    emptied, world, document
) -> None:
    """At every writing statement; a third press would be a second roll back."""
    for text in ("one", "two", "three"):
        crawl = world.run(document, {"": text})
        propagate()
    newest, victim, killed = load.live("primary"), 1, True
    while killed:
        killed = _killed_at(victim, crawl)
        if Excursion.objects.filter(pk=crawl.pk, left_out_at=None).exists():
            assert shown()[""] == "three" and not rollback.finish(), "all of it, or nothing"
            rollback.roll_back(by="ada", leave_out=[crawl.pk], reason="bad")
        elif victim % 2:
            rollback.finish()
        elif killed and {load.live(alias) for alias in TARGETS.values()} != {newest - 1}:
            rollback.roll_back(by="ada", leave_out=[crawl.pk], reason="bad")
        assert {load.live(alias) for alias in TARGETS.values()} == {newest - 1}, victim
        assert Excursion.objects.exclude(left_out_at=None).count() == 1
        rollback.roll_forward(by="ada", take_in=[crawl.pk])
        victim += 1
    assert victim > 8


def _killed_at(victim: int, crawl: Excursion) -> bool:
    written = 0

    def dies(sql: str) -> None:
        nonlocal written
        written += sql.lstrip().upper().startswith(("INSERT", "UPDATE", "DELETE"))
        if written == victim:
            raise Killed

    try:
        with statements(dies):
            rollback.roll_back(by="ada", leave_out=[crawl.pk], reason="bad")
    except Killed:
        return True
    return False


def page(browser: Any, name: str, *arguments: Any) -> str:
    answer = browser.get(reverse(name, args=arguments))
    assert answer.status_code == 200
    return unescape(answer.content.decode())


def test_the_roll_back_offers_the_crawls_it_brought_and_the_list_says_who_rolled_back(
    signed_in, administrator, bad
) -> None:
    browser = signed_in(administrator)
    asked = page(browser, "propagation-rollback")
    assert f"Run {bad.run_id}: Measures of hospital quality" in asked
    sent = {"seen": "2 2 2", "crawl": [str(bad.pk)], "reason": ""}
    refused = browser.post(reverse("propagation-rollback"), sent)
    assert refused.status_code == 422 and "Say why this crawl is left out" in refused.content.decode()
    assert shown()[""] == "Please sign in"
    done = browser.post(reverse("propagation-rollback"), sent | {"reason": "bad"}, follow=True)
    told = unescape(done.content.decode())
    assert "Rolled back. Content development shows generation 1" in told
    assert "rolled back by administrator" in told and "Roll forward to generation 2" in told
    assert "rolled back by administrator" in page(browser, "propagation-board", 2)
    assert "bad" in page(browser, "propagation-new")
    assert "Tick those that should count again" in page(browser, "propagation-rollforward")
    browser.post(reverse("propagation-rollforward"), {"seen": "1 1 1", "crawl": [str(bad.pk)]})
    assert shown()[""] == "Please sign in" and not left_out.lately()
    assert "rolled back" not in page(browser, "propagation")


def test_a_generation_that_brought_no_crawl_says_what_came_from_settings(
    signed_in, administrator, world, document
) -> None:
    world.run(document, GOOD)
    propagate()
    propagate(full=True)
    assert "brought no crawl" in page(signed_in(administrator), "propagation-rollback")


def test_the_run_page_leaves_out_and_takes_in_for_administrators(signed_in, administrator, document, bad) -> None:
    manager = make_person("other", Role.MANAGER, document.sheet.project)
    browser, address = signed_in(administrator), reverse("run-leave-out", args=[bad.run_id])
    assert address in page(browser, "run", bad.run_id)
    assert address not in page(signed_in(manager), "run", bad.run_id)
    browser = signed_in(administrator)
    nothing = browser.post(address, {"do": "leave-out", "reason": "bad"})
    assert nothing.status_code == 422 and "Tick at least one document" in nothing.content.decode()
    browser.post(address, {"do": "leave-out", "reason": "only sign-in pages", "crawl": [str(bad.pk)]})
    assert "This crawl is left out." in page(browser, "run", bad.run_id)
    assert "only sign-in pages" in page(signed_in(manager), "run", bad.run_id)
    browser = signed_in(administrator)
    browser.post(address, {"do": "take-in", "crawl": [str(bad.pk)]})
    assert "left out" not in page(browser, "run", bad.run_id)


def test_the_api_and_the_commands_do_the_same(signed_in, administrator, bad) -> None:
    browser, base = signed_in(administrator), f"/api/v1/runs/{bad.run_id}/documents/{bad.doc_id}/"
    answer = browser.post(f"{base}leave-out/", {"reason": "bad"}, content_type="application/json")
    assert (answer.status_code, answer.json()["left_out_reason"]) == (200, "bad")
    assert browser.post(f"{base}take-in/").json()["left_out_at"] is None
    said = StringIO()
    call_command("run", str(bad.run_id), "leave-out", "--doc", str(bad.doc_id), "--reason", "bad", stdout=said)
    assert left_out.lately() == [bad] and said.getvalue().startswith("Results of 1 document left out;")
    call_command("run", str(bad.run_id), "take-in")
    with pytest.raises(CommandError, match="--reason TEXT"):
        call_command("rollback", "--leave-out", str(bad.run_id))
    assert shown()[""] == "Please sign in"
    call_command("rollback", "--leave-out", f"{bad.run_id}:{bad.doc_id}", "--reason", "bad")
    assert (shown(), left_out.lately()) == (GOOD, [bad])
    out = StringIO()
    call_command("rollback", "--forward", "--take-in", str(bad.run_id), "--json", stdout=out)
    assert json.loads(out.getvalue())["generation"] == 2
    assert shown()[""] == "Please sign in" and not left_out.lately()
