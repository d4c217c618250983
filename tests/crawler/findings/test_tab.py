"""Findings of a run: written once, shown, decided about, repaired by one press."""

from collections.abc import Callable
from dataclasses import replace
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone
from lxml import html

from clearinghouse.audit.models import Entry
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawler.findings.diagnosis import diagnose, diagnose_due
from crawler.findings.finding_links import of_document
from crawler.launching import control
from crawler.models import (
    Diagnosis,
    ErrorGroup,
    ExcludeHit,
    Excursion,
    Finding,
    FolderFigure,
    HostFigure,
    LedgerEntry,
    PageVersion,
    Run,
)
from crawler.propagation.forecast import work_out
from crawler.values import Snapshot
from crawlpoints import services
from crawlpoints.models import CrawlPoint, ExcludeUrl
from tests.crawler.runs.rows import Maker, fill, make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture
def point(document: Document) -> CrawlPoint:
    values = {"url": "https://quality.example.gov/measures/", "root": "https://quality.example.gov/measures/"}
    return services.add_crawl_point(document, values | {"depth": 2, "max_pages": 5})[0]


@pytest.fixture
def run(document: Document, point: CrawlPoint) -> Run:
    """Stopped at the maximum of five pages, with 20 addresses waiting."""
    now = timezone.now()
    run = Run.objects.create(
        state="finished_at_limit", requested_by="administrator", created_at=now, started_at=now, finished_at=now,
        initialized=True,
    )  # fmt: skip
    maker = Maker(run, document, "measures")
    maker.point = replace(maker.point, id=point.pk, max_pages=5)
    maker.excursion.snapshot = Snapshot(document.pk, (maker.point,)).to_json()
    for number in range(20):
        maker.decide(f"{point.root}late-{number}.html", "skipped", "page_limit", depth=2)
    fill(maker, queued=0)
    maker.done("finished_at_limit")
    diagnose_due()
    return run


def finding(run: Run, rule: str = "page_limit") -> Finding:
    return Finding.objects.get(run_id=run.pk, rule=rule)


@pytest.mark.parametrize("order", [control.stop, control.cancel])
def test_of_a_run_that_a_person_ended_nothing_is_advised_and_its_page_says_who_did_it(
    signed_in: SignedIn, administrator: Any, document: Document, order: Callable[[Run, str], None]
) -> None:
    run = make_run(document, state="running", queued=0)
    order(run, "anna")
    state = {control.stop: "stopped", control.cancel: "cancelled"}[order]
    Excursion.objects.filter(run=run).update(state=state, unfinished=False, finished_at=timezone.now())
    Run.objects.filter(pk=run.pk).update(state=state, finished_at=timezone.now())
    diagnose_due()
    browser = signed_in(administrator)
    for advice in ("", "again"):  # as diagnoses of before say it
        Diagnosis.objects.filter(run_id=run.pk).update(advice=advice)
        page = html.fromstring(browser.get(f"/crawls/{run.pk}/findings/").content).text_content()
        assert f"{state.capitalize()} by anna today at" in page and "had finished before" not in page
        assert "Recommendation" not in page and "Crawl again" not in page and "Repair what" not in page
        assert browser.get(f"/api/v1/runs/{run.pk}/counts/").json()["recommendation"] == {}


def test_no_number_is_given_while_findings_are_still_looked_for(
    signed_in: SignedIn, administrator: Any, document: Document, other_document: Document, run: Run
) -> None:
    """A run over two documents, of which one was looked through: page, tab, list and API say so, then the number."""
    fill(Maker(run, other_document, "indicators"), queued=0)
    first, second = run.excursions.order_by("pk")
    browser = signed_in(administrator)

    def shown(path: str) -> tuple[str, str]:
        """The badge of the tab, and the page."""
        page = html.fromstring(browser.get(path).content)
        badge = page.xpath("//nav[@class='tabs']//a[contains(.,'Findings')]/span")[0].text_content()
        return badge, page.text_content()

    diagnose(first.pk)
    for path in ("", "findings/", "log/"):
        badge, text = shown(f"/crawls/{run.pk}/{path}")
        assert badge == "still looking" and "Still looking for findings" in text, path
        assert "Recommendation" not in text and "attention." not in text
    listed = html.fromstring(browser.get(f"/crawls/{run.pk}/findings/").content)
    assert "Findings so far" in listed.text_content() and not listed.xpath("//ul[@aria-label='State']//b")
    assert "(1 document)" not in listed.text_content() and not listed.xpath("//*[contains(@class,'pager')]")
    assert "Still looking for findings: 1 document of this run is not checked yet" in listed.text_content()
    counts = f"/api/v1/runs/{run.pk}/counts/"
    assert browser.get(counts).json()["still_looking"] == 1
    diagnose(second.pk)
    badge, text = shown(f"/crawls/{run.pk}/")
    assert badge == str(Finding.objects.filter(run_id=run.pk).count()) and "needs attention" in text
    assert "Recommendation" in text and "Still looking" not in text and browser.get(counts).json()["still_looking"] == 0


