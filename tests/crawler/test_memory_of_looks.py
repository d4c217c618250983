"""What a look at a page leaves in the web process: next to nothing, however large the page was."""

import gc
import subprocess
import sys
import tracemalloc
import weakref
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from clearinghouse.addresses.parsing import split
from crawler.preview.fetch_once import LINKS_SHOWN, FetchedOnce, SingleFetcher, visit
from crawler.preview.form_detection import fields_of
from crawler.preview.throttled_client import looking
from crawler.values import Fetched, PointSettings, Request, Snapshot
from tests.extract.test_hostile_pages import _environment
from tests.sites.misbehaving import Site, page

SITE = "https://a.example/"
LINKS = 30_000
FORM = "<form method=post><input name=who><input type=password name=word></form>"
_GIVEN_BACK = """
import re, threading
from clearinghouse.operations.free_memory import give_back_memory

def own():
    with open("/proc/self/smaps_rollup") as told:
        return int(re.search(r"Anonymous:\\s+(\\d+)", told.read())[1]) / 1024

def work():
    pieces = [b"x" * 2000 for _ in range(40_000)]
    return pieces[::100]  # a few stay, all over the place

def in_thread():
    kept.append(work())

kept = []
before = own()
for thread in [threading.Thread(target=in_thread) for _ in range(2)]:
    thread.start()
    thread.join()
freed = own()
give_back_memory()
print(freed - before, own() - before)
"""


def many_links(host: str, count: int = LINKS) -> str:
    return "".join(f"<p><a href='{host}page-{number}.html'>{number}</a>" for number in range(count))


@contextmanager
def without_collections() -> Iterator[None]:
    """What Python would find some time is not what is given back now."""
    gc.collect()
    gc.disable()
    try:
        yield
    finally:
        gc.enable()


def taken(work: Callable[[], object]) -> tuple[float, float]:
    """Megabytes at the most, and afterwards."""
    tracemalloc.start()
    try:
        work()
        after, most = tracemalloc.get_traced_memory()
        return most / 1e6, after / 1e6
    finally:
        tracemalloc.stop()


def test_a_sign_in_form_is_found_without_a_tree_of_the_whole_page() -> None:
    body = (many_links(SITE, 15_000) + FORM).encode()
    fields_of(FORM.encode(), SITE)
    with without_collections():
        most, after = taken(lambda: fields_of(body, SITE))
    assert fields_of(body, SITE).password_field == "word"
    assert most < 12 and after < 2, (most, after)


@pytest.mark.django_db(databases="__all__")
def test_what_was_read_goes_with_the_look() -> None:
    body = many_links(SITE).encode()
    fetched = Fetched(Request(SITE, split(SITE)), 200, [("content-type", "text/html")], body)
    with without_collections():
        with looking(60) as line:
            assert line.read(fetched, SITE)
            read = line._parsers
            assert read is not None
            gone = weakref.ref(read._processes[0])
            del read
        assert gone() is None


@pytest.mark.django_db(databases="__all__")
def test_of_many_links_those_are_kept_that_are_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    kept: list[int] = []
    original = SingleFetcher._page

    def weighed(visitor: SingleFetcher, *given: object) -> None:
        found = given[2]
        assert isinstance(found, FetchedOnce)
        found.links_in, found.links_out = Counted(kept), Counted(kept)
        original(visitor, *given)  # type: ignore[arg-type]

    monkeypatch.setattr(SingleFetcher, "_page", weighed)
    with Site() as site:
        site.pages["/"] = page(many_links("/") + many_links("https://b.example/"))
        home = site.url()
        found = visit(Snapshot(1, (PointSettings(id=1, url=home, root=home, depth=9),), ()), {}, home, 60)
    assert (found.count_in, found.count_out) == (LINKS, LINKS), found.verdict
    assert len(found.links_in) == len(found.links_out) == LINKS_SHOWN == max(kept)


class Counted(list):  # type: ignore[type-arg]
    """A list that says how long it was at the most."""

    def __init__(self, told: list[int]) -> None:
        super().__init__()
        self._told = told

    def append(self, one: object) -> None:
        super().append(one)
        self._told.append(len(self))


def test_what_was_freed_is_given_back() -> None:
    done = subprocess.run(
        [sys.executable, "-c", _GIVEN_BACK], capture_output=True, text=True, check=True, env=_environment()
    )
    freed, given_back = map(float, done.stdout.split())
    assert given_back < max(freed / 2, 5), (freed, given_back)
