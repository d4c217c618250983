"""The settings: what administrators choose for the house is kept, obeyed and written down."""

from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from clearinghouse.accounts import options
from clearinghouse.accounts.policies import Action, may
from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document, Project
from crawler.models import Excursion, Mark, Run
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def browser(signed_in: Any, administrator: Any) -> Client:
    return signed_in(administrator)


def test_every_screen_of_the_settings_is_reached_from_their_first_page(browser: Client) -> None:
    page = browser.get("/settings/").content.decode()
    for name in ("people", "projects", "launching", "crawl-defaults", "networks", "workers", "errors", "status"):
        assert f'href="/settings/{name}/"' in page
        assert browser.get(f"/settings/{name}/").status_code == 200


def test_who_may_launch_is_chosen_and_written_down(browser: Client, document: Document, editor: Any) -> None:
    assert browser.post("/settings/launching/", {"developers_launch": "on"}).status_code == 302
    assert may(editor, Action.LAUNCH, document)
    entry = Entry.objects.get(kind="option")
    assert (entry.actor, entry.before["developers_launch"], entry.after["developers_launch"]) == (
        "administrator", "no", "yes",
    )  # fmt: skip
    browser.post("/settings/launching/", {"developers_launch": "on"})
    assert Entry.objects.filter(kind="option").count() == 1


@pytest.mark.parametrize("depth", ["", "-1", "1000", "many"])
def test_a_default_that_is_no_depth_is_refused(browser: Client, depth: str) -> None:
    response = browser.post("/settings/crawl-defaults/", {"default_depth": depth, "default_max_pages": "10"})
    assert response.status_code == 422
    assert options.number(options.DEPTH) == 3


def test_crawl_defaults_are_kept(browser: Client) -> None:
    given = {"default_depth": "5", "default_max_pages": "70", "default_speed": "medium"}
    assert browser.post("/settings/crawl-defaults/", given).status_code == 302
    assert (options.number(options.DEPTH), options.number(options.MAX_PAGES)) == (5, 70)
    assert options.text(options.SPEED) == "medium"


def test_projects_are_added_renamed_and_deleted_when_empty(browser: Client, document: Document) -> None:
    assert browser.post("/settings/projects/", {"name": "quality MEASURES"}).status_code == 422
    assert browser.post("/settings/projects/", {"name": "Second"}).status_code == 302
    second = Project.objects.get(name="Second")
    browser.post(f"/settings/projects/{second.pk}/", {"name": "Renamed"})
    browser.post(f"/settings/projects/{second.pk}/delete/")
    assert not Project.objects.filter(pk=second.pk).exists()
    assert "documents/?view=all&amp;project=Quality%20measures" in browser.get("/settings/projects/").content.decode()
    browser.post(f"/settings/projects/{document.sheet.project_id}/delete/")
    assert Project.objects.filter(pk=document.sheet.project_id).exists()
    assert [entry.action for entry in Entry.objects.filter(kind="project", thing_id=second.pk).order_by("id")] == [
        "add", "change", "delete",
    ]  # fmt: skip


def test_networks_are_shown_and_mistakes_named(browser: Client, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_ALLOWED_NETWORKS", "10.0.0.0/8, nonsense")
    page = browser.get("/settings/networks/").content.decode()
    assert "10.0.0.0/8" in page
    assert "neither a network nor an address with a port" in page
    assert "<form" not in page.split("<main")[1].split("</main>")[0]


def test_status_says_what_cannot_be_reached_without_its_password(
    browser: Client, settings: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    settings.REDIS_URL = "redis://:C4n4ry@127.0.0.1:1/0"
    page = browser.get("/settings/status/").content.decode()
    assert "Not reachable" in page
    assert "C4n4ry" not in page
    assert "cannot be reached" in browser.get("/settings/workers/").content.decode()


@proves("B10")
def test_status_names_every_part_and_what_to_do_about_it(browser: Client) -> None:
    page = browser.get("/settings/status/").content.decode()
    for part in (
        "doc_library (content development)",
        "WebCrawl",
        "Schema",
        "Redis",
        "Workers",
        "Tick",
        "Disk",
        "Clock",
    ):
        assert part in page, part
    assert "Up to date" in page and "Agrees" in page
    assert "only Redis knows which workers wait for work" in page and "Start manage.py tick" in page
    Mark.objects.create(name="tick", at=timezone.now())
    assert "Start manage.py tick" not in browser.get("/settings/status/").content.decode()


def test_the_error_log_is_filtered_by_words_and_by_time(browser: Client, document: Document) -> None:
    now = timezone.now()
    for number, (word, days) in enumerate((("KeyError: 'a'", 0), ("ValueError: b", 20))):
        at = now - timedelta(days=days)
        run = Run.objects.create(state="failed", requested_by="a", created_at=at, finished_at=at)
        Excursion.objects.create(run=run, doc_id=document.pk + number, title=f"Document {number}", state="failed",
                                 unfinished=False, error=f"Traceback\n{word}", finished_at=at)  # fmt: skip

    def shown(query: str) -> list[bool]:
        page = browser.get(f"/settings/errors/{query}").content.decode()
        return ["KeyError" in page, "ValueError: b" in page]

    assert shown("") == [True, True]
    assert shown("?q=keyerror") == [True, False]
    assert shown("?q=Document+1") == [False, True]
    assert shown("?days=7") == [True, False]
    assert shown("?days=nonsense") == [True, True]
    assert "No fault matches these filters" in browser.get("/settings/errors/?q=nothing").content.decode()
