"""The order of a queue: the shortest way first, also when it is found after a longer one."""

from collections.abc import Iterator

import pytest

from crawler.engine import message_queue, storage
from crawler.engine.initializer import initialize
from crawler.engine.local_queue import IN_MEMORY, LocalQueue
from crawler.launching.launch import LaunchRequest, launch
from crawler.liveness.instances import register
from crawler.models import Excursion, Instance, Run
from crawler.policy.path import Way
from tests.crawler.conftest import make_document
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
SITE = "http://127.0.0.1:8123"


def served(run: Run) -> tuple[Instance, LocalQueue]:
    instance = register(run.pk)
    return instance, LocalQueue(message_queue.claim(instance, 1)[0])


@pytest.fixture
def queue() -> Iterator[tuple[Instance, LocalQueue]]:
    document = make_document({"url": f"{SITE}/", "root": f"{SITE}/", "depth": 99})
    run = launch(LaunchRequest([document.pk], by="test", speed="fast"))
    initialize(run)
    instance, queue = served(run)
    queue.fly(queue.take(queue.next_item(SITE)[1]))  # the start page is being read
    yield instance, queue


def found(queue: LocalQueue, depth: int, *paths: str) -> None:
    """A page at this depth was read; it links there."""
    parent = queue.frontier.judge(f"{SITE}/").key
    queue.frontier.links(parent, [Way(0, depth, 0, True)], [SITE + path for path in paths])
    queue.absorb()


def taken(queue: LocalQueue, count: int) -> list[str]:
    return [queue.take(queue.next_item(SITE)[1]).url.removeprefix(SITE) for _ in range(count)]


@proves("F13")
def test_a_waiting_address_found_by_a_shorter_way_moves_forward(queue: tuple[Instance, LocalQueue]) -> None:
    _, served_queue = queue
    found(served_queue, 4, "/far")
    found(served_queue, 2, "/middle", "/other")
    found(served_queue, 0, "/far")
    assert taken(served_queue, 3) == ["/far", "/middle", "/other"]


def test_an_address_that_left_memory_comes_back_when_it_is_found_nearer(queue: tuple[Instance, LocalQueue]) -> None:
    instance, served_queue = queue
    found(served_queue, 2, *(f"/{n}" for n in range(IN_MEMORY)))
    found(served_queue, 5, "/far", "/farther")
    assert not served_queue.low
    found(served_queue, 0, "/far")
    assert served_queue.low  # the database is to be asked before anything else starts
    storage.commit(instance, [served_queue.work])
    served_queue.refill()
    assert taken(served_queue, 2) == ["/far", "/0"]
    assert not served_queue.low


@proves("rule 2")
def test_every_address_is_taken_once_and_none_passes_a_nearer_one(queue: tuple[Instance, LocalQueue]) -> None:
    instance, served_queue = queue
    names = [f"/{n}" for n in range(3 * IN_MEMORY)]
    found(served_queue, 6, *names)
    order: list[str] = []
    for depth in (5, 4, 3, 2, 1):
        found(served_queue, depth, *names[depth::7])
        storage.commit(instance, [served_queue.work])
        served_queue.refill()
    while served_queue.low or served_queue.has(SITE):
        if served_queue.low:
            served_queue.refill()
        item = served_queue.take(served_queue.next_item(SITE)[1])
        order.append(item.url.removeprefix(SITE))
        served_queue.fly(item)
    assert sorted(order) == sorted(names)
    nearest = {name: 1 + min([6, *(d for d in (1, 2, 3, 4, 5) if name in names[d::7])]) for name in names}
    assert [nearest[name] for name in order] == sorted(nearest.values())
    assert Excursion.objects.get().unfinished
