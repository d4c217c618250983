"""The screens of propagation: who may see and do what, the loss guard, the board, one press back."""

import re
from html import unescape
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.urls import reverse

from clearinghouse.audit.models import Entry
from crawler.models import Propagation
from crawler.propagation import services
from crawler.propagation.switching import switch
from crawler.propagation.views import propagation_views as screens

from .world import World, add_document, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

PAGES = {"": "start", **{f"{n}.html": f"text {n}" for n in range(9)}}


@pytest.fixture
def world() -> World:
    return World()


@pytest.fixture
def published(world):
    found = add_document()
    world.run(found, PAGES)
    propagate()
    return found


def text_of(client, name: str, *arguments) -> str:
    response = client.get(reverse(name, args=arguments))
    assert response.status_code == 200
    return unescape(response.content.decode())


def test_the_list_shows_targets_and_who_serves_the_public(signed_in, administrator, published):
    text = text_of(signed_in(administrator), "propagation")
    assert "The public site is served by primary production, generation 1." in text
    assert text.count("Reachable") == 3
    assert reverse("propagation-new") in text


def test_before_anything_it_explains_itself(signed_in, administrator):
    assert "Nothing has been propagated yet" in text_of(signed_in(administrator), "propagation")


@pytest.mark.parametrize("name", ["propagation", "propagation-new"])
def test_it_needs_sign_in(client, name, db):
    assert client.get(reverse(name)).headers["Location"].startswith(reverse("sign-in"))


@pytest.mark.parametrize("name", ["propagation-start", "propagation-rollback"])
def test_only_administrators_act_and_only_by_post(signed_in, manager, editor, administrator, published, name):
    for person in (manager, editor):
        assert signed_in(person).post(reverse(name)).status_code == 403
    asked = signed_in(administrator).get(reverse(name))
    assert asked.status_code == (405 if name == "propagation-start" else 200)
    assert Propagation.objects.count() == 1
    assert shown()


def test_a_manager_watches_and_a_developer_does_not(signed_in, manager, editor, published):
    text = text_of(signed_in(manager), "propagation-board", 1)
    assert "Propagation 1" in text
    assert reverse("propagation-rollback") not in text
    assert signed_in(editor).get(reverse("propagation")).status_code == 403


def test_the_preview_changes_nothing_and_shows_the_differences(signed_in, administrator, published, world):
    world.run(published, PAGES | {"": "start two", "new.html": "new"})
    text = text_of(signed_in(administrator), "propagation-new")
    assert "1 added" in text
    assert "1 changed" in text
    assert published.title in text
    assert Propagation.objects.count() == 1