def test_looking_twice_writes_once(run: Run) -> None:
    def rows() -> list[int]:
        return [model.objects.count() for model in (Diagnosis, Finding, HostFigure, ErrorGroup, ExcludeHit)]

    before = rows()
    assert all(before), before
    assert diagnose_due() == 0 and diagnose(run.excursions.get().pk) is False
    assert rows() == before


@pytest.mark.parametrize("ignoring", [True, False], ids=["SQLite", "SQL Server"])
def test_a_look_that_was_killed_is_taken_up_on_every_server(
    run: Run, monkeypatch: pytest.MonkeyPatch, ignoring: bool
) -> None:
    """SQL Server has no INSERT that leaves out the rows that are there."""
    monkeypatch.setattr(connections["webcrawl"].features, "supports_ignore_conflicts", ignoring)
    whole = set(FolderFigure.objects.values_list("key", "whole", "left"))
    FolderFigure.objects.order_by("id").last().delete()
    for model in (Diagnosis, Finding, HostFigure, ErrorGroup, ExcludeHit):
        model.objects.all().delete()
    assert diagnose_due() == 1
    assert set(FolderFigure.objects.values_list("key", "whole", "left")) == whole and len(whole) >= 2


def test_an_open_excursion_is_not_looked_through(document: Document) -> None:
    make_run(document)
    assert diagnose_due() == 0 and not Diagnosis.objects.exists()


def test_pages_confirmed_without_a_body_are_not_a_tiny_result(document: Document) -> None:
    run = make_run(document, state="finished", queued=0)
    for entry in LedgerEntry.objects.filter(excursion__run=run, version_id__isnull=False):
        PageVersion.objects.filter(pk=entry.version_id).update(size=400)
    LedgerEntry.objects.filter(excursion__run=run, version_id__isnull=False).update(outcome="unchanged", size=0)
    diagnose_due()
    assert not Finding.objects.filter(rule="tiny").exists()


def test_a_cancelled_excursion_has_no_findings(document: Document) -> None:
    make_run(document, state="cancelled", queued=0).excursions.update(state="cancelled")
    assert diagnose_due() == 1 and not Finding.objects.exists()


def test_the_tab_works_for_who_may_see_the_run(signed_in: SignedIn, editor: Any, reader: Any, run: Run) -> None:
    for person in (editor, reader):
        page = signed_in(person).get(f"/crawls/{run.pk}/findings/").content.decode()
        assert "Stopped at the limit of 5 pages" in page and "<strong>Review" in page
    assert "Set limit to 100" in signed_in(editor).get(f"/crawls/{run.pk}/findings/").content.decode()
    assert "Set limit to 100" not in signed_in(reader).get(f"/crawls/{run.pk}/findings/").content.decode()


def test_the_tab_needs_sign_in(client: Client, run: Run) -> None:
    assert client.get(f"/crawls/{run.pk}/findings/").status_code == 302
    assert client.post(f"/findings/{finding(run).pk}/decide/", {"state": "accepted"}).status_code == 302


def test_nothing_exists_for_a_stranger(signed_in: SignedIn, stranger: Any, run: Run) -> None:
    browser, one = signed_in(stranger), finding(run)
    assert browser.get(f"/crawls/{run.pk}/findings/").status_code == 404
    assert browser.post(f"/crawls/{run.pk}/findings/derive/").status_code == 404
    for command in ("decide", "fix"):
        assert browser.post(f"/findings/{one.pk}/{command}/", {"state": "accepted", "number": "0"}).status_code == 404


