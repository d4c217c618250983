"""Queues that share a site take turns, and a queue is looked at when something happens to it."""

import pytest

from crawler.engine import loop, ready_queues
from crawler.engine.initializer import initialize
from crawler.engine.local_queue import LocalQueue
from crawler.engine.ready_queues import ReadyQueues
from crawler.launching.launch import LaunchRequest, launch
from crawler.models import Excursion
from crawler.sites.speeds import SPEEDS
from tests.crawler.conftest import crawl, make_document
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
PAGES = 12


def test_two_documents_on_one_site_take_turns(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(SPEEDS, "fast", (0.0, 1))  # one connection for both
    pages: dict[str, Page] = {}
    for root in "/a/", "/b/":
        pages[root] = Page([f"{root}{number}" for number in range(PAGES)])
        pages |= {f"{root}{number}": Page() for number in range(PAGES)}
    with serve(pages) as site:
        crawl(*(make_document({"url": site.url(root), "root": site.url(root)}, title=root) for root in ("/a/", "/b/")))
    asked = "".join(path[1] for path, _ in site.seen if path != "/robots.txt")
    assert asked.count("a") == asked.count("b") == PAGES + 1
    assert "aaaaa" not in asked and "bbbbb" not in asked, "one document waited while the other had the site"


def test_a_crawl_does_not_wait_for_the_look_at_all_queues(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready_queues, "ALL_SECONDS", 3600.0)
    monkeypatch.setattr(loop, "SLICE_SECONDS", 30.0)  # a queue that is forgotten shall not hold up the tests
    pages = {"/": Page(["/1"])} | {f"/{n}": Page([f"/{n + 1}"]) for n in range(1, 10)} | {"/10": Page()}
    with serve(pages) as site:
        run = crawl(make_document({"url": site.url("/")}, {"url": site.url("/5")}))
    assert (run.state, Excursion.objects.get(run=run).crawled) == ("finished", 11)


def test_a_new_queue_is_looked_at_also_on_a_machine_that_has_just_started(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(ready_queues, "ALL_SECONDS", 3600.0)
    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test"))
    initialize(run)
    queue = LocalQueue(Excursion.objects.get(run=run))
    all_queues = ReadyQueues({queue.excursion.pk: queue})
    assert all_queues.pick(now=5.0) == [queue], "five seconds after the clock began"
    assert all_queues.pick(now=6.0) == []
    all_queues.call_all()
    assert all_queues.pick(now=7.0) == [queue]
