"""What the panel of a document can do, by program: looks at a site, drafts, imports, notes, pages, crawls, plans."""

from typing import Any

import pytest
from django.core.cache import cache
from django.test import Client

from clearinghouse.accounts.keys import api_keys
from clearinghouse.library.models import Document
from crawler.models import PageHead, PageVersion, Preview, Run, Schedule
from crawlpoints import jobs, saved_views, services
from crawlpoints.models import DocumentNote, Import
from crawlpoints.queries import excludes_of, points_of
from tests.api.conftest import ROOT
from tests.sites import forms
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_an_address_is_fetched_now(program: Any, reader: Any, document: Document) -> None:
    with serve({"/m/": Page(["/m/a", "/other"])}) as site:
        services.add_crawl_point(document, {"url": site.url("/m/"), "root": site.url("/m/")})
        status, seen = program(reader).ask("POST", f"documents/{document.pk}/fetch/", {"url": site.url("/m/")})
    assert status == 200 and seen["good"] and seen["hops"][0]["status"] == 200
    assert seen["links_in"] == [site.url("/m/a")]
    assert seen["links_out"] == [{"url": site.url("/other"), "why": "outside the root string"}]


def test_what_is_not_saved_is_tested_by_who_may_save_it(
    program: Any, editor: Any, reader: Any, document: Document, point: Any
) -> None:
    address = f"documents/{document.pk}/explain/"
    asked = {"urls": [f"{ROOT}print/1"], "found_on": f"{ROOT}index.html"}
    asks = program(editor).ask
    assert asks("POST", address, asked)[1]["items"][0]["verdict"] == "yes"
    more = asked | {"exclude": f"{ROOT}print/*"}
    assert asks("POST", address, more)[1]["items"][0]["reason"] == "excluded"
    draft = {"id": point.pk, "url": f"{ROOT}index.html", "root": "https://elsewhere.example/"}
    assert asks("POST", address, asked | {"draft": draft})[1]["items"][0]["reason"] == "outside_root"
    assert asks("POST", address, asked | {"draft": draft | {"id": 999}})[0] == 404
    assert program(reader).ask("POST", address, asked | {"draft": draft})[0] == 403
    point.refresh_from_db()
    assert point.root == ROOT and not excludes_of(document).exists()


def test_a_preview_of_unsaved_entries_and_of_one_more_exclude(
    program: Any, editor: Any, document: Document, point: Any
) -> None:
    asks = program(editor).ask
    address = f"documents/{document.pk}/previews/"
    draft = {"url": f"{ROOT}new.html", "root": ROOT, "depth": 1}
    status, row = asks("POST", address, {"draft": draft, "exclude": f"{ROOT}print/*"})
    snapshot = Preview.objects.get(pk=row["id"]).snapshot
    assert status == 201 and snapshot["excludes"] == [f"{ROOT}print/*"]
    assert [one["url"] for one in snapshot["points"]] == [f"{ROOT}new.html"]
    assert points_of(document).count() == 1


def test_a_sign_in_form_is_found_and_tried(program: Any, editor: Any, document: Document) -> None:
    cache.clear()
    asks = program(editor).ask
    with forms.serve() as site:
        found = asks("POST", f"documents/{document.pk}/sign-in/detect/", {"url": site.url("/sign-in")})[1]
        assert found["password_field"] and not found["problem"]
    tried = f"documents/{document.pk}/sign-in/test/"
    assert asks("POST", tried, {})[0] == 422
    url = f"{ROOT}index.html"
    values = {"url": url, "root": ROOT, "auth_type": 1, "login": "r", "password": "swordfish"}
    saved = services.add_crawl_point(document, values)[0]
    moved = {"id": saved.pk, "url": "http://127.0.0.1:1/", "root": "http://127.0.0.1:1/", "authentication": "basic"}
    refused = asks("POST", tried, {"draft": moved})[1]
    assert not refused["good"] and "save first" in refused["verdict"] and not refused["steps"]


def test_crawl_points_and_excludes_are_imported_after_a_look(program: Any, editor: Any, document: Document) -> None:
    asks = program(editor).ask
    sheet = f"url,root_string,depth_limit\n{ROOT}a.html,{ROOT},2\nnonsense,,\n"
    address = f"documents/{document.pk}/crawl-points/import/"
    looked = asks("POST", address, {"csv": sheet})[1]
    assert [line["outcome"] for line in looked["lines"]] == ["add", "error"] and not looked["saved"]
    assert not points_of(document).exists()
    done = asks("POST", address, {"csv": sheet, "save": True})[1]
    assert done["added"] == [points_of(document).get().pk]
    changed = asks("POST", address, {"csv": sheet.replace(",2\n", ",5\n"), "save": True})[1]
    assert changed["changed"] == 1 and changed["lines"][0]["changes"][0]["new"] == "5"
    assert asks("POST", address, {"csv": "no heading\n"})[0] == 422
    added = asks("POST", f"documents/{document.pk}/exclude-urls/import/", {"csv": f"{ROOT}x/*", "save": True})[1]
    assert added["added"] == [excludes_of(document).get().pk]


def test_notes_are_written_deleted_and_restored(program: Any, editor: Any, reader: Any, document: Document) -> None:
    asks = program(editor).ask
    address = f"documents/{document.pk}/notes/"
    note = asks("POST", address, {"text": "ask Amira"})[1]
    assert note["author"] == "editor" and asks("POST", address, {"text": " "})[0] == 422
    assert program(reader).ask("GET", address)[1]["items"][0]["text"] == "ask Amira"
    assert asks("DELETE", f"{address}{note['id']}/")[1]["deleted"]
    assert program(reader).ask("GET", f"{address}?deleted=true")[0] == 403
    assert asks("GET", f"{address}?deleted=true")[1]["count"] == 1
    assert asks("POST", f"{address}{note['id']}/restore/")[0] == 200 and DocumentNote.objects.count() == 1