def test_the_button_asks_and_the_board_follows_it(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    browser = signed_in(administrator)
    response = browser.post(reverse("propagation-start"))
    row = services.unfinished()
    assert response.headers["Location"] == reverse("propagation-board", args=[row.pk])
    assert row.requested_by == "administrator"
    assert Entry.objects.filter(action="propagate").exists()
    board = text_of(browser, "propagation-board", row.pk)
    assert 'hx-trigger="every 2s"' in board
    assert board.count('<li class="step') == 10
    assert "live.js" in board, "it puts what changed into what is there: an open log stays open, the focus stays"
    polled = text_of(browser, "propagation-live", row.pk)
    ids = {"live-poll", "moving", "moving-log", "propagation-head"}
    assert all(re.search(f'id="{one}"[^>]* hx-swap-oob="true"', polled) for one in ids) and "outerHTML" not in polled
    services.carry_out(row.pk)
    assert "hx-trigger" not in text_of(browser, "propagation-live", row.pk)
    assert "new.html" in shown()


def test_when_nothing_was_new_the_board_says_so(signed_in, administrator, published):
    propagate()
    assert "Nothing was new." in text_of(signed_in(administrator), "propagation-board", 2)


def sums_of(context: dict[str, Any]) -> None:
    """The rows of the difference add up to its last line."""
    total, others = context["total"], context["others"] or {"live": 0, "added": 0, "after": 0}
    for row, whole in (("live", "live"), ("added", "added"), ("after", "pages")):
        assert sum(one[row] for one in context["documents"]) + others[row] == total[whole], row


def test_figures_say_what_goes_to_content_development_only(signed_in, administrator, published, world):
    """Pages for the public and pages of a document that is not public are the pages of content development."""
    staff = add_document("Staff handbook", public=False)
    world.run(staff, {"": "start", "rules.html": "rules", "leave.html": "leave"})
    world.run(published, PAGES | {"new.html": "new"})
    browser = signed_in(administrator)
    sentence = (
        "3 pages of Staff handbook go to content development only, because the document is not public. "
        f"Content development shows them beside the {len(PAGES) + 1} pages for the public."
    )
    asked = browser.get(reverse("propagation-new"))
    assert sentence in asked.content.decode() and "Now live" in asked.content.decode()
    sums_of(asked.context)
    row = propagate()
    board = browser.get(reverse("propagation-board", args=[row.pk]))
    assert sentence in board.content.decode()
    sums_of(board.context)
    assert [(one.pages, one.not_public) for one in board.context["targets"]] == [(14, 3), (11, 0), (11, 0)]
    assert "3 of them not public" in board.content.decode()
    report = unescape(browser.get("/reports/propagation/").content.decode())
    assert "3 pages of documents that are not public: on content development only." in report
    assert "3 of them not public" in report
    world.run(staff, {"": "start", "rules.html": "other rules", "leave.html": "leave"})
    assert sentence in browser.get(reverse("propagation-new")).content.decode(), "also when nothing else is new"
    assert sentence in browser.get(reverse("propagation-board", args=[propagate().pk])).content.decode()
    for path in (reverse("propagation-new"), reverse("propagation-board", args=[1])):
        assert "go to content development only" not in browser.get(path).content.decode()


def test_a_done_propagation_says_what_was_live_before_it(signed_in, administrator, published, world):
    text = text_of(signed_in(administrator), "propagation-board", 1)
    assert "What generation 1 changed" in text and "Live before" in text and "Now live" not in text
    sums_of(signed_in(administrator).get(reverse("propagation-board", args=[1])).context)
    world.run(published, PAGES | {"new.html": "new"})
    propagate(targets=["development", "primary"])
    world.run(published, PAGES | {"new.html": "new", "newer.html": "newer"})
    board = signed_in(administrator).get(reverse("propagation-board", args=[propagate().pk]))
    assert board.context["total"]["live"] == len(PAGES) + 1, "of primary; backup had one page less"
    sums_of(board.context)


def test_a_large_loss_needs_the_number_typed(signed_in, administrator, published, world):
    fewer = {path: text for path, text in PAGES.items() if path in ("", "1.html", "2.html")}
    world.run(published, fewer)
    world.run(published, fewer)
    browser = signed_in(administrator)
    refused = browser.post(reverse("propagation-start"), {f"loss-{published.pk}": "6"})
    assert refused.status_code == 422
    assert "Type 7 to confirm" in refused.content.decode()
    assert services.unfinished() is None
    browser.post(reverse("propagation-start"), {f"loss-{published.pk}": "7"})
    assert services.carry_out(services.unfinished().pk).state == "done"
    assert len(shown()) == 3


def test_a_second_one_is_refused_with_a_sentence(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    services.ask(by="somebody")
    text = text_of(signed_in(administrator), "propagation-new")
    assert "a second one has to wait until it is done" in text
    response = signed_in(administrator).post(reverse("propagation-start"), follow=True)
    assert "a second one has to wait until it is done" in response.content.decode()
    assert Propagation.objects.count() == 2


def test_one_press_rolls_back_and_says_so(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    propagate()
    browser = signed_in(administrator)
    assert "Roll back to generation 1" in text_of(browser, "propagation-board", 2)
    response = browser.post(reverse("propagation-rollback"), follow=True)
    assert "Primary production shows generation 1" in response.content.decode()
    assert "new.html" not in shown()
    assert Entry.objects.filter(action="rollback").exists()
    again = browser.post(reverse("propagation-rollback"), follow=True)
    assert "There is no older generation on any target to go back to." in again.content.decode()


def test_a_failed_one_says_where_and_goes_on_from_there(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    row = services.ask(by="somebody")
    step = row.steps.get(name="load", target="primary")
    Propagation.objects.filter(pk=row.pk).update(state="failed", error="primary did not answer")
    row.steps.filter(pk=step.pk).update(state="failed", error="primary did not answer")
    browser = signed_in(administrator)
    text = text_of(browser, "propagation-board", row.pk)
    assert "Load on primary failed. primary did not answer" in text.replace("</strong>", "")
    browser.post(reverse("propagation-retry", args=[row.pk]))
    assert services.unfinished().pk == row.pk
    assert services.carry_out(row.pk).state == "done"


def test_while_backup_serves_the_board_says_so(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    row = services.ask(by="somebody")
    switch.public_to_backup(row.pk)
    assert "The public site is served by backup production" in text_of(
        signed_in(administrator), "propagation-board", row.pk
    )


def test_the_list_costs_the_same_for_more_propagations(
    signed_in, administrator, published, django_assert_max_num_queries
):
    browser = signed_in(administrator)
    for number in range(2, 12):
        Propagation.objects.create(state="done", requested_by="x", created_at="2026-11-12T00:00Z", pk=number)
    with django_assert_max_num_queries(18, using="webcrawl"):
        browser.get(reverse("propagation"))


def test_rolling_back_asks_first_and_says_what_each_server_will_show(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    propagate()
    browser = signed_in(administrator)
    asked = text_of(browser, "propagation-rollback")
    assert "<strong>Primary production</strong> shows generation 1 again instead of generation 2." in asked
    assert "new.html" in shown()
    seen = 'name="seen" value="2 2 2"'
    assert seen in asked
    late = browser.post(reverse("propagation-rollback"), {"seen": "1 1 1"}, follow=True)
    assert "Another generation was switched on meanwhile" in late.content.decode()
    assert "new.html" in shown()
    browser.post(reverse("propagation-rollback"), {"seen": "2 2 2"})
    assert "new.html" not in shown()
    assert "There is no older generation to go back to." in text_of(browser, "propagation-rollback")


def test_the_runs_since_the_last_one_are_chosen_by_ticking(signed_in, administrator, published, world):
    other = add_document("Another document")
    one = world.run(published, PAGES | {"new.html": "new"}).run_id
    two = world.run(other, {"other.html": "other"}).run_id
    stopped = world.run(other, {"other.html": "other", "half.html": "half"}, state="stopped").run_id
    browser = signed_in(administrator)
    text = text_of(browser, "propagation-new")
    assert f'value="{one}" checked' in text and f'value="{two}" checked' in text
    assert f'id="run-{stopped}" value="{stopped}">' in text
    assert 'id="run-1"' not in text  # it has been taken
    assert "2 added" in text
    response = browser.get(reverse("propagation-new"), {"choose": "1", "run": [two, stopped]})
    less = unescape(response.content.decode())
    assert f'id="run-{one}" value="{one}">' in less
    assert f'<input type="hidden" name="run" value="{stopped}">' in less
    browser.post(reverse("propagation-start"), {"choose": "1", "run": [two, stopped]})
    row = services.unfinished()
    assert row.runs == [two, stopped]
    services.carry_out(row.pk)
    assert {"other.html", "half.html"} < set(shown()) and "new.html" not in shown()
    assert f"runs {two}–{stopped}" in text_of(browser, "propagation-board", row.pk)
    assert f'id="run-{one}" value="{one}" checked' in text_of(browser, "propagation-new")


def test_ticking_what_counts_anyway_is_no_choice(signed_in, administrator, published, world):
    run = world.run(published, PAGES | {"new.html": "new"}).run_id
    signed_in(administrator).post(reverse("propagation-start"), {"choose": "1", "run": [run]})
    assert services.unfinished().runs is None


def test_it_is_paused_and_goes_on_by_buttons(signed_in, administrator, published, world):
    world.run(published, PAGES | {"new.html": "new"})
    row = services.ask(by="somebody")
    browser = signed_in(administrator)
    assert "Pause after this step" in text_of(browser, "propagation-board", row.pk)
    browser.post(reverse("propagation-pause", args=[row.pk]))
    assert "It pauses after this step." in text_of(browser, "propagation-board", row.pk)
    assert services.carry_out(row.pk).state == "paused"
    text = text_of(browser, "propagation-board", row.pk)
    assert "<strong>Paused.</strong>" in text and "Go on" in text and 'hx-trigger="every 2s"' not in text
    browser.post(reverse("propagation-resume", args=[row.pk]))
    assert services.carry_out(row.pk).state == "done"
    late = browser.post(reverse("propagation-pause", args=[row.pk]), follow=True)
    assert "It is not running any more." in late.content.decode()


def test_the_log_shows_every_step_with_its_counts(signed_in, administrator, published):
    text = text_of(signed_in(administrator), "propagation-board", 1)
    log = text[text.index('id="log"') :]
    assert log.count('<tr role="row">') == 1 + 16
    assert "10 pages, 10 added, 0 changed, 0 removed" in log
    assert "10 pages compared, 10 read back, 5 sample queries answered" in log
    assert '<details id="log">' in text and 'href="?log=1#log"' in text
    opened = signed_in(administrator).get(reverse("propagation-board", args=[1]), {"log": "1"}).content.decode()
    assert '<details id="log" open>' in opened


def test_an_accepted_loss_stands_on_the_board(signed_in, administrator, published, world):
    fewer = {path: text for path, text in PAGES.items() if path in ("", "1.html", "2.html")}
    world.run(published, fewer)
    world.run(published, fewer)
    propagate(accepted_losses=[published.pk])
    text = text_of(signed_in(administrator), "propagation-board", 2)
    assert f"{published.title} loses 7 of 10 pages (70%).</strong> tester accepted it." in text


def test_a_target_that_is_down_is_shown_as_that(signed_in, administrator, published):
    def down(run, sql, *rest):
        raise OperationalError("the server is gone")

    with connections["backup"].execute_wrapper(down):
        text = text_of(signed_in(administrator), "propagation")
    assert text.count("Does not answer") == 1
    assert text.count("Reachable") == 2


def test_documents_that_are_not_listed_are_one_row(signed_in, administrator, world, monkeypatch):
    monkeypatch.setattr(screens, "_BIGGEST", 2)
    for number in range(5):
        world.run(add_document(f"Document {number}"), {f"{number}/{n}.html": "text" for n in range(number + 1)})
    text = text_of(signed_in(administrator), "propagation-new")
    assert "3 other documents" in text
    assert "Document 4" in text and "Document 1</" not in text
    others = text[text.index("3 other documents") :]
    assert 'data-th="Added">+6<' in others[:600]