def test_a_reader_may_not_decide(signed_in: SignedIn, reader: Any, run: Run, point: CrawlPoint) -> None:
    browser, one = signed_in(reader), finding(run)
    for command in ("decide", "fix"):
        assert browser.post(f"/findings/{one.pk}/{command}/", {"state": "accepted", "number": "0"}).status_code == 403
    point.refresh_from_db()
    assert finding(run).state == "open" and point.max_pages == 5


def test_looking_changes_nothing(signed_in: SignedIn, editor: Any, document: Document) -> None:
    run = make_run(document, state="finished", queued=0)
    browser = signed_in(editor)
    assert "Check now" in browser.get(f"/crawls/{run.pk}/findings/").content.decode()
    assert not Diagnosis.objects.exists()
    assert browser.get(f"/crawls/{run.pk}/findings/derive/").status_code == 405
    browser.post(f"/crawls/{run.pk}/findings/derive/")
    assert Diagnosis.objects.count() == 1


def test_one_press_repairs_the_crawl_point(signed_in: SignedIn, editor: Any, run: Run, point: CrawlPoint) -> None:
    answer = signed_in(editor).post(f"/findings/{finding(run).pk}/fix/", {"number": "0"}, follow=True)
    point.refresh_from_db()
    assert point.max_pages == 100
    assert "Changed maximum pages (100)" in answer.content.decode()
    solved = finding(run)
    assert (solved.state, solved.decided_by) == ("solved", "editor")
    sentences = list(Entry.objects.filter(actor="editor").values_list("sentence", flat=True))
    assert any("solved" in one for one in sentences) and any("Changed crawl point" in one for one in sentences)


@pytest.mark.parametrize("pressed_on", ["/crawls/{run}/findings/", "/documents/{doc}/crawl-points/"])
def test_a_repair_is_taken_back_where_it_was_pressed(
    signed_in: SignedIn, editor: Any, run: Run, point: CrawlPoint, document: Document, pressed_on: str
) -> None:
    browser, here = signed_in(editor), pressed_on.format(run=run.pk, doc=document.pk)
    answer = browser.post(f"/findings/{finding(run).pk}/fix/", {"number": "0", "next": here}, follow=True)
    assert answer.request["PATH_INFO"] == here and "Changed maximum pages (100)" in answer.content.decode()
    offer = answer.context["undo"]
    answer = browser.post(offer["url"], {"next": offer["next"]}, follow=True)
    assert answer.request["PATH_INFO"] == here and "taken back" in answer.content.decode()
    point.refresh_from_db()
    assert point.max_pages == 5 and finding(run).state == "open"
    assert "nothing to undo any more" in browser.post(offer["url"], follow=True).content.decode()


def test_a_repair_of_a_deleted_crawl_point_says_so(
    signed_in: SignedIn, editor: Any, run: Run, point: CrawlPoint
) -> None:
    services.delete_crawl_point(point)
    answer = signed_in(editor).post(f"/findings/{finding(run).pk}/fix/", {"number": "0"}, follow=True)
    assert "was deleted meanwhile" in answer.content.decode() and finding(run).state == "open"
    signed_in(editor).post(f"/findings/{finding(run).pk}/fix/", {"number": "99"})
    assert finding(run).state == "open" and not ExcludeUrl.objects.exists()


def test_what_was_accepted_starts_accepted_the_next_time(
    signed_in: SignedIn, editor: Any, run: Run, document: Document
) -> None:
    robots = finding(run, "robots")
    signed_in(editor).post(f"/findings/{robots.pk}/decide/", {"state": "accepted", "note": "the owner wants it"})
    later = make_run(document, state="finished", queued=0)
    diagnose_due()
    again = finding(later, "robots")
    assert (again.state, again.note, again.decided_by) == ("accepted", "the owner wants it", "editor")


