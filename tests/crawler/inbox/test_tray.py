"""The In Tray: what needs somebody stands there for who can do something about it, and for nobody else."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.cache import cache
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clearinghouse.accounts import options
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawler.inbox import notices
from crawler.launching import crawl_requests
from crawler.models import CrawlRequest, Delivery, Finding, Mark, Notice, Run, TaskClaim, Webhook, Wish
from crawlpoints import services
from tests.crawler.runs.rows import limited_run, make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


def tell() -> None:
    Mark.objects.all().delete()
    notices.write_due(timezone.now())


@pytest.fixture
def point(document: Document) -> Any:
    return services.add_crawl_point(document, {"url": "https://ex.gov/a/", "root": "https://ex.gov/a/"})[0]


def page(browser: Client, path: str = "/") -> str:
    answer = browser.get(path)
    assert answer.status_code == 200, path
    return answer.content.decode()


def test_nothing_needs_you(signed_in: SignedIn, editor: Any, document: Document) -> None:
    text = page(signed_in(editor))
    assert "Nothing needs you." in text and "1 document is assigned to you" in text and ">Tasks" not in text
    run = make_run(document, state="finished", queued=0)
    ends = {0: "finished <time", 1: ">yesterday at ", 3: f">on {timezone.now() - timedelta(days=3):%-d %b %Y} at "}
    for days, words in ends.items():
        Run.objects.filter(pk=run.pk).update(finished_at=timezone.now() - timedelta(days=days))
        Run.objects.exclude(pk=run.pk).delete()
        assert words in page(signed_in(editor))


def test_a_finding_is_a_task_of_who_may_change_the_document(
    signed_in: SignedIn, editor: Any, reader: Any, stranger: Any, manager: Any, document: Document
) -> None:
    limited_run(document)
    for person, sees in ((editor, True), (manager, True), (reader, False), (stranger, False)):
        text = page(signed_in(person))
        assert ("Page limit reached: Stopped at the limit" in text) is sees, person
    Finding.objects.update(state="accepted")
    assert "Page limit reached: Stopped" not in page(signed_in(editor))


def test_only_the_newest_crawl_of_a_document_makes_tasks(signed_in: SignedIn, editor: Any, document: Document) -> None:
    limited_run(document)
    limited_run(document)
    assert page(signed_in(editor)).count("Page limit reached: Stopped at the limit") == 1


def test_a_task_is_claimed_taken_over_and_released(
    signed_in: SignedIn, editor: Any, manager: Any, stranger: Any, document: Document
) -> None:
    limited_run(document)
    name = f"finding:{Finding.objects.get(rule='page_limit').pk}"
    browser = signed_in(editor)
    assert signed_in(stranger).post("/tasks/claim/", {"task": name}).status_code == 404
    assert browser.get("/tasks/claim/").status_code == 405
    browser.post("/tasks/claim/", {"task": name})
    assert "Release</button>" in page(browser) and TaskClaim.objects.get().person == "editor"
    signed_in(manager).post("/tasks/claim/", {"task": name, "release": "1"})
    assert TaskClaim.objects.get().person == "editor"
    signed_in(manager).post("/tasks/claim/", {"task": name})
    assert TaskClaim.objects.get().person == "manager"
    signed_in(manager).post("/tasks/claim/", {"task": name, "release": "1"})
    assert not TaskClaim.objects.exists()


def test_a_crawl_is_requested_once_and_launched(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document, point: Any
) -> None:
    options.choose({options.SPEED: "medium"})
    path = f"/documents/{document.pk}/request-crawl/"
    assert "Request crawl</button>" in page(signed_in(editor), path)
    answer = signed_in(editor).post(path, {"note": "new pages"}, follow=True)
    assert "is requested" in answer.content.decode()
    signed_in(editor).post(path, {})
    request = CrawlRequest.objects.get()
    assert "editor requested a crawl" in page(signed_in(editor), path)
    assert "Crawl requested by editor: new pages" in page(signed_in(administrator))
    assert "Crawl requested by" not in page(signed_in(editor))
    signed_in(administrator).post(f"/requests/{request.pk}/answer/", {"do": "launch"})
    run = Run.objects.get()
    request.refresh_from_db()
    assert (request.state, request.run_id, run.note) == ("launched", run.pk, "Requested by editor: new pages")
    assert run.speed == "medium", "as launches begin in this house"
    signed_in(administrator).post(f"/requests/{request.pk}/answer/", {"do": "decline"})
    request.refresh_from_db()
    assert request.state == "launched"


@pytest.mark.usefixtures("point")
def test_a_request_is_answered_by_a_plan_and_by_a_launch_of_the_whole_document(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document
) -> None:
    browser = signed_in(administrator)
    form = {"what": "chosen", "doc": document.pk, "speed": "polite"}
    crawl_requests.ask(document, "editor")
    browser.post("/crawls/launch/", form | {"when": "week", "weekday": "6", "at": "02:00", "only": "new"})
    assert crawl_requests.waiting_for(document.pk), "a crawl of something else is no answer"
    browser.post("/crawls/launch/", form | {"when": "week", "weekday": "6", "at": "02:00"})
    assert crawl_requests.waiting_for(document.pk) is None and "Crawl requested by" not in page(browser)
    tell()
    assert "was planned by administrator: Every Sunday at 02:00" in page(signed_in(editor))
    again = crawl_requests.ask(document, "editor")
    browser.post("/crawls/launch/", form | {"when": "now"})
    again.refresh_from_db()
    assert (again.state, again.run_id) == ("launched", Run.objects.get().pk)


@pytest.mark.usefixtures("point")
def test_a_request_is_declined_with_a_reason_and_may_be_made_again(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document
) -> None:
    request = crawl_requests.ask(document, "editor")
    signed_in(administrator).post(f"/requests/{request.pk}/answer/", {"do": "decline", "answer": "next week"})
    request.refresh_from_db()
    assert (request.state, request.answer, request.answered_by) == ("declined", "next week", "administrator")
    tell()
    assert "was declined by administrator: next week" in page(signed_in(editor))
    assert crawl_requests.ask(document, "editor").pk != request.pk


def test_a_request_that_cannot_be_launched_stays(
    signed_in: SignedIn, administrator: Any, document: Document, point: Any
) -> None:
    request = crawl_requests.ask(document, "editor")
    services.set_active([point], False)
    answer = signed_in(administrator).post(f"/requests/{request.pk}/answer/", {"do": "launch"}, follow=True)
    assert "The request is as it was" in answer.content.decode()
    request.refresh_from_db()
    assert request.state == "waiting" and not Run.objects.exists()


@pytest.mark.usefixtures("point")
def test_who_may_request_and_who_may_answer(
    client: Client, signed_in: SignedIn, editor: Any, reader: Any, stranger: Any, administrator: Any, document: Document
) -> None:
    path = f"/documents/{document.pk}/request-crawl/"
    assert client.get(path).status_code == 302 and client.post(path).status_code == 302
    expected = {reader: 403, stranger: 404, administrator: 403}
    for person, code in expected.items():
        assert signed_in(person).get(path).status_code == code, person
        assert signed_in(person).post(path).status_code == code, person
    signed_in(editor).get(path)
    assert not CrawlRequest.objects.exists()
    request = crawl_requests.ask(document, "editor")
    for person, code in {editor: 403, reader: 403, stranger: 404}.items():
        answer = signed_in(person).post(f"/requests/{request.pk}/answer/", {"do": "launch"})
        assert answer.status_code == code, person
    assert signed_in(administrator).get(f"/requests/{request.pk}/answer/").status_code == 405
    assert not Run.objects.exists()


def test_notifications_are_read_one_by_one_or_all_and_only_ones_own(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document
) -> None:
    limited_run(document)
    tell()
    browser = signed_in(editor)
    text = page(browser)
    assert "finding needs attention" in text and "Mark all read" in text
    mine = list(Delivery.objects.filter(person_id=editor.pk).order_by("pk"))
    assert len(mine) == 2
    signed_in(administrator).post("/notices/read/", {"delivery": str(mine[0].pk)})
    assert Delivery.objects.filter(person_id=editor.pk, read_at=None).count() == 2
    browser.post("/notices/read/", {"delivery": str(mine[0].pk)})
    assert Delivery.objects.filter(person_id=editor.pk, read_at=None).count() == 1
    browser.post("/notices/read/")
    assert "Mark all read" not in page(browser)
    assert Delivery.objects.filter(person_id=administrator.pk, read_at=None).exists()


def test_a_kind_is_muted_and_turned_on_again(signed_in: SignedIn, editor: Any, document: Document) -> None:
    browser = signed_in(editor)
    browser.post("/notices/mute/", {"event": "page_limit"})
    assert Wish.objects.get().how == "mute"
    assert browser.post("/notices/mute/", {"event": "nonsense"}).status_code == 404
    browser.post("/me/notifications/", {"page_limit": "now", "run_finished": "tray", "failing": "nonsense"})
    assert dict(Wish.objects.values_list("event", "how")) == {"page_limit": "now", "run_finished": "tray"}
    text = page(browser, "/me/notifications/")
    assert '<option value="now" selected>' in text


def test_webhooks_are_for_administrators(
    client: Client, signed_in: SignedIn, editor: Any, manager: Any, administrator: Any, project: Any
) -> None:
    values = {"project": str(project.pk), "url": "https://hooks.example.org/in"}
    assert client.get("/settings/webhooks/").status_code == 302
    for person in (editor, manager):
        assert signed_in(person).get("/settings/webhooks/").status_code == 403
        assert signed_in(person).post("/settings/webhooks/", values).status_code == 403
    assert not Webhook.objects.exists()
    signed_in(administrator).post("/settings/webhooks/", values)
    assert Webhook.objects.get().url == "https://hooks.example.org/in"
    assert "https://hooks.example.org/in" in page(signed_in(administrator), "/settings/webhooks/")


def test_my_documents_show_the_trend_of_their_crawls(signed_in: SignedIn, editor: Any, document: Document) -> None:
    for _ in range(3):
        make_run(document, state="finished", queued=0)
    assert "Pages in the last 3 runs" in page(signed_in(editor))


def test_the_house_is_shown_to_administrators_only(signed_in: SignedIn, editor: Any, administrator: Any) -> None:
    text = page(signed_in(administrator))
    for word in ("Redis", "Disk", "Last propagation", "Crawls may run"):
        assert word in text and word not in page(signed_in(editor))


@pytest.mark.usefixtures("point")
def test_more_tasks_ask_no_more_queries(
    signed_in: SignedIn, administrator: Any, project: Any, document: Document
) -> None:
    browser = signed_in(administrator)

    def queries() -> int:
        cache.clear()  # of the counts in the navigation
        one, other = (CaptureQueriesContext(connections[alias]) for alias in ("webcrawl", "default"))
        with one as crawl, other as own:
            page(browser, "/?tasks=all")
        return len(crawl) + len(own)

    limited_run(document)
    crawl_requests.ask(document, "editor")
    tell()
    queries()
    before = queries()
    for number in range(5):
        other = library.add_document(f"Document {number}", project=project.name)
        limited_run(other)
        url = f"https://ex.gov/{number}/"
        services.add_crawl_point(other, {"url": url, "root": url})
        crawl_requests.ask(other, "editor")
    tell()
    assert queries() == before <= 30


def test_nothing_is_requested_where_nothing_would_be_crawled(
    signed_in: SignedIn, editor: Any, document: Document, point: Any
) -> None:
    services.set_active([point], False)
    path = f"/documents/{document.pk}/request-crawl/"
    text = page(signed_in(editor), path)
    assert "This document has no active crawl point, so there is nothing to crawl." in text
    assert "Request crawl</button>" not in text
    answer = signed_in(editor).post(path, {"note": "please"}, follow=True)
    assert "This document has no active crawl point" in answer.content.decode()
    assert not CrawlRequest.objects.exists()


@pytest.mark.usefixtures("point")
def test_a_request_says_when_and_who_answers_can_open_the_launch_form(
    signed_in: SignedIn, editor: Any, administrator: Any, document: Document
) -> None:
    wish = {"when": "every Sunday night", "note": "It changes each week"}
    signed_in(editor).post(f"/documents/{document.pk}/request-crawl/", wish)
    text = page(signed_in(administrator))
    assert "Crawl requested by editor: every Sunday night. It changes each week" in text
    assert f'href="/crawls/launch/?doc={document.pk}">Open' in text


def test_running_now_counts_what_runs_and_leads_to_what_waits(
    signed_in: SignedIn, administrator: Any, project: Any
) -> None:
    documents = [library.add_document(f"Document {number}", project=project.name) for number in range(12)]
    for one in documents[:10]:
        make_run(one)
    for one in documents[10:]:
        make_run(one, state="waiting")
    text = page(signed_in(administrator))
    assert '<a class="count" href="/crawls/">10</a>' in text and '?tab=waiting">2 crawls waiting</a>' in text
    assert ">Waiting<" not in text.partition('id="now-h"')[2].partition("</section>")[0]


def test_my_documents_lead_to_all_of_them(signed_in: SignedIn, editor: Any, project: Any, document: Document) -> None:
    for number in range(24):
        library.assign(library.add_document(f"Document {number}", project=project.name), editor)
    text = page(signed_in(editor))
    assert '<a class="count" href="/documents/?view=mine">25</a>' in text and "25 documents are assigned" in text


def test_older_notifications_are_found_page_by_page(signed_in: SignedIn, editor: Any) -> None:
    at = timezone.now()
    for number in range(60):
        notice = Notice.objects.create(
            key=f"k{number}", event="request", at=at - timedelta(minutes=number), sentence=f"Notice no. {number}."
        )
        Delivery.objects.create(notice=notice, person_id=editor.pk, because="you asked")
    browser = signed_in(editor)
    text = page(browser)
    assert "Notice no. 49." in text and "Notice no. 50." not in text and 'href="?told=all#told-h"' in text
    text = page(browser, "/?told=all&page=2")
    assert "Notice no. 59." in text and "Notice no. 49." not in text and "51–60 of 60 notices" in text
