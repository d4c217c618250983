"""What a run advises and what a propagation would do are one answer, also after crawls that were broken off."""

from datetime import timedelta
from html import unescape
from typing import Any

import pytest
from django.db import connections
from django.test.utils import CaptureQueriesContext
from django.urls import reverse

from crawler.findings.decisions import decide
from crawler.findings.diagnosis import diagnose_due
from crawler.models import Advice, Diagnosis, Excursion, Finding, Forecast, LedgerEntry, Propagation
from crawler.propagation import services
from crawler.propagation.forecast import outlook, work_out
from crawler.propagation.switching import rollback
from crawler.runs.crawl_changes import changes_of
from crawler.runs.run_advice import advised
from crawler.values import Snapshot
from crawlpoints.models import ExcludeUrl

from .world import ROOT, World, add_document, propagate

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
WHOLE, STOPPED, LEFT = 526, 5, 188
PAGES = {f"{'keep' if number < LEFT else 'old' if number % 2 else 'print'}/{number}": "text" for number in range(WHOLE)}
KEPT = {path: text for path, text in PAGES.items() if path.startswith("keep/")}
EXCLUDED = {path: ("skipped", "excluded", 0) for path in PAGES if path not in KEPT}


def crawled(world: World, document: Any, pages: dict[str, str], **more: Any) -> Excursion:
    """A crawl with its counters, looked through."""
    one = world.run(document, pages, **more)
    rows = LedgerEntry.objects.filter(excursion=one)
    one.crawled, one.unchanged = rows.filter(outcome="crawled").count(), rows.filter(outcome="unchanged").count()
    rows.update(size=600)
    one.snapshot = Snapshot(document.pk, (), ()).to_json()
    one.save()
    diagnose_due()
    return one


def advice(one: Excursion) -> dict[str, int]:
    return advised(one.run, None).counts


def losses() -> list[tuple[int, int]]:
    return [(row["removed"], row["live"]) for row in services.preview().losses]


def text_of(browser: Any, name: str, *arguments: Any) -> str:
    return unescape(browser.get(reverse(name, args=arguments)).content.decode())


def test_after_a_stopped_run_and_new_excludes_the_next_run_says_what_its_propagation_removes(
    signed_in, administrator
) -> None:
    world, document = World(), add_document()
    first = crawled(world, document, PAGES)
    propagate()
    crawled(world, document, dict(list(PAGES.items())[:STOPPED]), state="stopped")
    for folder in ("old", "print"):
        ExcludeUrl.objects.create(document=document, pattern=f"{ROOT}{folder}/*")
    run = crawled(world, document, KEPT, also=EXCLUDED)
    assert changes_of(run).counts() == {"new": 0, "changed": 0, "unchanged": LEFT, "moved": 0, "gone": WHOLE - LEFT}
    drop = Finding.objects.get(excursion=run, rule="drop")
    assert f"than in run {first.run_id}: {LEFT} instead of {WHOLE}" in drop.sentence
    # One more crawl like it has nothing to say for itself, and would still take 64 % away.
    again = crawled(world, document, KEPT, also=EXCLUDED)
    assert Diagnosis.objects.get(excursion=again).advice == Advice.PROPAGATE
    assert not Finding.objects.filter(excursion=again, rule="drop").exists()
    assert losses() == [(WHOLE - LEFT, WHOLE)]
    assert advice(again) == advice(run) == {Advice.REVIEW: 1}
    browser = signed_in(administrator)
    page = text_of(browser, "run", again.run_id)
    assert f"would remove {WHOLE - LEFT} of {WHOLE} pages of {document.title} (64%)" in page
    assert "Review" in page and ">Propagate<" not in page
    assert "Nothing speaks against" not in text_of(browser, "run-findings", again.run_id)
    assert f"loses {WHOLE - LEFT} of {WHOLE} pages" in text_of(browser, "propagation-new")
    row = services.ask(by="tester")
    assert services.losses_of(services.carry_out(row.pk))[0]["removed"] == WHOLE - LEFT
    ExcludeUrl.objects.all().delete()
    assert advice(again) == {Advice.REVIEW: 1}, "two crawls without them: they leave"
    propagate(accepted_losses=[document.pk])
    assert advice(again) == {Advice.PROPAGATE: 1} and losses() == []


def test_a_loss_that_was_accepted_needs_no_review_any_more(signed_in, administrator) -> None:
    world, document = World(), add_document()
    crawled(world, document, PAGES)
    propagate()
    ExcludeUrl.objects.create(document=document, pattern=f"{ROOT}old/*")
    ExcludeUrl.objects.create(document=document, pattern=f"{ROOT}print/*")
    run, browser = crawled(world, document, KEPT, also=EXCLUDED), signed_in(administrator)
    assert advice(run) == {Advice.REVIEW: 1} and Diagnosis.objects.get(excursion=run).advice == Advice.REVIEW
    row = services.ask(accepted_losses=[document.pk], by="anna")
    drop = Finding.objects.get(excursion=run, rule="drop")
    note = f"Accepted with propagation {row.pk}"
    assert (drop.state, drop.decided_by, drop.note) == (Finding.State.ACCEPTED, "anna", note)
    assert advice(run) == {Advice.PROPAGATE: 1}, "it is at work"
    page = text_of(browser, "run", run.run_id)
    assert f"Propagation {row.pk} is running. anna accepted the pages it removes" in page
    assert "It asks before" not in page
    services.carry_out(row.pk)
    assert advice(run) == {Advice.PROPAGATE: 1} and "is running. " not in text_of(browser, "run", run.run_id)


