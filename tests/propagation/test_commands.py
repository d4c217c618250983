"""The commands propagate and rollback: their JSON, their exit codes, their sentences."""

import json
from io import StringIO

import pytest
from django.core.management import CommandError, call_command

from crawler.propagation import propagation_claim, services
from tests.proves import proves

from .world import World, add_document, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def world() -> World:
    return World()


def run(*words: str) -> dict:
    out = StringIO()
    call_command(*words, "--json", stdout=out)
    return json.loads(out.getvalue())


def exit_of(*words: str) -> tuple[int, str]:
    with pytest.raises(CommandError) as raised:
        call_command(*words, stdout=StringIO())
    return raised.value.returncode, str(raised.value)


def test_propagate_prints_what_each_target_got(world):
    world.run(add_document(), {"": "start", "a.html": "alpha"})
    result = run("propagate")
    assert [target["name"] for target in result["targets"]] == ["development", "primary", "backup"]
    for target in result["targets"]:
        assert set(target) == {"name", "pages", "added", "changed", "removed", "seconds"}
        assert (target["pages"], target["added"]) == (2, 2)
    again = run("propagate")
    assert again["generation"] == result["generation"]
    assert all(target["added"] == target["changed"] == target["removed"] == 0 for target in again["targets"])
    assert all(target["pages"] == 2 for target in again["targets"])


def test_what_is_not_public_is_named_where_its_server_has_more_pages(world):
    world.run(add_document(), {"": "start", "a.html": "alpha"})
    world.run(add_document("Staff handbook", public=False), {"": "start"})
    out = StringIO()
    call_command("propagate", stdout=out)
    assert "development: 3 pages" in out.getvalue() and "primary: 2 pages" in out.getvalue()
    assert "1 page of documents that are not public: on content development only" in out.getvalue()


def test_chosen_targets_only(world):
    world.run(add_document(), {"": "start"})
    result = run("propagate", "--target", "development")
    assert [target["name"] for target in result["targets"]] == ["development"]
    assert shown("primary") == {}


@proves("C7")
def test_a_large_loss_exits_4_and_names_the_option(world):
    document = add_document()
    pages = {"": "start", "a.html": "alpha"}
    world.run(document, pages)
    run("propagate")
    world.run(document, {"": "start"})
    world.run(document, {"": "start"})
    code, sentence = exit_of("propagate")
    assert code == 4
    assert sentence == (f"{document.title} would lose 1 of 2 pages. To go on, accept it: --accept-loss {document.pk}")
    assert len(shown()) == 2
    assert run("propagate", "--accept-loss", str(document.pk))["targets"][1]["removed"] == 1


def test_one_that_was_killed_is_continued_first(world):
    world.run(add_document(), {"": "start"})
    row = services.ask(by="somebody")
    assert run("propagate")["generation"] == row.pk
    assert shown() == {"": "start"}


def test_while_another_process_works_it_is_refused(world):
    world.run(add_document(), {"": "start"})
    row = services.ask(by="somebody")
    with propagation_claim.claimed(row.pk):
        code, sentence = exit_of("propagate")
        assert exit_of("rollback")[0] == 1
    assert code == 1
    assert "a second one has to wait until it is done" in sentence


def test_rollback_goes_back_one_generation(world):
    document = add_document()
    world.run(document, {"": "one"})
    first = propagate()
    assert exit_of("rollback") == (1, "There is no older generation on any target to go back to.")
    world.run(document, {"": "two"})
    propagate()
    result = run("rollback", "--target", "backup")
    assert result["generation"] == first.generation
    assert [target["name"] for target in result["targets"]] == ["backup"]
    assert (shown("primary"), shown("backup")) == ({"": "two"}, {"": "one"})
