"""The launch form: what it counts is what it launches, for every choice."""

from collections.abc import Callable
from typing import Any

import pytest
from django.test import Client
from lxml import html

from clearinghouse.library.models import Document
from crawler.models import Excursion, Preview, Run, Schedule
from crawlpoints import saved_views, services
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]
SPEED = {"speed": "polite"}


def add(document: Document, path: str = "", **values: Any) -> Any:
    address = f"https://{document.pk}.example.gov/{path}"
    return services.add_crawl_point(document, {"url": address, "root": address} | values)[0]


@pytest.fixture
def pointed(document: Document, second_document: Document, other_document: Document) -> Document:
    add(document), add(document, "more/"), add(document, "off/", active=0)
    add(second_document), add(other_document)
    return document


def text_of(answer: Any) -> str:
    return " ".join(html.fromstring(answer.content).text_content().split())


def counted(browser: Client, **asked: Any) -> str:
    """What the form says after a change, as htmx asks it."""
    return text_of(browser.get("/crawls/launch/", SPEED | asked, headers={"HX-Request": "true"}))


def launched(browser: Client, **asked: Any) -> list[tuple[int, int]]:
    """Document and number of crawl points of each excursion."""
    answer = browser.post("/crawls/launch/", SPEED | asked)
    assert answer.status_code == 302, text_of(answer)
    run = Run.objects.order_by("-pk")[0]
    return [(one.doc_id, len(one.snapshot["points"])) for one in Excursion.objects.filter(run=run).order_by("doc_id")]


def test_all_active_documents(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    browser = signed_in(administrator)
    said = counted(browser, what="all")
    assert "3 documents, 4 active crawl points, 1 inactive will be skipped." in said
    assert "Launch crawl of 3 documents" in said
    assert [points for _, points in launched(browser, what="all")] == [2, 1, 1]


def test_one_crawl_point_alone(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    browser, point = signed_in(administrator), add(pointed, "alone/")
    page = text_of(browser.get("/crawls/launch/", {"crawl_point": point.pk}))
    assert "1 document, 1 active crawl point." in page and f"/{point.url.split('/', 3)[3]}" in page
    assert launched(browser, what="point", crawl_point=point.pk) == [(pointed.pk, 1)]
    assert Excursion.objects.get().part == "point"


def test_a_crawl_point_of_a_document_one_may_not_launch_does_not_exist(
    signed_in: SignedIn, administrator: Any, pointed: Document
) -> None:
    browser = signed_in(administrator)
    answer = browser.post("/crawls/launch/", SPEED | {"what": "point", "crawl_point": 4711})
    assert answer.status_code == 422 and "Choose the crawl point on the page of its document" in text_of(answer)


@pytest.mark.parametrize(
    "query", ["q=safety", "project=Quality", "view=never", "view=failed", "view=old", "view=empty", "errors=1",
              "who=nobody", "who=editor", "who=somebody-else", "age=1", "nopoints=1", "status=x", "view=mine",
              "q=more"],
)  # fmt: skip
def test_a_saved_view_launches_what_the_navigator_lists(
    signed_in: SignedIn, administrator: Any, pointed: Document, query: str
) -> None:
    make_run(pointed, state="finished", queued=0)
    browser = signed_in(administrator)
    view = saved_views.keep(administrator, "Mine", query)
    table = html.fromstring(browser.get(f"/documents/?{query}&rows=100").content)
    listed = table.xpath("//main//table//tbody/tr[th]")
    said = counted(browser, what="view", view=view.pk)
    empty = query in ("view=empty", "nopoints=1")
    assert f"Launch crawl of {0 if empty else len(listed)} document" in said


def test_only_failed_counts_the_pages(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    make_run(pointed, state="finished", queued=0)
    browser = signed_in(administrator)
    said = counted(browser, what="all", only="failed")
    assert "1 document, 2 active crawl points: 2 pages that failed last time." in said
    assert launched(browser, what="all", only="failed") == [(pointed.pk, 2)]
    excursion = Excursion.objects.order_by("-pk")[0]
    assert (excursion.part, {point["depth"] for point in excursion.snapshot["points"]}) == ("failed", {0})


def test_only_new_leaves_out_what_was_crawled_as_it_is(
    signed_in: SignedIn, administrator: Any, pointed: Document
) -> None:
    browser = signed_in(administrator)
    run = Run.objects.get(pk=launched(browser, what="all") and Run.objects.get().pk)
    Excursion.objects.filter(run=run).update(state="finished", unfinished=False)
    fresh = add(pointed, "fresh/")
    assert "1 document, 1 active crawl point." in counted(browser, what="all", only="new")
    assert launched(browser, what="all", only="new") == [(pointed.pk, 1)]
    assert Excursion.objects.order_by("-pk")[0].snapshot["points"][0]["id"] == fresh.pk


def test_nothing_to_do_is_said_at_the_choice(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    answer = signed_in(administrator).post("/crawls/launch/", SPEED | {"what": "all", "only": "failed"})
    assert answer.status_code == 422 and not Run.objects.exists()
    problem = html.fromstring(answer.content).xpath("//div[@class='problem']//a[@href='#id_only']")[0].text
    assert problem == "No page of the chosen documents failed in its last crawl."


def test_a_preview_starts_from_the_form(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    browser = signed_in(administrator)
    refused = browser.post("/crawls/launch/", SPEED | {"what": "all", "only": "preview"})
    assert refused.status_code == 422 and "A preview is of one document" in text_of(refused)
    answer = browser.post("/crawls/launch/", SPEED | {"what": "chosen", "doc": [pointed.pk], "only": "preview"})
    assert answer["Location"] == f"/documents/{pointed.pk}/previews/{Preview.objects.get().pk}/"
    assert not Run.objects.exists()


def test_a_plan_keeps_the_choice(signed_in: SignedIn, administrator: Any, pointed: Document) -> None:
    browser = signed_in(administrator)
    view = saved_views.keep(administrator, "Safety", "q=safety")
    plan = SPEED | {"what": "view", "view": view.pk, "only": "new", "when": "day", "at": "02:00"}
    assert browser.post("/crawls/launch/", plan)["Location"] == "/crawls/schedules/"
    schedule = Schedule.objects.get()
    assert (schedule.what, schedule.view_id, schedule.only) == ("view", view.pk, "new")
    assert "Saved view, only what is new or changed" in text_of(browser.get("/crawls/schedules/"))
