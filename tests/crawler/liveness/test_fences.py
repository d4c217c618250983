"""The first statement of every transaction of an instance is the fence (design rule 3): the dead hold no lock, write
nothing, and cannot be overtaken between what they looked at and what they write.

Each way a transaction of an instance comes about is gone once, and every statement of it is written down.
"""

import re
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

import pytest
from django.db import connections

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.library.models import Document
from crawler import bulk_sql
from crawler.engine import loop, message_queue
from crawler.engine.finishing import finish_batch
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching import control
from crawler.launching.launch import LaunchRequest, launch
from crawler.liveness.instances import register
from crawler.models import Excursion, Run
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
ORDER = "UPDATE run SET control"  # a person's, which is given beside the instance, in a transaction of its own
FENCE = "UPDATE instance SET beat"
FAREWELL = "UPDATE instance SET alive"  # of the instance itself, or of one that is buried: a fence for all others
OUTBOX = "audit_outbox"  # lines of orders: nobody's results
PACE = {"host", "host_service"}  # slots of sites are nobody's results
RESULTS = ("page_body", "page_version", "page_head", "ledger", "crawled_pages", "message", "active_queue")
PAGES = 12


class Book:
    """The statements of the WebCrawl database: by transaction, and those outside of any."""

    def __init__(self) -> None:
        self.transactions: list[list[str]] = []
        self.alone: list[str] = []
        self._open: list[list[str]] = []

    def __call__(self, execute: Callable[..., Any], statement: str, params: Any, many: bool, context: Any) -> Any:
        words = " ".join(statement.replace('"', "").split())
        if words.startswith("SAVEPOINT"):  # the test itself is a transaction: its inner ones are savepoints
            self._open.append([])
            self.transactions.append(self._open[-1])
        elif words.startswith(("RELEASE", "ROLLBACK")):
            self._open.pop()
        elif self._open:
            self._open[-1].append(words)
        else:
            self.alone.append(words)
        return execute(statement, params, many, context)

    @property
    def unfenced(self) -> list[list[str]]:
        writing = [one for one in self.transactions if set(map(written, one)) - PACE - {"", OUTBOX}]
        of_people = [one for one in writing if any(words.startswith(ORDER) for words in one)]
        return [one[:3] for one in writing if one not in of_people and not one[0].startswith((FENCE, FAREWELL))]

    @property
    def results_alone(self) -> list[str]:
        return [words for words in self.alone if written(words) in RESULTS]


def written(words: str) -> str:
    """The table a statement writes; nothing for one that reads."""
    found = re.match(r"(?:INSERT (?:OR IGNORE )?INTO|UPDATE|DELETE FROM) (\w+)", words)
    return found[1] if found else ""


@contextmanager
def booked() -> Iterator[Book]:
    """Rows that PostgreSQL takes by COPY pass by Django's cursors: the INSERT they stand for is written down."""
    book, as_copy = Book(), bulk_sql.as_copy

    def copied(statement: str) -> str:
        book(lambda *_: None, statement, None, True, {})
        return as_copy(statement)

    with connections[WEBCRAWL].execute_wrapper(book), pytest.MonkeyPatch.context() as patch:
        patch.setattr(bulk_sql, "as_copy", copied)
        yield book


@pytest.fixture
def site() -> Iterator[Site]:
    chain = {f"/{n}": Page([f"/{n + 1}"] if n < PAGES - 1 else [], delay=0.05) for n in range(PAGES)}
    with serve(chain) as served:
        yield served


def document(site: Site) -> Document:
    return make_document({"url": site.url("/0"), "depth": PAGES})


def launched(site: Site) -> Run:
    run = launch(LaunchRequest([document(site).pk], by="test", speed="fast"))
    initialize(run)
    return run


def worked(run: Run, look: Callable[[InstanceLoop], None] = lambda _: None) -> Book:
    """Everything one instance did for a run."""
    worker = InstanceLoop(run)
    with booked() as book:
        worker.work(look)
    return book


def when_some_stand(order: Callable[[InstanceLoop], None]) -> Callable[[InstanceLoop], None]:
    """Give an order in the middle, once."""
    given: list[bool] = []

    def look(one: InstanceLoop) -> None:
        if not given and Excursion.objects.get(run=one.run).crawled >= 3:
            given.append(True)
            order(one)

    return look


def proved(book: Book, *telling: str) -> None:
    """Every transaction begins with the fence, and those this way is about were there."""
    assert book.unfenced == []
    assert book.results_alone == []
    for words in telling:
        assert any(words in statement for one in book.transactions for statement in one), f"there was no {words}"


@proves("rule 3")
def test_claiming_storing_and_ending_a_small_document(site: Site) -> None:
    proved(worked(launched(site)), "INSERT INTO active_queue", "INSERT INTO page_version", "DELETE FROM message")


@proves("rule 3")
def test_ending_a_large_document(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    """It is counted, its queue deleted and its excursion closed, each in transactions of their own."""
    monkeypatch.setattr(finish_batch, "MOST", 1)
    monkeypatch.setattr(message_queue, "_DELETED_AT_ONCE", 5)
    book = worked(launched(site))
    proved(book, "DELETE FROM message", "DELETE FROM active_queue", "UPDATE ledger SET backlinks")
    assert sum(any("DELETE FROM message" in words for words in one) for one in book.transactions) == 3


@proves("rule 3")
def test_a_document_that_was_crawled_before(site: Site) -> None:
    measures = document(site)
    crawl(measures)
    del site.pages[f"/{PAGES - 1}"]
    run = launch(LaunchRequest([measures.pk], by="test", speed="fast"))
    initialize(run)
    proved(worked(run), "UPDATE page_head SET updated_fl", "DELETE FROM active_queue")


def test_stopping(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.0)
    run = launched(site)
    book = worked(run, when_some_stand(lambda one: control.stop(Run.objects.get(pk=one.run.pk), "admin")))
    assert Excursion.objects.get(run=run).state == "stopped"
    proved(book, "DELETE FROM message", "DELETE FROM active_queue")


@proves("rule 3")
def test_cancelling(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.0)
    run = launched(site)
    book = worked(run, when_some_stand(lambda one: control.cancel(Run.objects.get(pk=one.run.pk), "admin")))
    assert Excursion.objects.get(run=run).state == "cancelled"
    proved(book, "DELETE FROM page_head", "DELETE FROM message")


@proves("rule 3")
def test_handing_a_queue_back(site: Site) -> None:
    run = launched(site)
    book = worked(run, when_some_stand(lambda one: one.ask_to_stop()))
    assert Excursion.objects.get(run=run).state == "waiting"
    proved(book, "DELETE FROM active_queue")


def test_pausing(site: Site, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(loop, "LOOK_SECONDS", 0.0)
    run = launched(site)
    book = worked(run, when_some_stand(lambda one: control.pause(Run.objects.get(pk=one.run.pk), "admin")))
    assert Excursion.objects.get(run=run).state == "paused"
    proved(book, "DELETE FROM active_queue")


def test_forgetting_what_was_claimed_before_the_database_was_away(site: Site) -> None:
    run = launched(site)
    owner = register(run.pk)
    message_queue.claim(owner, 9)
    with booked() as book:
        message_queue.release_all(owner)
    assert Excursion.objects.get(run=run).state == "interrupted"
    proved(book, "DELETE FROM active_queue")
