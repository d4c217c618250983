"""What the run pages and the panel's commands do, by program: findings, comparisons, copies, requests, previews."""

from typing import Any

import pytest

from clearinghouse.audit.models import Entry
from clearinghouse.library import services as library
from clearinghouse.library.models import Document
from crawler.findings.diagnosis import diagnose_due
from crawler.models import CrawlRequest, Finding, Run
from crawlpoints import services
from crawlpoints.queries import points_of
from tests.crawler.runs.rows import make_run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


@pytest.fixture
def ended(document: Document, other_document: Document, point: Any) -> Run:
    run = make_run(document, other_document, state="finished", queued=0)
    diagnose_due()
    excursion = run.excursions.get(doc_id=document.pk)
    fix = {"label": "Deactivate", "point_id": point.pk, "change": {"active": 0}}
    values = {"run_id": run.pk, "doc_id": document.pk, "weight": 3, "rule": "start_failed", "sentence": "It fails."}
    Finding.objects.create(excursion=excursion, fixes=[fix, {"label": "Show", "to": "errors"}], **values)
    return run


def test_findings_are_read_decided_and_repaired(program: Any, editor: Any, ended: Run, point: Any) -> None:
    asks = program(editor).ask
    rows = asks("GET", f"runs/{ended.pk}/findings/?state=open")[1]["items"]
    assert {row["document_id"] for row in rows} == {points_document(point)}
    finding = next(row for row in rows if row["rule"] == "start_failed")
    assert [fix["can_be_done"] for fix in finding["fixes"]] == [True, False]
    address = f"findings/{finding['id']}/"
    status, decided = asks("POST", f"{address}decide/", {"state": "accepted", "note": "known"})
    assert (status, decided["state"], decided["note"], decided["decided_by"]) == (200, "accepted", "known", "editor")
    assert asks("POST", f"{address}fix/", {"fix": 1})[0] == 409
    assert asks("POST", f"{address}fix/", {"fix": 0})[1]["state"] == "solved"
    point.refresh_from_db()
    assert not point.active
    assert asks("GET", address)[1]["state"] == "solved"
    assert Entry.objects.filter(kind="finding", actor="editor").count() == 2


def points_document(point: Any) -> int:
    return point.links.get().document_id


def test_findings_of_others_do_not_exist_and_readers_decide_nothing(
    program: Any, stranger: Any, reader: Any, ended: Run
) -> None:
    row = Finding.objects.get(rule="start_failed")
    assert program(stranger).ask("GET", f"findings/{row.pk}/")[0] == 404
    assert program(stranger).ask("POST", f"findings/{row.pk}/decide/", {"state": "solved"})[0] == 404
    assert program(reader).ask("GET", f"findings/{row.pk}/")[0] == 200
    assert program(reader).ask("POST", f"findings/{row.pk}/decide/", {"state": "solved"})[0] == 403
    row.refresh_from_db()
    assert row.state == "open"


def test_sites_errors_changes_and_settings_of_a_run_are_what_its_pages_count(
    program: Any, editor: Any, document: Document, ended: Run
) -> None:
    asks = program(editor).ask
    run = f"runs/{ended.pk}/"
    counts = asks("GET", run)[1]["counts"]
    hosts = asks("GET", f"{run}hosts/?rows=200")[1]["items"]
    assert sum(row["pages"] for row in hosts) == counts["crawled"] + counts["unchanged"]
    errors = asks("GET", f"{run}errors/")[1]["items"]
    assert sum(row["count"] for row in errors if row["state"] != "solved") == counts["failed"] > 0
    changes = asks("GET", f"{run}documents/{document.pk}/changes/?kind=new")[1]
    assert changes["count"] and {row["kind"] for row in changes["items"]} == {"new"}
    used = asks("GET", f"{run}documents/{document.pk}/settings/")[1]
    assert used["crawl_points"][0]["authentication"] and used["excludes"]
    assert "reader" not in str(used) and "password" not in str(used).lower()
    assert asks("GET", f"{run}documents/999/settings/")[0] == 404


def test_two_runs_are_compared_document_by_document(
    program: Any, editor: Any, administrator: Any, document: Document, ended: Run
) -> None:
    later = make_run(document, state="finished", queued=0)
    address = f"runs/{ended.pk}/compare/{later.pk}/"
    mine, every = (program(person).ask("GET", address)[1] for person in (editor, administrator))
    assert (mine["count"], every["count"]) == (1, 2)
    assert [row["second"] is None for row in every["items"]] == [False, True]
    pages = program(editor).ask("GET", f"{address}documents/{document.pk}/?kind=different")[1]
    assert pages["count"] == mine["items"][0]["first"]["pages"]
    assert program(editor).ask("GET", f"runs/{ended.pk}/compare/999/")[0] == 404


