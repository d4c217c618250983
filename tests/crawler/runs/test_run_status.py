"""The state words of runs and documents, as their pages and lists show them: made of rows, not of the word alone."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone
from lxml import html

from clearinghouse.database.digests import digest_of
from clearinghouse.library.models import Document
from clearinghouse.library.services import add_document
from crawler.engine.message_queue import claim
from crawler.launching import control, quiet_hours
from crawler.liveness.instances import declare_dead, register
from crawler.models import Event, Excursion, Hold, Host, HostService, Instance, Run
from crawler.runs.queries import excursions_of_document, latest_crawls
from tests.crawler.runs.rows import Maker, fill, make_run
from tests.crawler.runs.test_live import fragments, poll_address

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture
def browser(signed_in: SignedIn, administrator: Any) -> Client:
    return signed_in(administrator)


def words(page: bytes) -> list[str]:
    return [" ".join(one.text_content().split()) for one in html.fromstring(page).xpath("//*[contains(@class,'pill')]")]


def title(page: bytes) -> str:
    return str(html.fromstring(page).findtext(".//title"))


def test_an_interrupted_run_says_so_in_its_title_its_page_and_every_list(browser: Client, document: Document) -> None:
    run = make_run(document)
    instance = register(run.pk)
    Excursion.objects.filter(run=run).update(state="waiting")
    claim(instance, 9)
    Event.objects.create(run=run, at=timezone.now(), kind="interrupted", text="Process 1 died; …")
    address = poll_address(browser.get(f"/crawls/{run.pk}/").content)
    assert declare_dead(Instance.objects.get(pk=instance.pk))
    page = browser.get(f"/crawls/{run.pk}/").content
    assert "Interrupted, resuming (2nd time)" in words(page) and title(page).startswith("(!) ")
    assert b"icon-trouble.svg" in page and b"Interrupted; it continues by itself" in page
    for path in (f"/crawls/{run.pk}/pages/", "/crawls/", "/"):
        assert "Interrupted, resuming (2nd time)" in words(browser.get(path).content), path
    told = fragments(browser.get(address).content)
    assert told["live-say"].text_content() == "Interrupted"
    assert told["live-state"].text_content() == "Interrupted, resuming (2nd time)"
    claim(register(run.pk), 9)
    assert "Running" in words(browser.get(f"/crawls/{run.pk}/").content)


def test_a_run_that_ended_early_tells_everywhere_what_it_left(browser: Client, document: Document) -> None:
    run = make_run(document, state="stopped", queued=0, left=27)
    one = Excursion.objects.get(run=run)
    done = one.crawled + one.unchanged + one.redirected + one.failed
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/").content)
    assert page.xpath("//*[@id='live-meter']/b/text()") == [f"{100 * done // (done + 27)}%"]
    assert f"{done} of {done + 27}" in " ".join(page.xpath(f"//*[@id='e{one.pk}-prog']")[0].text_content().split())
    listed = html.fromstring(browser.get("/crawls/?tab=finished").content).xpath("//td[contains(@class,'prog')]")[0]
    assert " ".join(listed.text_content().split()) == f"{done} of {done + 27} 27 left"
    assert not listed.xpath(".//progress[contains(@class,'full')]")
    lists = [f"/documents/{document.pk}/", f"/documents/{document.pk}/runs/", "/crawls/?tab=finished",
             "/reports/activity/"]  # fmt: skip
    for path in lists:
        links = html.fromstring(browser.get(path).content).xpath("//a[contains(@href,'reason=run_stopped')]")
        assert [link.text_content() for link in links] == ["27"], path
        assert browser.get(links[0].get("href")).context["page"].paginator.count == 27
    assert browser.get(f"/crawls/{run.pk}/export/run.json").json()["left"] == 27
    assert browser.get(f"/api/v1/runs/{run.pk}/").json()["counts"]["left"] == 27
    assert browser.get(f"/api/v1/runs/{run.pk}/documents/").json()["items"][0]["left"] == 27
    finished = make_run(document, state="finished", queued=0)
    assert b" left<" not in browser.get(f"/crawls/{finished.pk}/").content


ORDER = ["running", "paused", "interrupted", "stopping", "failed", "waiting", "cancelled", "stopped",
         "finished_at_limit", "finished"]  # fmt: skip


def test_every_list_sorted_by_state_has_the_same_order(browser: Client) -> None:
    now = timezone.now()
    run = Run.objects.create(state="running", requested_by="administrator", created_at=now, started_at=now)
    for number, state in enumerate(sorted(ORDER) * 2):
        document = add_document(f"Document {number}")
        excursion = Excursion.objects.create(run=run, doc_id=document.pk, title=document.title, state=state)
        if state in ORDER[-3:]:
            Excursion.objects.filter(pk=excursion.pk).update(unfinished=False, finished_at=now)
        ended = None if ORDER.index(state) < 4 or state == "waiting" else now
        Run.objects.create(state=state, requested_by="administrator", created_at=now, finished_at=ended)
    order = [state for state in ORDER for _ in range(2)]
    for sort, expected in (("state", order), ("-state", order[::-1])):
        rows = browser.get(f"/crawls/{run.pk}/?sort={sort}&size=100").context["rows"]
        assert [row["excursion"].state for row in rows] == expected
        table = browser.get(f"/reports/activity/?sort={sort}&size=100").context
        states = ["running", *expected] if sort == "state" else [*expected, "running"]
        assert [cells[2][1].value for cells, _ in table["rows"]] == states
        table = browser.get(f"/reports/coverage/?sort={sort}&size=100").context
        assert [cells[3][1].state for cells, _ in table["rows"] if cells[3][1].state != "never"] == [
            state for state in expected if state in ORDER[-3:]
        ]


def test_pausing_until_the_last_document_rests(browser: Client, run: Run) -> None:
    address = poll_address(browser.get(f"/crawls/{run.pk}/").content)
    control.pause(run, "administrator")
    page = browser.get(f"/crawls/{run.pk}/").content
    assert words(page).count("Pausing") == 2, "the run, and the document that is being fetched"
    assert fragments(browser.get(address).content)["live-say"].text_content() == "Pausing"
    assert "Pausing" in words(browser.get("/crawls/").content)
    Excursion.objects.filter(run=run, state="running").update(state="paused")
    for path in (f"/crawls/{run.pk}/", f"/crawls/{run.pk}/log/", "/crawls/", "/"):
        assert "Paused (by administrator)" in words(browser.get(path).content), path


def test_a_run_is_starting_until_somebody_serves_it_and_resuming_later(browser: Client, document: Document) -> None:
    run = make_run(document)
    Excursion.objects.filter(run=run).update(state="waiting")
    assert "Resuming" in words(browser.get(f"/crawls/{run.pk}/").content)
    Excursion.objects.filter(run=run).update(crawled=0, unchanged=0, redirected=0, failed=0)
    assert "Starting" in words(browser.get(f"/crawls/{run.pk}/").content)
    assert "Starting" in words(browser.get("/crawls/").content)


def test_every_list_says_which_limit_was_met(browser: Client, document: Document) -> None:
    now = timezone.now()
    run = Run.objects.create(
        state="finished_at_limit", requested_by="administrator", created_at=now, started_at=now, finished_at=now
    )
    maker = Maker(run, document, "measures")
    maker.decide(f"{maker.root}late.html", "skipped", "page_limit")
    fill(maker, queued=0)
    maker.done("finished_at_limit")
    for path in (f"/crawls/{run.pk}/", f"/crawls/{run.pk}/pages/", "/crawls/?tab=finished", "/",
                 f"/documents/{document.pk}/runs/"):  # fmt: skip
        assert "Finished at limit (maximum pages)" in words(browser.get(path).content), path
    assert words(browser.get(f"/crawls/{run.pk}/").content).count("Finished at limit (maximum pages)") == 2
    assert latest_crawls([document.pk])[document.pk].word == excursions_of_document(document.pk)[0].word


def test_a_limit_that_only_documents_of_others_met_is_not_told(
    signed_in: SignedIn, editor: Any, document: Document, other_document: Document
) -> None:
    now = timezone.now()
    run = Run.objects.create(
        state="finished_at_limit", requested_by="administrator", created_at=now, started_at=now, finished_at=now
    )
    mine, theirs = Maker(run, document, "mine"), Maker(run, other_document, "theirs")
    theirs.decide(f"{theirs.root}late.html", "skipped", "page_limit")
    for maker, state in ((mine, "finished"), (theirs, "finished_at_limit")):
        fill(maker, queued=0)
        maker.done(state)
    browser = signed_in(editor)
    for path in (f"/crawls/{run.pk}/", f"/crawls/{run.pk}/pages/", "/crawls/?tab=finished"):
        page = browser.get(path).content
        assert "Finished" in words(page) and b"at limit" not in page and b"at a limit" not in page, path


def test_a_document_says_what_its_state_means(document: Document) -> None:
    one = make_run(document).excursions.get()
    said = {}
    for state in ("running", "paused", "interrupted", "stopping", "stopped", "cancelled", "failed",
                  "finished_at_limit"):  # fmt: skip
        one.state = state
        said[state] = one.word
    assert said == {
        "running": "", "paused": "", "interrupted": "Interrupted, resuming", "stopping": "Finishing",
        "stopped": "Stopped (kept)",
        "cancelled": "Cancelled (discarded)", "failed": "Failed (a fault of ours)", "finished_at_limit": "",
    }  # fmt: skip
    one.state, one.tallies = "stopping", {"reason": {"run_stopped": 3}}
    assert one.word == ""
    one.state, one.control = "running", "pause"
    assert one.word == "Pausing"
    one.state = "paused"
    assert one.word == "Paused (this document only)"


def test_documents_that_wait_say_how_many_are_taken_before_them(
    browser: Client, document: Document, second_document: Document, other_document: Document
) -> None:
    run = make_run(document, second_document, other_document)
    run.excursions.update(state="waiting", unfinished=True)
    assert words(browser.get(f"/crawls/{run.pk}/?sort=title").content)[1:] == [
        "Waiting, 2 before it", "Waiting", "Waiting, 1 before it",
    ]  # fmt: skip


def test_the_list_of_runs_says_what_holds_one_up_to_those_who_see_all_of_it(
    browser: Client, signed_in: SignedIn, editor: Any, run: Run
) -> None:
    host = Host.objects.create(key=digest_of("https://slow.example.gov"), origin="https://slow.example.gov")
    HostService.objects.create(host=host, instance=register(run.pk), flying=1)
    Host.objects.update(failing_since=timezone.now().timestamp() - 90)
    for path in ("/crawls/", "/"):
        assert "Running slowly (slow.example.gov does not answer)" in words(browser.get(path).content)
    assert b"slow.example.gov" not in signed_in(editor).get("/crawls/").content


def test_a_run_launched_in_quiet_hours_waits_and_says_until_when(browser: Client, document: Document) -> None:
    now = timezone.now()
    run = Run.objects.create(state="waiting", requested_by="administrator", created_at=now)
    Excursion.objects.create(run=run, doc_id=document.pk, title=document.title)
    coming = timezone.localtime(now).weekday() * 24 + timezone.localtime(now).hour
    quiet_hours.set_hours("".join("1" if hour == coming else "0" for hour in range(quiet_hours.HOURS)), "administrator")
    quiet_hours.enforce(now)
    assert Hold.objects.filter(run=run).exists()
    assert str(run.pk) not in html.fromstring(browser.get("/crawls/").content).xpath("string(//table)")
    page = " ".join(html.fromstring(browser.get("/crawls/?tab=waiting").content).text_content().split())
    until = quiet_hours.silence(now)
    assert until and until.until and f"quiet hours until {timezone.localtime(until.until):%H:%M}" in page
    own = browser.get(f"/crawls/{run.pk}/").content
    assert b"held by quiet hours until" in own and b"Waiting until crawls may run again: 1 document" in own


@pytest.mark.parametrize(
    ("state", "words"), [("finished", "finished on"), ("finished_at_limit", "finished on"), ("failed", "failed on"),
                         ("cancelled", "was cancelled on"), ("stopped", "was stopped on")],
)  # fmt: skip
def test_an_empty_list_says_how_the_last_run_ended(browser: Client, document: Document, state: str, words: str) -> None:
    run = make_run(document, state=state, queued=0)
    page = " ".join(html.fromstring(browser.get("/crawls/").content).text_content().split())
    assert f"The last one, run {run.pk}, {words} " in page
