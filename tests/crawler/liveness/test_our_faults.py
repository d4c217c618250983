"""Faults of ours: that of a page costs the page, that of a document costs the document, and the run ends anyway."""

import re
from collections.abc import Callable
from typing import Any

import pytest
from django.db import connections

from crawler.engine import dispatch, loop, page_outcome, storage, web_strand
from crawler.engine.finishing import finish_batch
from crawler.engine.finishing.backlink_counts import Derivation
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.extract import parser_messages
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.liveness import fault_counts
from crawler.models import Event, Excursion, Instance, LedgerEntry, PageVersion, Run, State
from crawler.policy.frontier import Frontier
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]


# -- of a page --------------------------------------------------------------------------------------------------


@proves("rule 18")
def test_an_address_that_is_too_long_with_its_append_text_is_skipped_and_takes_no_place(ledger: Ledger) -> None:
    with serve({"/?print=1": Page(["/" + "x" * 2020, "/a"]), "/a?print=1": Page()}) as site:
        run = crawl(make_document({"url": site.url("/"), "append": "?print=1", "max_pages": 2}))
        assert set(site.requests) == {"/robots.txt", "/?print=1", "/a?print=1"}
    assert ledger(run) == {"/": "crawled", "/a": "crawled", "/" + "x" * 2020: "too_long"}
    assert run.state == "finished" and faults(run) == []