def test_limits_are_set_for_several_crawl_points_or_for_none(program: Any, editor: Any, document: Document) -> None:
    keys = [add(document, name) for name in "ab"]
    asks = program(editor).ask
    address = f"documents/{document.pk}/crawl-points/set/"
    assert asks("POST", address, {"crawl_points": keys, "depth": 5, "active": False})[1]["changed"] == 2
    assert {(one.depth, one.active) for one in points_of(document)} == {(5, 0)}
    assert asks("POST", address, {"crawl_points": keys})[0] == 422
    assert asks("POST", address, {"crawl_points": [*keys, 999], "depth": 1})[0] == 404
    assert {one.depth for one in points_of(document)} == {5}


def test_crawl_points_are_copied_and_moved_to_documents_one_may_change(
    program: Any, editor: Any, document: Document, other_document: Document
) -> None:
    mine = library.add_document("Second", project=document.sheet.project.name)
    library.assign(mine, editor)
    keys = [add(document, name) for name in "ab"]
    asks = program(editor).ask
    address = f"documents/{document.pk}/crawl-points/copy/"
    assert asks("POST", address, {"crawl_points": keys, "document": other_document.pk})[0] == 404
    done = asks("POST", address, {"crawl_points": keys[:1], "document": mine.pk})[1]
    assert len(done["added"]) == 1 and not done["deleted"]
    done = asks("POST", address, {"crawl_points": keys, "document": mine.pk, "move": True})[1]
    assert (len(done["added"]), done["deleted"], len(done["refused"])) == (1, keys[1:], 1)
    assert points_of(mine).count() == 2 and points_of(document).count() == 1
    assert not points_of(other_document).exists()


def add(document: Document, name: str) -> int:
    url = f"https://quality.example.gov/{name}/"
    return services.add_crawl_point(document, {"url": url, "root": url})[0].pk


def test_who_may_not_launch_asks_for_a_crawl_or_to_stop_one(
    program: Any, editor: Any, document: Document, run: Run
) -> None:
    asks = program(editor).ask
    assert asks("POST", f"documents/{document.pk}/request-crawl/", {"note": "nothing to crawl"})[0] == 409
    add(document, "measures")
    assert asks("POST", f"documents/{document.pk}/request-crawl/", {"note": "new pages"})[0] == 409
    assert asks("POST", f"runs/{run.pk}/ask-to-stop/")[0] == 200
    log = asks("GET", f"runs/{run.pk}/events/")[1]["items"]
    assert log[0]["text"] == "editor asks to stop this run"
    run.excursions.update(unfinished=False, state="finished")
    status, request = asks("POST", f"documents/{document.pk}/request-crawl/", {"note": "new pages"})
    assert (status, request["state"], request["note"]) == (201, "waiting", "new pages")
    assert CrawlRequest.objects.get().asked_by == "editor"


def test_a_preview_is_asked_for_looked_at_and_stopped(
    program: Any, editor: Any, document: Document, point: Any
) -> None:
    asks = program(editor).ask
    status, preview = asks("POST", f"documents/{document.pk}/previews/", {"crawl_points": [point.pk]})
    assert (status, preview["started_at"], preview["pages"]) == (201, None, [])
    address = f"documents/{document.pk}/previews/{preview['id']}/"
    assert asks("POST", f"{address}stop/")[1]["stopped"] is True
    assert asks("GET", address)[1]["stopped"] is True
    assert asks("POST", f"documents/{document.pk}/previews/", {"crawl_points": [999]})[0] == 409


def test_the_history_of_a_document_masks_its_passwords(
    program: Any, editor: Any, reader: Any, document: Document
) -> None:
    url = "https://quality.example.gov/m/"
    values = {"url": url, "root": url, "auth_type": 1, "login": "r", "password": "swordfish"}
    services.add_crawl_point(document, values)
    rows = program(reader).ask("GET", f"documents/{document.pk}/history/")[1]["items"]
    assert rows[0]["sentence"].endswith(url) and rows[0]["after"]["url"] == url
    assert "swordfish" not in str(rows)
