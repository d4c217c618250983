"""What is done in short steps, in the order of keys, or in bounded memory, so that nobody waits for a crawl."""

import threading
import time
from collections.abc import Iterator
from typing import Any

import pytest
from django.db import OperationalError, connections
from django.test.utils import CaptureQueriesContext

from clearinghouse.database.digests import digest_of
from crawler import bulk_sql
from crawler.engine import loop, message_queue, storage
from crawler.engine.finishing import finish
from crawler.engine.finishing.backlink_counts import Derivation
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.engine.storage import NewVersion, VersionRow
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger import ledger_check
from crawler.liveness.instances import register
from crawler.models import Excursion, Instance, LedgerEntry, PageHead, Run, State
from crawler.policy.frontier import REMEMBERED
from crawler.runs import crawl_changes
from tests.crawler.conftest import crawl, make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])


@pytest.fixture
def crawled() -> Iterator[tuple[Run, Run]]:
    """Two crawls of a document of thirty pages, of which the second found ten new and the others changed."""
    names = [f"/{n}" for n in range(30)]
    with serve({"/": Page(names)} | {name: Page() for name in names[:20]}) as site:
        document = make_document({"url": site.url("/")})
        first = crawl(document)
        site.pages |= {name: Page(["/"]) for name in names}
        yield first, crawl(document)


@proves("A13")
def test_bytes_are_stored_in_the_order_of_their_digests() -> None:
    """Two instances with the same bytes in opposite order would wait for each other (fault A13)."""
    bodies = [b"one", b"two", b"three", b"four", b"five"]
    row = VersionRow(*[b"" if kind is bytes else kind() for kind in VersionRow.__annotations__.values()])
    batches = []
    for some in (bodies, bodies[::-1]):
        batches.append(bulk_sql.Batch())
        storage._bodies(batches[-1], [NewVersion(row, digest_of(body.decode()), body, False) for body in some])
    assert batches[0]._rows == batches[1]._rows
    (inserted,) = batches[0]._rows.values()
    assert len(inserted) == 5 and inserted == sorted(inserted)


@proves("I9")
def test_heads_are_put_back_many_with_one_statement(crawled: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(finish, "_HEADS", 12)
    first, second = crawled
    row = register(second.pk)
    steps = finish._put_back_heads(row, Excursion.objects.get(run=second))
    costs = []
    while True:
        with CaptureQueriesContext(connections["webcrawl"]) as queries:
            if next(steps, loop.DONE) is loop.DONE:
                break
        costs.append(len([query for query in queries if "SAVEPOINT" not in query["sql"]]))
    assert len(costs) == 3 and max(costs) <= 4  # look, fence, show again, show nothing
    shown = LedgerEntry.objects.filter(excursion__run=first, outcome="crawled").values_list("version_id", flat=True)
    assert set(PageHead.objects.values_list("version_id", flat=True)) == set(shown)


@proves("I9")
def test_comparing_with_the_crawl_before_lets_the_loop_do_other_things(
    crawled: tuple[Run, Run], monkeypatch: pytest.MonkeyPatch
) -> None:
    excursion = Excursion.objects.get(run=crawled[1])
    counted = excursion.tallies["change"]
    few = []
    for at_once in (5_000, 4):
        monkeypatch.setattr(crawl_changes, "_AT_ONCE", at_once)
        Excursion.objects.filter(pk=excursion.pk).update(derived_to=0, state=State.RUNNING, tallies={})
        again = Excursion.objects.get(pk=excursion.pk)
        few.append(len(list(Derivation(register(crawled[1].pk), again).steps())))
        assert Excursion.objects.get(pk=excursion.pk).tallies["change"] == counted
    assert few[1] - few[0] >= (31 + 21) // 4 - 2  # pages of both crawls


@proves("rule 13")
def test_what_is_remembered_of_links_is_bounded_over_all_queues_of_an_instance(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    with serve({"/": Page(delay=0.5)}) as site:
        documents = [make_document({"url": site.url("/")}).pk for _ in range(8)]
        run = launch(LaunchRequest(documents, by="test", speed="fast"))
        initialize(run)
        most: list[int] = []

        def look(one: InstanceLoop) -> None:
            if len(one.queues) == 8:
                most.append(sum(queue.frontier.remembered for queue in one.queues.values()))

        InstanceLoop(run).work(look)
    assert most and max(most) <= REMEMBERED


@proves("A6")
def test_who_waits_for_the_database_hears_that_it_is_to_stop(monkeypatch: pytest.MonkeyPatch) -> None:
    def away(*_: object) -> None:
        raise OperationalError("the database is away")

    run = launch(LaunchRequest([make_document({"url": "http://127.0.0.1:1/"}).pk], by="test", speed="fast"))
    initialize(run)
    one = InstanceLoop(run)
    monkeypatch.setattr(loop, "FIRST_WAIT", 30.0)
    monkeypatch.setattr(connections, "close_all", lambda: None)  # the test's transaction lives on one
    monkeypatch.setattr(message_queue, "release_all", away)
    monkeypatch.setattr(InstanceLoop, "_round", away)
    threading.Timer(0.3, one.ask_to_stop).start()
    began = time.monotonic()
    assert one._safe_round() is False
    assert time.monotonic() - began < 9.0
    one.strand.dispatch.close()
    assert Instance.objects.filter(pk=one.row.pk, alive=True).exists()


def test_what_a_used_up_maximum_leaves_waiting_is_judged_in_large_steps(django_assert_max_num_queries: Any) -> None:
    """Not message by message: of a run that knows a million addresses most may wait for a place that never comes."""
    with serve({"/": Page([f"/{n}" for n in range(2_500)])} | {f"/{n}": Page() for n in range(2_500)}) as site:
        document = make_document({"url": site.url("/"), "max_pages": 3})
        with django_assert_max_num_queries(400, using="webcrawl"):
            run = crawl(document)
    excursion = run.excursions.get()
    assert (run.state, excursion.found, excursion.queued) == ("finished_at_limit", 2_501, 0)
    assert (excursion.crawled, excursion.skipped, excursion.tallies["reason"]) == (3, 2_498, {"page_limit": 2_498})
    assert excursion.tallies["depth"] == {"0": [1, 0], "1": [2_500, 0]}
    assert sum(site.requests.values()) <= 4  # with robots.txt
    assert not ledger_check.faults(run)


def test_what_a_maximum_leaves_waiting_is_judged_to_the_end_though_it_was_interrupted(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    judge, calls = finish._judge_waiting, []

    def interrupted(*words: Any) -> bool:
        calls.append(words)
        if len(calls) == 3:
            raise OperationalError("the database is away")
        return judge(*words)

    monkeypatch.setattr(finish, "_STEP", 20)
    monkeypatch.setattr(finish, "_judge_waiting", interrupted)
    monkeypatch.setattr(loop, "FIRST_WAIT", 0.0)
    monkeypatch.setattr(connections, "close_all", lambda: None)  # the test's transaction lives on one
    with serve({"/": Page([f"/{n}" for n in range(90)])} | {f"/{n}": Page() for n in range(90)}) as site:
        run = crawl(make_document({"url": site.url("/"), "max_pages": 3}))
    assert len(calls) > 5
    assert run.excursions.get().tallies["reason"] == {"page_limit": 88}
    assert run.state == "finished_at_limit" and not ledger_check.faults(run)
