"""Rule 16: when a page leaves, told run by run, oldest first."""

from collections.abc import Sequence
from dataclasses import replace

import pytest

from crawler.propagation.loading.missing_pages import Trip, behind_failures, shown
from tests.proves import proves

A, B, C = b"a", b"b", b"c"
STORED = ("crawled", "", 200)
GONE = ("failed", "http_4xx", 404)


def trip(state: str = "finished", **rows: tuple[str, str, int]) -> Trip:
    found = Trip(state)
    for key, (outcome, reason, status) in rows.items():
        found.note(key.encode(), outcome, (reason, status), 1 if outcome in ("crawled", "unchanged") else None)
    return found


def stays(*oldest_first: Trip, links: dict[int, list[bytes]] | None = None) -> bool:
    def shielded(trips: Sequence[Trip], at: int) -> set[bytes]:
        return behind_failures(trips, at, lambda version: (links or {}).get(version, []))

    return A in shown(list(reversed(oldest_first)), shielded)


@proves("rule 16", "D23")
@pytest.mark.parametrize(
    "verdict",
    [
        GONE,
        ("failed", "http_4xx", 410),
        ("redirected", "", 301),
        ("skipped", "robots_disallowed", 0),
        ("skipped", "type_not_allowed", 200),
        ("skipped", "excluded", 0),
    ],
)
def test_a_page_leaves_after_two_runs_in_which_it_was(verdict):
    assert stays(trip(a=STORED), trip(a=verdict))
    assert not stays(trip(a=STORED), trip(a=verdict), trip(a=verdict))
    assert not stays(trip(a=STORED), trip(a=verdict), trip("finished_at_limit", a=verdict))


@proves("rule 16", "D23")
@pytest.mark.parametrize(
    "verdict",
    [
        ("failed", "http_5xx", 503),
        ("failed", "timeout", 0),
        ("failed", "http_4xx", 403),
        ("failed", "auth_failed", 401),
        ("skipped", "too_deep", 0),
        ("skipped", "page_limit", 0),
        ("skipped", "run_limit", 0),
        ("skipped", "run_stopped", 0),
        ("skipped", "point_deactivated", 0),
    ],
)
def test_a_page_stays_however_often_it_was(verdict):
    assert stays(trip(a=STORED), *(trip(a=verdict) for _ in range(5)))


@proves("rule 16")
def test_a_run_that_stored_it_begins_the_count_anew():
    assert stays(trip(a=STORED), trip(a=GONE), trip(a=STORED), trip(a=GONE))
    assert not stays(trip(a=STORED), trip(a=GONE), trip(a=("failed", "timeout", 0)), trip(a=GONE))


@proves("rule 16")
def test_not_being_reached_counts_in_finished_runs_only():
    assert not stays(trip(a=STORED), trip(b=STORED), trip(b=STORED))
    assert stays(trip(a=STORED), trip("finished_at_limit", b=STORED), trip("finished_at_limit", b=STORED))
    assert stays(trip(a=STORED), trip("stopped", b=STORED), trip("stopped", a=GONE))


def test_a_page_is_not_missed_while_a_page_that_links_to_it_fails_in_passing():
    failing = ("failed", "http_5xx", 503)
    links = {1: [A]}
    assert stays(trip(a=STORED, b=STORED), trip(b=failing), trip(b=failing), links=links)
    assert not stays(trip(a=STORED, b=STORED), trip(b=GONE), trip(b=GONE), links=links)
    assert not stays(trip(a=STORED, b=STORED), trip(b=failing), trip(b=failing), links={})


def test_a_failing_start_page_takes_nothing_along():
    """c fails, b behind it is not reached, a behind b neither."""

    def version(found: Trip, key: bytes, number: int) -> None:
        found.named[key] = number

    first = trip(a=STORED, b=STORED, c=STORED)
    version(first, A, 1)
    version(first, B, 2)
    version(first, C, 3)
    down = [trip(c=("failed", "connect_failed", 0)) for _ in range(3)]
    assert stays(first, *down, links={3: [B], 2: [A]})


def of(strand: str, version: int, one: Trip) -> Trip:
    return replace(one, strand=strand, named=dict.fromkeys(one.named, version))


@pytest.mark.parametrize(
    ("oldest_first", "left"),
    [
        ([of("one", 1, trip(a=STORED)), of("two", 2, trip(a=STORED))], {A: 2}),  # as the newer crawl has it
        ([of("two", 2, trip(a=STORED)), of("one", 1, trip(a=STORED))], {A: 1}),
        ([of("one", 1, trip(a=STORED)), of("two", 2, trip(b=STORED))], {A: 1, B: 2}),  # the union
        ([of("one", 1, trip(a=STORED)), *(of("two", 2, trip(b=STORED)) for _ in range(3))], {A: 1, B: 2}),
        (
            [of("one", 1, trip(a=STORED)), of("two", 2, trip(a=STORED)), *(of("two", 0, trip()) for _ in range(2))],
            {A: 1},
        ),
        ([of("one", 1, trip(a=STORED)), *(of(name, 0, trip()) for name in ("one", "two", "one"))], {}),
    ],
)
def test_what_a_document_has_in_two_strands_leaves_when_neither_shows_it(oldest_first, left):
    assert shown(list(reversed(oldest_first)), lambda trips, at: ()) == left


def test_the_reasons_of_another_strand_do_not_keep_a_page():
    asked = []
    trips = [of("one", 0, trip()), of("two", 0, trip()), of("one", 0, trip()), of("one", 1, trip(a=STORED))]
    assert shown(trips, lambda mine, at: asked.append((mine[at].strand, len(mine), at)) or ()) == {}
    assert asked == [("one", 3, 0), ("one", 3, 1)]