@proves("I12")
def test_a_fault_before_the_request_costs_the_page_only(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    real = dispatch.wire_url

    def broken(address: Any, append: str) -> Any:
        if address.path == "/bad":
            raise ZeroDivisionError("of ours")
        return real(address, append)

    monkeypatch.setattr(dispatch, "wire_url", broken)
    with serve({"/": Page(["/bad", "/good"]), "/bad": Page(), "/good": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert ledger(run) == {"/": "crawled", "/bad": "error", "/good": "crawled"}
    assert run.state == "finished" and faults(run) == []
    assert "of ours" in Excursion.objects.get(run=run).error


@proves("rule 3")
def test_a_fault_after_the_verdict_leaves_the_verdict(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    """The links of a page are looked at when its verdict stands already: two of one address cannot be written."""
    real = Frontier.links

    def broken(self: Frontier, parent: bytes, arrivals: Any, urls: list[str], *rest: Any) -> None:
        real(self, parent, arrivals, urls, *rest)
        if any(url.endswith("/last") for url in urls):
            raise ZeroDivisionError("of ours")

    monkeypatch.setattr(Frontier, "links", broken)
    with serve({"/": Page(["/a"]), "/a": Page(["/last"]), "/last": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert ledger(run) == {"/": "crawled", "/a": "crawled", "/last": "crawled"}
    assert run.state == "finished" and faults(run) == []
    assert "of ours" in Excursion.objects.get(run=run).error and not Excursion.objects.get(run=run).crashes


@proves("I12")
def test_a_fault_between_the_decision_and_its_verdict_is_the_verdict(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(Frontier, "redirect", broken)
    with serve({"/": Page(["/r", "/a"]), "/r": Page(status=302, location="/t"), "/a": Page()}) as site:
        run = crawl(make_document({"url": site.url("/"), "max_pages": 9}))
    assert ledger(run) == {"/": "crawled", "/a": "crawled", "/r": "error"}
    assert run.state == "finished" and faults(run) == []


@proves("rule 3")
def test_a_fault_while_a_page_is_stored_leaves_nothing_of_it(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    real = page_outcome.OutcomeReader.conclude

    def broken(self: Any, queue: Any, item: Any, verdict: storage.Verdict, *rest: Any) -> Any:
        if verdict.version_id and verdict.url.endswith("/bad"):
            raise ZeroDivisionError("of ours")
        return real(self, queue, item, verdict, *rest)

    monkeypatch.setattr(page_outcome.OutcomeReader, "conclude", broken)
    with serve({"/": Page(["/bad"]), "/bad": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert ledger(run) == {"/": "crawled", "/bad": "error"}
    assert PageVersion.objects.count() == 1 and faults(run) == []


@proves("A18")
def test_a_parser_that_answers_nonsense_is_replaced(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    real, answers = parser_messages.parsed, []

    def nonsense(text: memoryview, data: memoryview) -> Any:
        page = real(text, data)
        if page.title == "/bad" and len(answers) < 3:
            answers.append(page)
            raise ValueError("not the answer of a parser")
        return page

    monkeypatch.setattr(parser_messages, "parsed", nonsense)
    with serve({"/": Page(["/bad", "/good"]), "/bad": Page(), "/good": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}))
    assert ledger(run) == {"/": "crawled", "/bad": "quarantined", "/good": "crawled"}
    assert run.state == "finished" and faults(run) == []


# -- of a document ----------------------------------------------------------------------------------------------


def bad_pages(monkeypatch: pytest.MonkeyPatch, word: str, fault: Callable[[], None]) -> None:
    """Whatever is written together with an address of this name cannot be written."""
    real = storage._write

    def broken(works: list[storage.PendingWrites]) -> Any:
        if any(verdict.url.endswith(word) for work in works for verdict in work.verdicts if verdict.version_id):
            fault()
        return real(works)

    monkeypatch.setattr(storage, "_write", broken)


def divides() -> None:
    raise ZeroDivisionError("of ours")


def asks_wrongly() -> None:
    with connections["webcrawl"].cursor() as cursor:
        cursor.execute("SELECT of_ours FROM run")


@proves("I5")
@pytest.mark.parametrize(
    ("fault", "named"),
    [(divides, "ZeroDivisionError: of ours"), (asks_wrongly, "Error: (no such column: |column .)of_ours")],
)
def test_a_document_that_meets_faults_of_ours_again_and_again_ends_failed_and_the_others_go_on(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch, fault: Callable[[], None], named: str
) -> None:
    bad_pages(monkeypatch, "/bad", fault)
    pages = {f"/{n}/": Page([f"/{n}/a", f"/{n}/b"]) for n in range(3)} | {"/1/": Page(["/1/a", "/1/bad", "/1/b"])}
    pages |= {f"/{n}/{name}": Page(delay=0.1) for n in range(3) for name in ("a", "b")} | {"/1/bad": Page()}
    with serve(pages) as site:
        documents = [make_document({"url": site.url(f"/{n}/")}) for n in range(3)]
        run = crawl(*documents)
        assert site.requests["/1/bad"] == fault_counts.MOST
    ends = {one.doc_id: one for one in Excursion.objects.filter(run=run)}
    assert [ends[document.pk].state for document in documents] == [State.FINISHED, State.FAILED, State.FINISHED]
    assert run.state == State.FAILED and run.finished_at and faults(run) == []
    failed = ends[documents[1].pk]
    assert re.search(named, failed.error) and "_write" in failed.error
    assert failed.crashes == fault_counts.MOST and failed.queued == 0 and ledger(run)["/1/bad"] == "error"
    assert Event.objects.filter(run=run, kind="fault").count() == fault_counts.MOST
    assert not Instance.objects.filter(alive=True).exists()


def test_a_fault_that_passes_costs_no_document(ledger: Ledger, monkeypatch: pytest.MonkeyPatch) -> None:
    real, came = storage._write, []

    def once(works: list[storage.PendingWrites]) -> Any:
        if not came and any(work.verdicts for work in works):
            came.append(1)
            raise ZeroDivisionError("of ours")
        return real(works)

    monkeypatch.setattr(storage, "_write", once)
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        run = crawl(make_document({"url": site.url("/")}), make_document({"url": site.url("/")}))
    assert came and run.state == "finished" and faults(run) == []
    assert set(Excursion.objects.filter(run=run).values_list("crawled", "state")) == {(2, "finished")}


@proves("I5")
def test_a_document_whose_queue_cannot_be_read_or_whose_links_cannot_be_counted_ends_failed(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    monkeypatch.setattr(finish_batch, "MOST", 0)
    real = Derivation.steps

    def broken(self: Derivation) -> Any:
        if self.excursion.title == "Uncounted":
            raise ZeroDivisionError("of ours")
        return real(self)

    class Queue(web_strand.LocalQueue):
        def __init__(self, excursion: Excursion, *rest: Any) -> None:
            if excursion.title == "Unread":
                raise ZeroDivisionError("of ours")
            super().__init__(excursion, *rest)

    monkeypatch.setattr(Derivation, "steps", broken)
    monkeypatch.setattr(web_strand, "LocalQueue", Queue)
    with serve({"/": Page(["/a"]), "/a": Page()}) as site:
        run = crawl(*(make_document({"url": site.url("/")}, title=name) for name in ("Good", "Unread", "Uncounted")))
    ends = Excursion.objects.filter(run=run).order_by("doc_id").values_list("title", "state", "crawled")
    assert list(ends) == [("Good", "finished", 2), ("Unread", "failed", 0), ("Uncounted", "failed", 2)]
    assert faults(run) == []


def test_a_fault_that_is_no_documents_ends_the_process(monkeypatch: pytest.MonkeyPatch) -> None:
    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test", speed="fast"))
    initialize(run)
    one = InstanceLoop(run)

    def broken(*_: object) -> None:
        raise ZeroDivisionError("of ours")

    monkeypatch.setattr(loop, "orders", broken)
    with pytest.raises(ZeroDivisionError):
        one.work()
    assert not LedgerEntry.objects.exists() and Excursion.objects.get(run=run).crashes == 0
