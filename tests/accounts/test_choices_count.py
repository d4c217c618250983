"""What is chosen in the settings and the preferences is what the screens then do."""

from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from clearinghouse.accounts import options
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawler.inbox.notices import usual
from crawler.models import Run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_a_new_crawl_point_begins_with_the_limits_of_the_house(signed_in: Any, editor: Any, document: Document) -> None:
    options.choose({options.DEPTH: "7", options.MAX_PAGES: "0"})
    form = signed_in(editor).get(f"/documents/{document.pk}/crawl-points/new/").context["form"]
    assert (form["depth"].value(), form["max_pages"].value()) == (7, "")


def test_a_launch_begins_with_the_speed_of_the_house(signed_in: Any, administrator: Any) -> None:
    options.choose({options.SPEED: "fast"})
    assert signed_in(administrator).get("/crawls/launch/").context["form"]["speed"].value() == "fast"
    assert options.speed() == "fast"
    options.choose({options.SPEED: ""})
    assert options.speed() == "polite"


@pytest.mark.parametrize(("chosen", "how"), [("each", "now"), ("digest", "digest"), ("tray", "tray")])
def test_people_who_chose_nothing_are_told_as_the_house_has_it(db: Any, chosen: str, how: str) -> None:
    options.choose({options.NOTICES: chosen})
    assert usual() == how


def test_lists_have_the_rows_chosen_in_the_preferences(signed_in: Any, administrator: Any) -> None:
    for number in range(21):
        library.add_document(f"Document {number}", project="Many")
        Run.objects.create(state="finished", requested_by="administrator", created_at=timezone.now())
    browser = signed_in(administrator)
    assert browser.get("/crawls/?tab=finished").context["page"].paginator.per_page == 50
    assert browser.post("/me/", {"theme": "system", "rows": "20"}).status_code == 302
    assert browser.get("/crawls/?tab=finished").context["page"].paginator.per_page == 20
    browser.post("/me/", {"theme": "system", "rows": "100"})
    assert len(browser.get("/documents/?view=all").context["page"].object_list) == 21
    assert browser.get("/documents/?view=all&rows=50").context["size"] == 50


def test_the_rows_chosen_follow_the_person_to_another_browser(client: Any, administrator: Any) -> None:
    for number in range(21):
        library.add_document(f"Document {number}", project="Many")
    client.force_login(administrator)
    client.post("/me/", {"theme": "system", "rows": "20"})
    other = Client()
    other.force_login(administrator)
    assert len(other.get("/documents/?view=all").context["page"].object_list) == 20
    assert other.get("/me/").context["form"]["rows"].value() == "20"
    other.post("/me/", {"theme": "system", "rows": ""})
    assert other.get("/crawls/?tab=finished").context["page"].paginator.per_page == 50


def test_single_keys_are_off_until_they_are_switched_on(signed_in: Any, editor: Any) -> None:
    browser = signed_in(editor)
    assert "data-single-keys" not in browser.get("/documents/").content.decode()
    browser.post("/me/", {"theme": "system", "keys": "on"})
    assert "<body data-person=" in (page := browser.get("/documents/").content.decode())
    assert " data-single-keys" in page.split("<body")[1].split(">")[0]
    browser.post("/me/", {"theme": "system"})
    assert "data-single-keys" not in browser.get("/documents/").content.decode()
