"""Pause, resume, stop, cancel, speed; and the launch form."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from clearinghouse.library.models import Document
from crawler.models import Excursion, Run, State
from crawler.runs.run_actions import controls_of
from crawlpoints.models import CrawlPoint, CrawlPointLink
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture
def pointed(document: Document, second_document: Document, other_document: Document) -> list[Document]:
    """Three documents with two active crawl points each, and one inactive one."""
    documents = [document, second_document, other_document]
    for one in documents:
        for number in range(3):
            url = f"https://site.example.org/{one.pk}/{number}/"
            point = CrawlPoint.objects.create(url=url, root=url, active=int(number < 2))
            CrawlPointLink.objects.create(document=one, crawl_point=point)
    return documents


@pytest.fixture(autouse=True)
def no_redis(settings: Any) -> None:
    """Rings go nowhere: the rows are what counts."""
    settings.REDIS_URL = "unix:///nowhere/redis.sock"


def test_pause_and_resume(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    page = browser.post(f"/crawls/{run.pk}/do/pause/", follow=True).content.decode()
    assert f"Pausing run {run.pk}" in page and "Resume" in page
    run.refresh_from_db()
    assert run.control == "pause"
    browser.post(f"/crawls/{run.pk}/do/resume/")
    run.refresh_from_db()
    assert run.control == "" and run.state == State.RUNNING


def test_cancel_asks_first(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    question = browser.get(f"/crawls/{run.pk}/cancel/").content.decode()
    going = run.excursions.exclude(state=State.FINISHED)
    pages = sum(one.crawled + one.unchanged for one in going)
    assert 0 < pages < 13 and f"{pages} pages stored from 2 documents will be discarded" in question
    assert "1 document has finished already: what was stored of it is kept." in question
    run.refresh_from_db()
    assert run.control == ""
    browser.post(f"/crawls/{run.pk}/cancel/")
    run.refresh_from_db()
    assert run.control == "cancel" and controls_of(run) == []


def test_stop_and_speed(signed_in: SignedIn, administrator: Any, run: Run) -> None:
    browser = signed_in(administrator)
    browser.post(f"/crawls/{run.pk}/speed/", {"speed": "fast"})
    assert browser.post(f"/crawls/{run.pk}/speed/", {"speed": "mad"}).status_code == 404
    browser.post(f"/crawls/{run.pk}/do/stop/")
    run.refresh_from_db()
    assert (run.speed, run.control) == ("fast", "stop")
    assert controls_of(run) == ["cancel"]


def test_a_command_at_the_wrong_moment_explains_itself(
    signed_in: SignedIn, administrator: Any, finished_run: Run
) -> None:
    page = signed_in(administrator).post(f"/crawls/{finished_run.pk}/do/pause/", follow=True).content.decode()
    assert "has ended already" in page
    assert "cannot be cancelled any more" in signed_in(administrator).get(
        f"/crawls/{finished_run.pk}/cancel/"
    ).content.decode()  # fmt: skip


def test_the_form_counts_what_it_would_launch(signed_in: SignedIn, administrator: Any, pointed: list[Document]) -> None:
    browser = signed_in(administrator)
    page = browser.get("/crawls/launch/").content.decode()
    assert "Launch crawl of 3 documents" in page and "6 active crawl points, 3 inactive will be skipped" in page
    project = pointed[0].sheet.project_id
    assert "Launch crawl of 2 documents" in browser.get(
        f"/crawls/launch/?what=project&project={project}"
    ).content.decode()  # fmt: skip
    assert "Launch crawl of 1 document<" in browser.get(f"/crawls/launch/?doc={pointed[1].pk}").content.decode()


def test_the_live_count_is_a_fragment(signed_in: SignedIn, administrator: Any, pointed: list[Document]) -> None:
    answer = signed_in(administrator).get(
        "/crawls/launch/", {"what": "chosen", "doc": pointed[0].pk}, headers={"HX-Request": "true"}
    )
    assert answer.content.strip().startswith(b'<div id="scope"') and b"Launch crawl of 1 document<" in answer.content


def test_without_javascript_a_button_counts_again(
    signed_in: SignedIn, administrator: Any, pointed: list[Document]
) -> None:
    form = {"what": "chosen", "doc": pointed[0].pk, "speed": "fast", "count": "1", "note": "Kept"}
    page = signed_in(administrator).post("/crawls/launch/", form).content.decode()
    assert "Launch crawl of 1 document<" in page and 'value="Kept"' in page and Run.objects.count() == 0


def test_a_document_in_the_address_is_ticked(signed_in: SignedIn, administrator: Any, pointed: list[Document]) -> None:
    page = html.fromstring(signed_in(administrator).get(f"/crawls/launch/?doc={pointed[1].pk}").content)
    assert page.xpath("//input[@name='doc'][@checked]/@value") == [str(pointed[1].pk)]
    assert page.xpath("//input[@name='what'][@checked]/@value") == ["chosen"]
    assert page.xpath("//input[@name='speed'][@checked]/@value") == ["polite"]


def test_launch_makes_a_run_and_opens_it(signed_in: SignedIn, administrator: Any, pointed: list[Document]) -> None:
    form = {
        "what": "chosen", "doc": [pointed[0].pk, pointed[1].pk], "speed": "medium", "minutes": "30",
        "propagate_after": "on", "note": "A try",
    }  # fmt: skip
    answer = signed_in(administrator).post("/crawls/launch/", form)
    run = Run.objects.get()
    assert answer.status_code == 302 and answer["Location"] == f"/crawls/{run.pk}/"
    assert (run.speed, run.max_seconds, run.propagate_after, run.note) == ("medium", 1800, True, "A try")
    assert (run.requested_by, run.origin) == ("administrator", "button")
    assert set(run.excursions.values_list("doc_id", flat=True)) == {pointed[0].pk, pointed[1].pk}
    page = signed_in(administrator).get(f"/crawls/{run.pk}/").content.decode()
    assert "Waiting for a free crawler instance" in page


def test_busy_documents_are_named_and_left_out(
    signed_in: SignedIn, administrator: Any, pointed: list[Document]
) -> None:
    run = make_run(pointed[0], state="running")
    browser = signed_in(administrator)
    page = html.fromstring(browser.get("/crawls/launch/").content).text_content()
    assert f"Run {run.pk} is crawling 1 of them; that one will be left out." in " ".join(page.split())
    browser.post("/crawls/launch/", {"what": "all", "speed": "polite"})
    launched = Run.objects.latest("pk")
    assert launched.left_out == [pointed[0].pk] and launched.excursions.count() == 2


def test_nothing_to_crawl_and_all_busy_are_said_at_the_form(
    signed_in: SignedIn, administrator: Any, pointed: list[Document]
) -> None:
    browser = signed_in(administrator)
    make_run(pointed[0])
    answer = browser.post("/crawls/launch/", {"what": "chosen", "doc": pointed[0].pk, "speed": "polite"})
    assert answer.status_code == 422 and "All chosen documents are in an unfinished run" in answer.content.decode()
    CrawlPoint.objects.update(active=0)
    answer = browser.post("/crawls/launch/", {"what": "all", "speed": "polite"})
    page = answer.content.decode()
    assert answer.status_code == 422 and "has an active crawl point" in page and "<title>Error: " in page
    assert Run.objects.count() == 1


@pytest.mark.parametrize(
    ("form", "message"),
    [
        ({"what": "project", "speed": "polite"}, "Choose the project to crawl"),
        ({"what": "chosen", "speed": "polite"}, "Choose at least one document"),
        ({"what": "all", "speed": "polite", "minutes": "soon"}, "Enter a whole number of minutes"),
        ({"what": "all", "speed": "polite", "minutes": "0"}, "Enter a whole number of minutes"),
        ({"what": "chosen", "speed": "polite", "doc": "999999"}, "“999999” is not in the list. Choose again"),
    ],
)
def test_a_form_filled_in_wrongly_keeps_its_entries(
    signed_in: SignedIn, administrator: Any, pointed: list[Document], form: dict[str, str], message: str
) -> None:
    answer = signed_in(administrator).post("/crawls/launch/", form | {"note": "Kept <words>"})
    page = html.fromstring(answer.content)
    assert answer.status_code == 422 and Excursion.objects.count() == 0
    assert message in page.xpath("//*[@class='problem']")[0].text_content()
    assert page.xpath("//input[@name='note']/@value") == ["Kept <words>"]


def test_who_may_not_stop_a_run_may_ask_for_it(
    signed_in: SignedIn, client: Client, editor: Any, stranger: Any, administrator: Any, document: Document
) -> None:
    run = make_run(document)
    door = f"/crawls/{run.pk}/ask/"
    assert "Ask to stop" in signed_in(editor).get(f"/crawls/{run.pk}/").content.decode()
    signed_in(editor).post(door)
    assert "editor asks to stop this run" in signed_in(administrator).get(f"/crawls/{run.pk}/").content.decode()
    run.refresh_from_db()
    assert run.control == ""
    assert signed_in(stranger).post(door).status_code == 404 and signed_in(editor).get(door).status_code == 405
    assert client.post(door)["Location"].startswith("/sign-in/")