def test_stored_pages_and_crawls_of_a_document(
    program: Any, editor: Any, stranger: Any, document: Document, run: Run
) -> None:
    for version in PageVersion.objects.filter(doc_id=document.pk):
        PageHead.objects.create(doc_id=document.pk, url_key=version.url_key, version_id=version.pk)
    asks = program(editor).ask
    address = f"documents/{document.pk}/"
    pages = asks("GET", f"{address}pages/?sort=-url&type=HTML")[1]
    assert pages["count"] == PageHead.objects.count() > 3
    first = pages["items"][0]
    assert asks("GET", f"runs/{first['last_run_id']}/urls/{first['address_id']}/why/")[0] == 200
    crawls = asks("GET", f"{address}runs/")[1]["items"]
    assert [(one["run_id"], one["state"]) for one in crawls] == [(run.pk, "running")]
    assert program(stranger).ask("GET", f"{address}runs/")[0] == 404


def test_a_crawl_is_planned_turned_off_and_deleted(
    program: Any, administrator: Any, editor: Any, document: Document, point: Any
) -> None:
    asks = program(administrator).ask
    sent = {"documents": [document.pk], "every": "week", "at": "02:00", "weekdays": [6], "speed": "medium"}
    status, plan = asks("POST", "schedules/", sent)
    assert (status, plan["what"], plan["documents"], plan["active"]) == (201, "Chosen documents", 1, True)
    assert plan["when"] == "Every Sunday at 02:00" and plan["next_at"]
    assert asks("POST", "schedules/", sent | {"weekdays": []})[1]["fields"] == {
        "weekdays": ["Choose at least one day of the week"]
    }
    assert asks("POST", "schedules/", {"all": True, "every": "once", "at": "02:00", "date": "2020-01-01"})[0] == 422
    assert asks("POST", "schedules/", {"every": "day", "at": "02:00", "project": "none"})[0] == 404
    address = f"schedules/{plan['id']}/"
    assert asks("PATCH", address, {"active": False})[1]["next_at"] is None
    theirs = program(editor).ask
    assert theirs("GET", "schedules/")[1]["count"] == 1 and theirs("PATCH", address, {"active": True})[0] == 403
    assert theirs("POST", "schedules/", sent)[0] == 403
    assert asks("DELETE", address)[1] == {"id": plan["id"]} and not Schedule.objects.exists()


def test_a_launch_over_a_saved_view_of_ones_own(
    program: Any, administrator: Any, editor: Any, document: Document, point: Any
) -> None:
    view = saved_views.keep(administrator, "Mine", "view=all&q=hospital")
    theirs = saved_views.keep(editor, "Theirs", "view=all")
    asks = program(administrator).ask
    assert asks("POST", "runs/", {"view": theirs.pk})[0] == 404
    status, run = asks("POST", "runs/", {"view": view.pk})
    assert (status, run["counts"]["documents"]) == (201, 1)
    plan = asks("POST", "schedules/", {"view": view.pk, "every": "day", "at": "03:00"})[1]
    assert (plan["what"], plan["documents"]) == ("Saved view", 1)


def test_a_long_import_is_worked_on_followed_and_taken_back(program: Any, editor: Any, document: Document) -> None:
    asks = program(editor).ask
    sheet = "url\n" + "".join(f"{ROOT}page-{at}.html\n" for at in range(400))
    status, told = asks("POST", f"documents/{document.pk}/crawl-points/import/", {"csv": sheet})
    assert (status, told["saved"], told["lines"]) == (202, False, [])
    address = told["status"].removeprefix("/api/v1/")
    assert asks("GET", address)[1]["state"] == "reading"
    jobs.import_points(told["import_id"])
    found = asks("GET", address)[1]
    assert (found["state"], found["added"], found["first_lines"][0]["outcome"]) == ("read", 400, "add")
    assert asks("POST", f"documents/{document.pk}/crawl-points/import/", {"csv": sheet})[0] == 422, "one at a time"
    for order, state in (("import", "done"), ("undo", "taken_back")):
        assert asks("POST", f"{address}{order}/")[0] == 202
        while asks("GET", address)[1]["state"] != state:
            jobs.import_points(told["import_id"])
        assert asks("GET", f"documents/{document.pk}/crawl-points/")[1]["count"] == (400 if order == "import" else 0)
    assert asks("POST", f"{address}fly/")[0] == 404


def test_a_csv_may_be_the_body_itself_however_long(editor: Any, document: Document) -> None:
    _, key = api_keys.create(editor, "test")
    client = Client(headers={"Authorization": f"Bearer {key}"})
    sheet = "url\n" + "".join(f"{ROOT}page-{at}.html?{'x' * 2000}\n" for at in range(3000))
    address = f"/api/v1/documents/{document.pk}/crawl-points/import/?save=true"
    answer = client.post(address, sheet.encode(), content_type="text/csv")
    assert answer.status_code == 202 and Import.objects.get().lines == 3000 and Import.objects.get().at_once
    assert client.post(address, b"url\n\xff\xfe", content_type="text/csv").status_code == 422
    Import.objects.update(state="done")
    wrong = client.post(address, b"url\n\xff\xfe", content_type="text/csv")
    assert (wrong.status_code, wrong.json()["fields"]) == (422, {"csv": ["Send the CSV as UTF-8"]})
