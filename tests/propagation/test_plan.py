"""The pure decisions: order of steps, what changes, when to ask."""

from clearinghouse.database.aliases import TARGETS
from crawler.propagation.plan import VARIANTS, Held, Outcome, Wanted, change, steps


def test_the_steps_come_in_the_order_of_the_design():
    assert [" ".join(step).strip() for step in steps(TARGETS)] == [
        "plan",
        "load development", "index development", "verify development", "switch development",
        "public_to_backup",
        "load primary", "index primary", "verify primary", "switch primary",
        "public_home",
        "load backup", "index backup", "verify backup", "switch backup",
        "finish",
    ]  # fmt: skip


def test_the_public_moves_only_when_primary_is_loaded():
    assert [step.name for step in steps(["backup"])] == ["plan", "load", "index", "verify", "switch", "finish"]


def test_a_change_names_what_opens_and_what_closes():
    desired = {b"same": Wanted(1, b"1"), b"changed": Wanted(20, b"new"), b"added": Wanted(3, b"3")}
    held = [Held(1, b"same", b"1"), Held(2, b"changed", b"old"), Held(4, b"removed", b"4")]
    found = change(7, desired, held)
    assert (found.live, found.after, found.added, found.changed, found.removed) == (3, 3, 1, 1, 1)
    assert found.opened == [b"changed", b"added"]
    assert found.closed == [2, 4]
    assert found


def test_a_page_that_changed_only_in_what_links_to_it_say_is_told_apart():
    one, other = 5 * VARIANTS, 6 * VARIANTS
    desired = {b"same": Wanted(one + 2, b"2"), b"new": Wanted(other + 1, b"3")}
    found = change(7, desired, [Held(one + 1, b"same", b"1"), Held(one + 3, b"new", b"1")])
    assert (found.changed, found.relinked) == (2, 1)


def test_nothing_to_do_is_nothing():
    assert not change(7, {b"same": Wanted(1, b"1")}, [Held(1, b"same", b"1")])


def test_a_page_shown_twice_is_shown_once_again():
    found = change(7, {b"same": Wanted(1, b"1")}, [Held(1, b"same", b"1"), Held(9, b"same", b"1")])
    assert (found.closed, found.opened, found.live) == ([9], [], 1)


def test_more_than_a_fifth_of_the_live_pages_needs_a_person():
    pairs = ((10, 2), (10, 3), (1, 1), (0, 0))
    asking = [Outcome(1, live, live - removed, 0, 0, removed).asks for live, removed in pairs]
    assert asking == [False, True, True, False]