def test_the_chips_count_what_they_open(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    browser.post(f"/findings/{finding(run).pk}/decide/", {"state": "solved"})
    for state in ("", "needs", "open", "solved", "accepted"):
        page = browser.get(f"/crawls/{run.pk}/findings/?state={state}")
        assert len(page.context["findings"]) == {name: count for name, _, count in page.context["chips"]}[state]


def test_what_needs_attention_is_more_than_a_remark_everywhere(signed_in: SignedIn, editor: Any, run: Run) -> None:
    weights = list(Finding.objects.filter(run_id=run.pk, state="open").values_list("weight", flat=True))
    assert 1 in weights and 2 in weights
    number = sum(weight > 1 for weight in weights)
    said = f"{number} finding needs attention" if number == 1 else f"{number} findings need attention"
    page = html.fromstring(signed_in(editor).get(f"/crawls/{run.pk}/").content)
    assert said in " ".join(page.xpath("//*[@id='live-verdict']")[0].text_content().split())
    door = page.xpath("//*[@id='live-verdict']//a/@href")[0]
    assert len(signed_in(editor).get(door).context["findings"]) == number


def test_the_first_tab_shows_the_three_heaviest_with_their_repairs(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    page = browser.get(f"/crawls/{run.pk}/").content.decode()
    assert "Stopped at the limit of 5 pages" in page and "Set limit to 100" in page
    assert f'href="/crawls/{run.pk}/findings/">All findings' in page
    shown = browser.get(f"/crawls/{run.pk}/").context["findings"]
    assert 0 < len(shown) <= 3 and shown[0].finding.weight == 2
    one = finding(run)
    answer = browser.post(f"/findings/{one.pk}/decide/", {"state": "accepted", "next": f"/crawls/{run.pk}/"})
    assert answer["Location"] == f"/crawls/{run.pk}/"
    left = [row.finding.pk for row in browser.get(f"/crawls/{run.pk}/").context["findings"]]
    assert one.pk not in left


def test_every_tab_of_a_run_that_ended_carries_its_recommendation(
    signed_in: SignedIn, editor: Any, run: Run, document: Document
) -> None:
    browser = signed_in(editor)
    for tab in ("", "findings/", "pages/", "urls/", "hosts/", "errors/", "changes/", "tree/", "log/", "settings/"):
        page = html.fromstring(browser.get(f"/crawls/{run.pk}/{tab}").content)
        (head,) = page.xpath("//div[@class='title'][h1]")
        assert "Recommendation: Review" in " ".join(head.text_content().split()), tab
    run.excursions.update(unfinished=False)
    going_on = make_run(document)
    assert "Recommendation" not in browser.get(f"/crawls/{going_on.pk}/").content.decode()


def test_an_exact_status_opens_the_addresses_that_answered_it(signed_in: SignedIn, editor: Any, run: Run) -> None:
    browser = signed_in(editor)
    for status, number in ((404, 1), (403, 0), (4, 1)):
        for tab in ("errors", "urls"):
            answer = browser.get(f"/crawls/{run.pk}/{tab}/?status={status}")
            assert answer.context["page"].paginator.count == number, (tab, status)
            assert len(answer.context["page"].object_list) == number, (tab, status)
    assert "answered with 404." in browser.get(f"/crawls/{run.pk}/urls/?status=404").content.decode()


def test_the_panel_block_shows_the_open_findings_of_the_newest_crawl(run: Run, document: Document) -> None:
    rows = of_document(document.pk, may_edit=True)["findings"]
    assert {"page_limit", "robots"} <= {row.finding.rule for row in rows}
    assert all(row.finding.state == "open" for row in rows)


def test_more_documents_ask_no_more_queries(
    signed_in: SignedIn, administrator: Any, project: Any, document: Document
) -> None:
    make_run(document, state="finished", queued=0)  # the crawl before
    small = make_run(document, state="finished", queued=0)
    others = [library.add_document(f"Document {number}", project=project.name) for number in range(6)]
    large = make_run(document, *others, state="finished", queued=0)
    diagnose_due()
    assert work_out(60)
    browser = signed_in(administrator)

    def queries(run: Run) -> int:
        cache.clear()  # of the counts in the navigation
        one, other = (CaptureQueriesContext(connections[name]) for name in ("webcrawl", "default"))
        with one as crawl, other as own:
            assert browser.get(f"/crawls/{run.pk}/findings/").status_code == 200
        return len(crawl) + len(own)

    queries(small)
    assert queries(large) == queries(small) <= 38
