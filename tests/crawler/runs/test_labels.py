"""A label: a word on a run, by which people find it again."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.core.management import call_command
from django.test import Client
from django.utils import timezone
from lxml import html

from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from crawler.launching import control, schedules
from crawler.models import Event, Run, Schedule
from crawlpoints.models import CrawlPoint, CrawlPointLink
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
SignedIn = Callable[[Any], Client]


@pytest.fixture
def start(document: Document) -> CrawlPoint:
    point = CrawlPoint.objects.create(url="https://quality.example.gov/", root="https://quality.example.gov/", active=1)
    CrawlPointLink.objects.create(document=document, crawl_point=point)
    return point


def labelled(document: Document, label: str) -> Run:
    run = make_run(document, state="finished", queued=0)
    control.set_label(run, label, "administrator")
    return run


def test_a_launch_gives_a_label(signed_in: SignedIn, administrator: Any, document: Document, start: CrawlPoint) -> None:
    labelled(document, "yearly")
    browser = signed_in(administrator)
    form = html.fromstring(browser.get("/crawls/launch/").content)
    assert form.xpath("//datalist[@id='labels']/option/@value") == ["yearly"]
    entries = {"what": "all", "speed": "polite", "when": "now", "label": "  quarterly   check "}
    answer = browser.post("/crawls/launch/", entries)
    run = Run.objects.latest("pk")
    assert answer.url == f"/crawls/{run.pk}/" and run.label == "quarterly check"
    page = html.fromstring(browser.get(answer.url).content)
    (tag,) = page.xpath("//a[contains(@class, 'tag')]")
    assert tag.text_content().endswith("quarterly check")
    assert "quarterly check" in browser.get(tag.get("href")).content.decode()


def test_a_label_that_is_too_long_is_refused_where_it_was_entered(
    signed_in: SignedIn, administrator: Any, start: CrawlPoint
) -> None:
    entries = {"what": "all", "speed": "polite", "when": "now", "label": "x" * 41}
    answer = signed_in(administrator).post("/crawls/launch/", entries)
    page = html.fromstring(answer.content)
    assert answer.status_code == 422 and page.xpath("//div[@role='alert']//a/@href") == ["#id_label"]
    assert page.xpath("//input[@id='id_label']/@value") == ["x" * 41]


def test_a_plan_labels_the_runs_it_launches(signed_in: SignedIn, administrator: Any, start: CrawlPoint) -> None:
    entries = {"what": "all", "speed": "polite", "when": "day", "at": "02:00", "label": "nightly"}
    assert signed_in(administrator).post("/crawls/launch/", entries).url == "/crawls/schedules/"
    plan = Schedule.objects.get()
    (run,) = schedules.start_due(plan.next_at + timedelta(seconds=1))
    assert run.label == "nightly"


def test_the_label_of_a_run_is_changed_on_its_page_also_when_it_has_ended(
    signed_in: SignedIn, administrator: Any, document: Document
) -> None:
    run = labelled(document, "first")
    browser = signed_in(administrator)
    page = html.fromstring(browser.get(f"/crawls/{run.pk}/").content)
    assert page.xpath("//input[@id='label']/@value") == ["first"]
    answer = browser.post(f"/crawls/{run.pk}/label/", {"label": "second \0"}, follow=True)
    run.refresh_from_db()
    assert run.label == "second" and "Saved the label" in answer.content.decode()
    answer = browser.post(f"/crawls/{run.pk}/label/", {"label": " "}, follow=True)
    run.refresh_from_db()
    assert run.label == "" and "Removed the label" in answer.content.decode()
    assert list(Event.objects.filter(run=run, kind="label").order_by("pk").values_list("text", flat=True)) == [
        "Label first set by administrator",
        "Label second set by administrator",
        "Label removed by administrator",
    ]
    assert Entry.objects.filter(action="label").count() == 3


def test_who_may_not_control_a_run_sees_its_label_and_cannot_change_it(
    signed_in: SignedIn, editor: Any, document: Document
) -> None:
    run = labelled(document, "quarterly")
    browser = signed_in(editor)
    page = browser.get(f"/crawls/{run.pk}/").content.decode()
    assert "quarterly" in page and 'id="label"' not in page
    assert browser.post(f"/crawls/{run.pk}/label/", {"label": "mine"}).status_code == 403
    run.refresh_from_db()
    assert run.label == "quarterly"


def test_the_list_of_runs_is_narrowed_to_a_label(
    signed_in: SignedIn, administrator: Any, stranger: Any, document: Document
) -> None:
    runs = [labelled(document, "quarterly"), labelled(document, "quarterly"), labelled(document, "test & trial")]
    make_run(document, state="finished", queued=0)
    browser = signed_in(administrator)
    page = html.fromstring(browser.get("/crawls/?tab=finished").content)
    chips = page.xpath("//ul[@aria-labelledby='labels-h']//a")
    assert [chip.text_content().split() for chip in chips] == [["quarterly", "2"], ["test", "&", "trial", "1"]]
    for chip, wanted in zip(chips, (runs[1::-1], runs[2:]), strict=True):
        listed = html.fromstring(browser.get(f"/crawls/{chip.get('href')}").content)
        assert listed.xpath("//tbody//th/a/text()") == [f"Run {run.pk}" for run in wanted]
        (chosen,) = listed.xpath("//ul[@aria-labelledby='labels-h']//a[@aria-current='true']")
        assert chosen.get("href") == "?tab=finished"
    nothing = browser.get("/crawls/?tab=finished&label=elsewhere").content.decode()
    assert "No run here has the label elsewhere" in nothing and "Show all of them" in nothing
    assert "quarterly" not in signed_in(stranger).get("/crawls/?tab=finished").content.decode()


def test_programs_and_commands_label_runs_too(
    signed_in: SignedIn, administrator: Any, document: Document, start: CrawlPoint
) -> None:
    call_command("launch", label=" weekly ", verbosity=0)
    run = Run.objects.latest("pk")
    assert run.label == "weekly"
    browser = signed_in(administrator)
    path = f"/api/v1/runs/{run.pk}/label/"
    answer = browser.post(path, {"label": "monthly"}, content_type="application/json")
    assert answer.status_code == 200 and answer.json()["label"] == "monthly"
    assert [one["id"] for one in browser.get("/api/v1/runs/?label=monthly").json()["items"]] == [run.pk]
    assert browser.get("/api/v1/runs/?label=weekly").json()["items"] == []
    assert browser.post(path, {"label": "x" * 41}, content_type="application/json").status_code == 422
    assert browser.post(path, {"label": "\ud800"}, content_type="application/json").status_code == 422
    assert timezone.now() > run.created_at
