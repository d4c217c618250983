"""What a propagation leaves on the three targets."""

import pytest

from clearinghouse.database.aliases import TARGETS
from clearinghouse.published.models import PublishedVersion
from crawler.models import LedgerEntry, PageVersion, Propagation
from crawler.propagation import services
from crawler.propagation.loading import load
from crawler.propagation.loading.collect import VARIANTS, Collector
from crawler.propagation.pinned_scope import pin
from crawler.propagation.switching import rollback, switch
from crawlpoints.models import ExcludeUrl
from tests.proves import proves

from .world import World, add_document, add_root, adopt, everything, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def world() -> World:
    return World()


def test_a_crawl_is_shown_by_all_three_targets(world):
    document = add_document()
    world.run(document, {"": "start", "a.html": "alpha"})
    row = propagate()
    assert (row.state, row.error) == ("done", "")
    for target in TARGETS:
        assert shown(target) == {"": "start", "a.html": "alpha"}
        assert load.live(TARGETS[target]) == row.generation
    assert switch.is_home()


def test_the_result_counts_what_each_target_got(world):
    document = add_document()
    world.run(document, {"": "start", "a.html": "alpha", "b.html": "beta"})
    propagate()
    world.run(
        document, {"": "start", "a.html": "alpha two", "c.html": "gamma"}, also={"b.html": ("failed", "http_4xx", 404)}
    )
    row = propagate()
    for target in services.result(row)["targets"]:
        counts = [target[name] for name in ("pages", "added", "changed", "removed")]
        assert counts == [4, 1, 1, 0], target


def test_the_three_targets_hold_identical_rows(world):
    world.run(add_document(), {"": "start", "a.html": "alpha"})
    propagate()
    assert everything("development") == everything("primary") == everything("backup")


def test_a_full_propagation_ends_in_the_same_rows(world):
    document = add_document()
    world.run(document, {"": "start", "a.html": "alpha", "b.html": "beta"}, links={"": [("a.html", "the alpha")]})
    propagate()
    world.run(document, {"": "start", "a.html": "alpha two", "b.html": "beta"}, links={"": [("a.html", "the alpha")]})
    propagate()
    before = {target: everything(target) for target in TARGETS}
    row = propagate(full=True)
    assert row.state == "done"
    assert {target: everything(target) for target in TARGETS} == before


def test_nothing_new_makes_no_generation(world):
    world.run(add_document(), {"": "start"})
    first = propagate()
    again = propagate()
    assert again.state == "done"
    assert load.live("primary") == first.generation
    assert services.preview().empty


def test_documents_that_are_not_public_go_to_content_development_only(world):
    world.run(add_document(public=False), {"": "draft"})
    propagate()
    assert shown("development") == {"": "draft"}
    assert shown("primary") == shown("backup") == {}


def test_anchor_texts_of_links_to_a_page_are_published_with_it(world):
    document = add_document()
    world.run(document, {"": "start", "a.html": "alpha"}, links={"": [("a.html", "Zebra"), ("a.html", "Apple")]})
    propagate()
    assert PublishedVersion.objects.using("primary").get(title="Page a.html").anchors == "Apple\nZebra"
    world.run(document, {"": "start again", "a.html": "alpha"}, links={"": [("a.html", "Apple")]})
    row = propagate()
    counts = row.steps.get(name="load", target="primary").counts
    assert (counts["added"], counts["changed"]) == (0, 2)  # the anchors of a.html changed, so its row did


@proves("rule 16")
def test_a_page_leaves_after_two_runs_without_it(world):
    document = add_document()
    world.run(document, {"": "start", **{f"{n}.html": "text" for n in range(8)}})
    propagate()
    rest = {"": "start", **{f"{n}.html": "text" for n in range(7)}}
    world.run(document, rest, also={"7.html": ("failed", "http_4xx", 404)})
    propagate()
    assert "7.html" in shown()
    world.run(document, rest)
    propagate()
    assert "7.html" not in shown()


def test_a_stopped_run_counts_only_when_asked(world):
    document = add_document()
    world.run(document, {"": "start"})
    world.run(document, {"": "start", "new.html": "new"}, state="stopped")
    propagate()
    assert set(shown()) == {""}
    propagate(include_stopped=True)
    assert set(shown()) == {"", "new.html"}


def test_a_preview_run_is_never_published(world):
    document = add_document()
    world.run(document, {"": "start"}, origin="preview")
    propagate()
    assert shown() == {}