def test_what_ended_after_a_loss_was_accepted_is_asked_about_again() -> None:
    world, document = World(), add_document()
    crawled(world, document, PAGES)
    propagate()
    ExcludeUrl.objects.create(document=document, pattern=f"{ROOT}old/*")
    run = crawled(world, document, {path: text for path, text in PAGES.items() if "old" not in path})
    row = services.ask(accepted_losses=[document.pk], by="anna")
    assert advice(run) == {Advice.PROPAGATE: 1}
    Propagation.objects.filter(pk=row.pk).update(created_at=run.run.finished_at - timedelta(seconds=1))
    assert advice(run) == {Advice.REVIEW: 1}


def test_findings_that_somebody_decided_about_need_no_review_any_more() -> None:
    run = crawled(World(), add_document(), {"": "start"})
    values = {"excursion": run, "run_id": run.run_id, "doc_id": run.doc_id, "weight": 2, "sentence": "Odd."}
    first, second = (Finding.objects.create(rule=rule, **values) for rule in ("trap", "throttled"))
    Diagnosis.objects.filter(excursion=run).update(advice=Advice.REVIEW)
    decide(first, Finding.State.ACCEPTED, "anna")
    assert advice(run) == {Advice.REVIEW: 1}
    decide(second, Finding.State.SOLVED, "anna")
    assert advice(run) == {Advice.PROPAGATE: 1}
    decide(second, Finding.State.OPEN, "anna")
    assert advice(run) == {Advice.REVIEW: 1}


def test_what_is_known_is_read_and_nothing_is_worked_out_again_after_a_propagation() -> None:
    world, documents = World(), [add_document(f"Document {number}") for number in range(3)]
    crawls = [crawled(world, one, {"": "start", f"{one.pk}.html": "text"}) for one in documents]
    doc_ids = [one.pk for one in documents]
    assert outlook(doc_ids).unknown == set(doc_ids)
    assert advised(crawls[0].run, None).counts == {Advice.PROPAGATE: 1}, "a few pages are compared at once"
    assert not Forecast.objects.exists(), "who only looks writes nothing"
    assert work_out(60) and not outlook(doc_ids).unknown
    propagate()
    with CaptureQueriesContext(connections["webcrawl"]) as asked:
        found = outlook(doc_ids)
    assert not found.unknown and not found.asking
    assert not [query for query in asked if "ledger" in query["sql"] or "page_version" in query["sql"]]
    assert {one.live for outcomes in found.targets.values() for one in outcomes.values()} == {2}
    add_document("Another one")
    assert not outlook(doc_ids).unknown, "others do not matter"
    ExcludeUrl.objects.create(document=documents[0], pattern=f"{ROOT}*.html")
    assert outlook(doc_ids).unknown == {doc_ids[0]}
    assert not work_out(-1), "no time for it"
    assert work_out(60) and list(outlook(doc_ids).asking) == [doc_ids[0]]


def test_a_roll_back_and_a_crawl_change_what_is_to_be_done() -> None:
    world, document = World(), add_document()
    for text in ("one", "two"):
        crawled(world, document, {"": text})
        propagate()
    assert {one.changed for outcomes in outlook([document.pk]).targets.values() for one in outcomes.values()} == {0}
    rollback.roll_back(by="tester")
    assert outlook([document.pk]).unknown == {document.pk}
    found = outlook([document.pk], at_once=100)
    assert {one.changed for outcomes in found.targets.values() for one in outcomes.values()} == {1}
    preview = services.preview()
    assert {total["changed"] for total in preview.targets.values()} == {1}


def test_the_plan_tells_pages_with_other_content_from_those_others_link_to_in_other_words(
    signed_in, administrator
) -> None:
    world, document = World(), add_document()
    crawled(world, document, {"": "start", "a.html": "alpha"}, links={"": [("a.html", "Zebra"), ("a.html", "Apple")]})
    propagate()
    crawled(world, document, {"": "start again", "a.html": "alpha"}, links={"": [("a.html", "Apple")]})
    for _ in ("as it is worked out", "as it was written down"):
        page = text_of(signed_in(administrator), "propagation-new")
        assert '<span class="sub">1 by links</span>' in page and "By links: the page says the same as before" in page
        assert services.preview().targets["primary"]["changed"] == 2
        assert work_out(60)
    row = propagate()
    assert "1 by links" in text_of(signed_in(administrator), "propagation-board", row.pk)
    assert not Forecast.objects.filter(relinked__gt=0).exists(), "it is published"


def test_of_documents_that_are_not_known_yet_nothing_good_is_said(signed_in, administrator, monkeypatch) -> None:
    monkeypatch.setattr("crawler.runs.run_advice.AT_ONCE", 0)
    document = add_document()
    run = crawled(World(), document, {"": "start"})
    page = text_of(signed_in(administrator), "run", run.run_id)
    assert "is still being calculated" in page and ">Propagate<" not in page
    assert work_out(60)
    page = text_of(signed_in(administrator), "run", run.run_id)
    assert "is still being calculated" not in page and "Propagate" in page
