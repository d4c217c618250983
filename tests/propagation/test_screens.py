"""The screens of propagation: who may see and do what, the loss guard, the board, one press back."""

from html import unescape

import pytest
from django.urls import reverse

from clearinghouse.audit.models import Entry
from crawler.models import Propagation
from crawler.propagation import services, switch

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
    assert signed_in(administrator).get(reverse(name)).status_code == 405
    assert Propagation.objects.count() == 1


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
    assert browser.get(reverse("propagation-live", args=[row.pk])).status_code == 200
    services.carry_out(row.pk)
    ended = browser.get(reverse("propagation-live", args=[row.pk]))
    assert ended.status_code == 286
    assert "hx-trigger" not in ended.content.decode()
    assert "new.html" in shown()


def test_when_nothing_was_new_the_board_says_so(signed_in, administrator, published):
    propagate()
    assert "Nothing was new." in text_of(signed_in(administrator), "propagation-board", 2)


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
    with django_assert_max_num_queries(12, using="webcrawl"):
        browser.get(reverse("propagation"))
