"""A propagation takes no more memory for more pages: the long form is `make bench ARGS=propagation_memory`."""

import random

from crawler.propagation.loading.packed_keys import Numbers, PackedKeys
from crawler.propagation.loading.packed_pages import DesiredPage, Pages, WantedPages, published_id
from tests.bench import propagation_memory

EXTRA_MB = 15  # bounded tables that ten thousand pages fill; before, it was 19 and grew with the pages


def test_ten_times_the_pages_take_next_to_no_more_memory(tmp_path) -> None:
    small, large = (propagation_memory.measured(tmp_path, pages, cache=False) for pages in (1_000, 10_000))
    assert large.own < 250 and large.mapped < 80
    assert large.own - small.own < EXTRA_MB, f"{small.own:.0f} MB, {large.own:.0f} MB"


def digest(number: int) -> bytes:
    return random.Random(number).randbytes(32)


def test_packed_keys_are_what_a_dict_is() -> None:
    given = {digest(number): number for number in range(500)}
    ordered, packed = dict(sorted(given.items())), Numbers()
    for key, number in list(ordered.items())[::2] + list(given.items()):
        packed[key] = number
    assert dict(packed.items()) == given == {key: packed[key] for key in packed} and len(packed) == 500
    assert digest(7) in packed and digest(501) not in packed and b"short" not in packed
    packed[digest(7)] = -1
    assert packed[digest(7)] == -1 and len(packed) == 500
    some = PackedKeys()
    for key in given:
        some.add(key)
    assert set(some) == set(given) and len(some) == 500


def test_packed_pages_are_what_was_appended() -> None:
    pages, given = Pages(), {}
    for number, key in enumerate(sorted(digest(one) for one in range(300))):
        text = "\ud800 ü" * (number % 7)
        given[key] = DesiredPage(number, 10 * number, text, published_id(number, key), key)
        pages.append(key, given[key])
    assert dict(pages.items()) == given
    assert {key: wanted.digest for key, wanted in WantedPages(pages).items()} == {key: key for key in given}
    key = next(iter(given))
    assert pages.likeness(key) == 0
    pages.remember(key, 77)
    assert pages.likeness(key) == 77 and b"x" not in pages
