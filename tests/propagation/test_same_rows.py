"""`propagate` then `propagate --full` leave identical rows, whatever was before: digests over what the views show."""

import pytest
from django.db import connections

from clearinghouse.database.aliases import TARGETS
from crawler.propagation.loading import load
from crawler.propagation.switching import rollback
from crawlpoints.models import ExcludeUrl
from tests.proves import proves

from .world import ROOT, World, add_document, adopt, digest, propagate, shown

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])

PAGES = {f"{n}.html": f"text {n}" for n in range(15)}


def digests() -> dict[str, str]:
    return {target: digest(target) for target in TARGETS}


def test_a_full_propagation_changes_nothing_after_any_history():
    """Added, changed, removed, renamed, excluded, rolled back: after each the same question."""
    world, document, other = World(), add_document(), add_document("Another", project="Other")
    links = {"": [("1.html", "the first"), ("2.html", "the second")]}
    fewer = {path: text for path, text in PAGES.items() if path not in ("13.html", "14.html")}

    def added() -> None:
        world.run(document, PAGES | {"": "start"}, links=links)
        world.run(other, {"other/": "other"})

    def changed() -> None:
        world.run(document, PAGES | {"": "start two", "3.html": "changed"}, links={"": [("1.html", "renamed link")]})

    def removed() -> None:
        for _ in range(2):
            world.run(document, fewer | {"": "start two", "3.html": "changed"})

    def renamed() -> None:
        document.sheet.title = "Measures, second edition"
        document.sheet.save()

    def excluded() -> None:
        ExcludeUrl.objects.create(document=document, pattern=f"{ROOT}5.html")

    def rolled_back() -> None:
        rollback.roll_back(by="tester")
        rollback.roll_back("primary", by="tester")

    def changed_back() -> None:
        world.run(document, fewer | {"": "start", "3.html": "text 3"}, links=links)

    seen = set()
    for happens in (added, changed, removed, renamed, excluded, rolled_back, changed_back, rolled_back):
        happens()
        assert propagate().error == "", happens.__name__
        before = digests()
        assert len(set(before.values())) == 1, happens.__name__
        assert propagate(full=True).error == "", happens.__name__
        assert digests() == before, happens.__name__
        seen |= set(before.values())
    assert len(seen) == 6  # what was rolled back came again; everything else differed
    assert "5.html" not in shown()


def test_a_target_that_was_left_out_ends_in_the_same_rows():
    world, document = World(), add_document()
    world.run(document, PAGES)
    propagate()
    for number in range(3):
        world.run(document, PAGES | {"1.html": f"change {number}", f"new{number}.html": "new"})
        propagate(targets=["development", "primary"])
    assert digest("backup") != digest("primary")
    propagate()
    assert len(set(digests().values())) == 1


def test_adopted_pages_stay_the_same_rows():
    adopted, document, world = add_document("Adopted"), add_document(), World()
    for target in TARGETS:
        adopt(target, adopted, range(1, 400, 40))
    world.run(document, PAGES)
    propagate()
    before = digests()
    assert len(set(before.values())) == 1
    propagate(full=True)
    assert digests() == before


@proves("C12", "goal 7")
def test_a_rollback_shows_the_rows_of_before_within_five_seconds():
    """Fault C12: a switch and a rollback change one row, and every checksum is the old one again."""
    world, document = World(), add_document()
    world.run(document, PAGES)
    first = propagate()
    old = digests()
    world.run(document, PAGES | dict.fromkeys(list(PAGES)[:9], "new text") | {"more.html": "more"})
    second = propagate()
    new = digests()
    statements: list[str] = []

    def notes(run, sql, *rest):
        if sql.startswith(("INSERT", "UPDATE", "DELETE")):
            statements.append(sql)
        return run(sql, *rest)

    with connections["primary"].execute_wrapper(notes):
        rollback.roll_back(by="tester")
    assert digests() == old != new
    assert len(statements) == 1 and "live_generation" in statements[0]
    assert load.live("primary") == first.pk
    assert propagate().generation > second.pk
    assert digests() == new