@proves("rule 16")
def test_a_deleted_crawl_point_and_a_new_exclude_take_effect_at_once(world):
    document = add_document()
    pages = {f"{n}.html": "text" for n in range(20)}
    world.run(document, {"": "start", **pages})
    propagate()
    ExcludeUrl.objects.create(document=document, pattern="https://quality.example.org/1.html")
    propagate()
    assert "1.html" not in shown()
    assert len(shown()) == 20


@proves("rule 16")
def test_a_changed_root_asks_because_it_loses_too_much(world):
    document = add_document()
    world.run(document, {"": "start", "a/1.html": "one", "b/2.html": "two"})
    propagate()
    point = document.crawl_point_links.get().crawl_point
    point.root = "https://quality.example.org/a/"
    point.save()
    row = propagate()
    assert row.state == "failed"
    assert services.losses_of(row)[0]["removed"] == 2
    assert f"--accept-loss {document.pk}" in row.error
    assert len(shown()) == 3
    assert propagate(accepted_losses=[document.pk]).state == "done"
    assert set(shown()) == {"a/1.html"}


def test_a_second_crawl_point_keeps_what_the_first_one_lost(world):
    document = add_document()
    add_root(document, "https://quality.example.org/b/")
    world.run(document, {"b/2.html": "two"})
    propagate()
    document.crawl_point_links.order_by("id").first().crawl_point.delete()
    propagate()
    assert set(shown()) == {"b/2.html"}


def test_a_document_never_crawled_by_us_stays_as_it_is(world):
    document = add_document("Adopted")
    for target in TARGETS:
        adopt(target, document, range(1, 1000, 100))
    world.run(add_document("Crawled"), {"": "start", "a.html": "alpha"})
    row = propagate()
    assert row.error == ""
    assert len(shown()) == 12


def test_published_ids_fit_although_versions_are_numbered_in_blocks(world):
    world.run(add_document(), {"": "start"})
    high = 1 << 50  # about four million crawler instances
    PageVersion.objects.update(id=high)
    LedgerEntry.objects.update(version_id=high)
    assert propagate().error == ""
    assert shown() == {"": "start"}
    assert load.execute("primary", "SELECT MAX(published_meta_id) FROM published_meta")[0][0] < 1 << 63


def test_ids_that_adopted_pages_have_taken_are_left_to_them(world):
    document = add_document()
    world.run(document, {"": "start", "a.html": "alpha"})
    pages = Collector().pages(pin().documents[0], "primary").values()
    own, all_of_them = pages
    taken = [own.published_id, *range(all_of_them.version_id * VARIANTS, (all_of_them.version_id + 1) * VARIANTS)]
    adopted = add_document("Adopted")
    for target in TARGETS:
        adopt(target, adopted, taken)
    assert propagate().error == ""
    assert {"", "a.html"} < set(shown())
    assert propagate(full=True).error == ""
    assert everything("primary") == everything("backup")


def test_generation_numbers_are_above_all_a_target_has_seen(world):
    switch.show("primary", 7)
    world.run(add_document(), {"": "start"})
    assert propagate().generation == 8


def test_a_second_propagation_is_refused(world):
    world.run(add_document(), {"": "start"})
    services.ask(by="tester")
    with pytest.raises(services.WrongMoment):
        services.ask(by="tester")
    assert Propagation.objects.count() == 1


def test_rollback_shows_the_generation_before_and_can_be_propagated_over(world):
    document = add_document()
    world.run(document, {"": "one"})
    first = propagate()
    world.run(document, {"": "two"})
    propagate()
    assert rollback.roll_back(by="tester") == dict.fromkeys(TARGETS, first.generation)
    assert shown() == {"": "one"}
    row = propagate()
    assert shown() == {"": "two"}
    assert row.generation > first.generation + 1


def test_two_older_generations_are_kept_and_the_rest_is_removed(world):
    document = add_document()
    for text in ("one", "two", "three", "four", "five"):
        world.run(document, {"": text})
        propagate()
    assert PublishedVersion.objects.using("primary").count() == 3
    rollback.roll_back(by="tester")
    rollback.roll_back(by="tester")
    assert shown() == {"": "three"}
    with pytest.raises(services.WrongMoment):
        rollback.roll_back(by="tester")


def test_titles_and_projects_follow_without_any_new_page(world):
    document = add_document()
    world.run(document, {"": "start"})
    propagate()
    document.sheet.title = "Another title"
    document.sheet.save()
    propagate()
    names = load.execute("primary", "SELECT title FROM published_document WHERE gen_to > 1000000")
    assert [tuple(row) for row in names] == [("Another title",)]
