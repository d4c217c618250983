"""What a program may take back, and the hours and the pause in which no crawl runs."""

from typing import Any

import pytest

from clearinghouse.library import services as library
from clearinghouse.library.models import Document, Project
from crawler.launching import quiet_hours
from crawlpoints.panel import api
from crawlpoints.queries import excludes_of, points_of
from tests.api.conftest import ROOT

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def second_document(project: Project, editor: Any) -> Document:
    document = library.add_document("Patient safety indicators", project=project.name)
    library.assign(document, editor)
    return document


def test_what_was_done_to_several_rows_is_taken_back(
    program: Any, editor: Any, manager: Any, document: Document, second_document: Document
) -> None:
    asks = program(editor).ask
    sheet = f"url,root_string,depth_limit\n{ROOT}a.html,{ROOT},2\n"
    of_document, undo = f"documents/{document.pk}/", f"documents/{document.pk}/undo/"
    assert asks("POST", of_document + "crawl-points/import/", {"csv": sheet})[1]["undo"] == ""
    asks("POST", of_document + "crawl-points/import/", {"csv": sheet, "save": True})
    changed = asks("POST", of_document + "crawl-points/import/", {"csv": sheet.replace(",2", ",5"), "save": True})[1]
    for person, address, sent in (
        (manager, undo, changed["undo"]),
        (editor, f"documents/{second_document.pk}/undo/", changed["undo"]),
        (editor, undo, changed["undo"][:-3] + "abc"),
        (editor, undo, ""),
    ):
        assert program(person).ask("POST", address, {"undo": sent})[0] == 422
    assert points_of(document).get().depth == 5
    assert asks("POST", undo, {"undo": changed["undo"]}) == (200, {"count": 1, "left": []})
    assert points_of(document).get().depth == 2
    added = asks("POST", of_document + "exclude-urls/import/", {"csv": f"{ROOT}x/*", "save": True})[1]
    assert asks("POST", undo, {"undo": added["undo"]})[1]["count"] == 1 and not excludes_of(document).exists()
    point = points_of(document).get()
    limits = asks("POST", of_document + "crawl-points/set/", {"crawl_points": [point.pk], "max_pages": 9})[1]
    asks("PATCH", f"{of_document}crawl-points/{point.pk}/", {"depth": 3, "version": point.version + 1})
    assert asks("POST", undo, {"undo": limits["undo"]})[1] == {"count": 0, "left": [point.url]}
    assert points_of(document).get().max_pages == 9


def test_a_change_is_taken_back_within_an_hour(
    program: Any, editor: Any, document: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    asks, address = program(editor).ask, f"documents/{document.pk}/"
    done = asks("POST", address + "exclude-urls/import/", {"csv": f"{ROOT}x/*", "save": True})[1]
    monkeypatch.setattr(api, "UNDO_SECONDS", -1)
    status, answer = asks("POST", address + "undo/", {"undo": done["undo"]})
    assert status == 422 and "more than an hour old" in answer["fields"]["undo"][0]


def test_quiet_hours_and_the_pause_of_all_crawls(program: Any, administrator: Any, reader: Any) -> None:
    asks = program(administrator).ask
    week = {"days": [{"weekday": 0, "hours": [0, 8]}, {"weekday": 6, "hours": [23]}]}
    assert asks("PUT", "quiet-hours/", week)[1]["days"] == week["days"]
    assert (
        quiet_hours.week().hours.count("1") == 3 and quiet_hours.week().hours[8] == quiet_hours.week().hours[167] == "1"
    )
    assert program(reader).ask("GET", "quiet-hours/")[1]["days"] == week["days"]
    assert asks("PUT", "quiet-hours/", {"days": week["days"] * 2})[0] == 422
    assert asks("PUT", "quiet-hours/", {"days": [{"weekday": 7, "hours": []}]})[0] == 422
    paused = asks("POST", "quiet-hours/pause/", {"paused": True, "note": "storm"})[1]
    assert (paused["paused_by"], paused["note"], paused["silent_now"]) == ("administrator", "storm", True)
    assert asks("POST", "quiet-hours/pause/", {"paused": False})[1]["paused_by"] == ""
    assert asks("PUT", "quiet-hours/", {"days": []})[1]["days"] == []
