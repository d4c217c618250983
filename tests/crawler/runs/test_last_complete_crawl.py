"""Crawls that were stopped, cancelled or failed are no yardstick: the last complete one is."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from crawler.findings import queries as findings
from crawler.launching.document_filter import DocumentRow, in_view
from crawler.launching.launch_subset import ONLY_FAILED, SubsetChoice, narrowed
from crawler.ledger.address_status import whereabouts
from crawler.models import Diagnosis, Excursion, Finding, LedgerEntry, Run
from crawler.runs import report_queries
from crawler.runs.latest_crawls import last_crawls, trends
from crawler.values import Snapshot
from crawlpoints.documents.crawl_facts import failing_points, newest_of
from tests.crawler.conftest import crawl, make_document
from tests.crawler.runs.test_crawl_difference import changes
from tests.sites.graph import Page, Site, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
URL = "https://a.example.org/"


@pytest.fixture
def site():
    with serve({"/": Page(["/same", "/edit", "/gone"]), "/same": Page(), "/edit": Page(), "/gone": Page()}) as served:
        yield served


def ended(document: Any, state: str, **values: Any) -> Excursion:
    """A crawl as it stands when it is over."""
    at = timezone.now()
    run = Run.objects.create(state=state, requested_by="tester", created_at=at, finished_at=at)
    one = {"doc_id": document.pk, "title": document.title, "state": state, "unfinished": False, "finished_at": at}
    return Excursion.objects.create(run=run, **one | values)


def as_if(run: Run, state: str) -> None:
    """What it stored is there, and it did not come to its end."""
    Run.objects.filter(pk=run.pk).update(state=state)
    Excursion.objects.filter(run=run).update(state=state)


def test_what_changed_is_told_from_the_last_complete_crawl(site: Site) -> None:
    document = make_document({"url": site.url("/")})
    first = crawl(document)
    site.pages["/edit"], site.pages["/"] = Page(["/"]), Page(["/same", "/edit", "/late"])
    site.pages["/late"] = Page()
    as_if(crawl(document), "stopped")  # it has stored the page that changed, and the new one
    third = crawl(document)
    expected = {"new": {"/late"}, "changed": {"/", "/edit"}, "unchanged": {"/same"}, "gone": {"/gone"}}
    assert changes(third, site) == expected
    tallies = Excursion.objects.get(run=third).tallies
    assert (tallies["change"]["gone"], tallies["since"]) == (1, first.pk)


def test_after_stopped_crawls_only_everything_is_new(site: Site) -> None:
    document = make_document({"url": site.url("/")})
    as_if(crawl(document), "stopped")
    assert changes(crawl(document), site) == {"new": {"/", "/same", "/edit", "/gone"}}


@pytest.mark.parametrize("state", ["stopped", "cancelled", "failed"])
def test_the_last_crawl_of_a_document_is_the_last_complete_one(state: str) -> None:
    document = make_document({"url": URL})
    point = document.crawl_point_links.get().crawl_point_id
    tallies = {"point": {str(point): {"pages": 521, "errors": 3}}}
    whole = ended(document, "finished", crawled=500, unchanged=21, failed=3, tallies=tallies)
    short = ended(document, state, crawled=5, tallies={"point": {str(point): {"pages": 0, "errors": 1}}})
    last = last_crawls()[document.pk]
    assert (last.run_id, last.state, last.pages, last.errors) == (whole.run_id, "finished", 521, 3)
    assert (last.since, last.since_run, last.failed) == (state, short.run_id, state == "failed")
    assert trends([document.pk]) == {document.pk: [521]}
    assert [row["id"] for row in newest_of(document.pk)] == [whole.pk]
    assert failing_points() == set()


def test_a_document_without_a_complete_crawl_shows_what_is_known_and_a_cancelled_one_counts_nowhere() -> None:
    stopped, cancelled = make_document({"url": URL}), make_document({"url": URL}, title="Other")
    known = ended(stopped, "stopped", crawled=5)
    ended(cancelled, "cancelled", crawled=200)
    ended(stopped, "cancelled", crawled=200)
    assert {doc: last.run_id for doc, last in last_crawls().items()} == {stopped.pk: known.run_id}
    assert sum(pages for _, pages, _ in report_queries.pages_by_day(None, timezone.now() - timedelta(1))) == 5
    rows = [DocumentRow(1, "", "", "", "", True, 1, 1, last_crawls().get(one.pk)) for one in (stopped, cancelled)]
    assert [row.last is None for row in in_view(rows, "never")] == [True]


def test_findings_and_dead_links_are_those_of_the_last_complete_crawl() -> None:
    document = make_document({"url": URL})
    whole = ended(document, "finished", crawled=9, failed=1)
    LedgerEntry.objects.create(
        excursion=whole, doc_id=document.pk, url_key=b"1" * 32, url=URL + "dead", outcome="failed", reason="http_4xx",
        status=404, at=timezone.now(),
    )  # fmt: skip
    values = {"run_id": whole.run_id, "doc_id": document.pk, "weight": 2, "sentence": "Odd.", "subject": ""}
    accepted = Finding.objects.create(excursion=whole, rule="robots", state=Finding.State.ACCEPTED, **values)
    Finding.objects.create(excursion=whole, rule="trap", **values)
    looked = [whole, ended(document, "stopped", crawled=1), ended(document, "cancelled")]
    for one in looked:
        Diagnosis.objects.create(
            excursion=one, run_id=one.run_id, doc_id=document.pk, advice="review", at=timezone.now()
        )
    part = ended(document, "finished", part="point", crawled=1)
    assert [row.url for row in report_queries.dead_links(None)] == [URL + "dead"]
    again = ended(document, "finished", crawled=1)
    assert findings.before(again) == (whole.run_id, 9)
    assert findings.decided_before(again) == {("robots", ""): accepted}
    part.delete()
    again.delete()
    assert [row.rule for row in findings.newest_findings(document.pk)] == ["trap"]


def test_how_often_a_start_page_failed_and_what_is_fetched_again_looks_past_crawls_that_were_broken_off() -> None:
    document, key = make_document({"url": URL}), b"1" * 32
    outcomes = (("finished", "failed"), ("cancelled", "skipped"), ("finished", "failed"), ("stopped", "skipped"))
    crawls = [ended(document, state, failed=int(outcome == "failed")) for state, outcome in outcomes]
    for one, (_, outcome) in zip(crawls, outcomes, strict=True):
        row = {"excursion": one, "doc_id": document.pk, "url_key": key, "url": URL, "at": timezone.now()}
        LedgerEntry.objects.create(**row, outcome=outcome)
    last = crawls[2]
    assert findings.failing_runs(last, key) == 2
    snapshot = Snapshot(document.pk, (), ())
    assert narrowed({document.pk: snapshot}, SubsetChoice(only=ONLY_FAILED))[document.pk].again == last.pk
    crawled = whereabouts(document, snapshot, URL).crawl
    assert crawled is not None
    assert crawled.excursion == last
