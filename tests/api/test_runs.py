"""Runs by program: launch, look, control; and the setting that lets others launch."""

from typing import Any

import pytest

from clearinghouse.accounts import options
from clearinghouse.library.models import Document
from crawler.models import Event, LedgerEntry, Run

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])


def test_an_administrator_launches_and_controls(
    program: Any, administrator: Any, document: Document, point: Any
) -> None:
    asks = program(administrator).ask
    status, run = asks("POST", "runs/", {"documents": [document.pk], "note": "by night", "max_seconds": 60})
    assert (status, run["state"], run["origin"], run["requested_by"]) == (201, "waiting", "api", "administrator")
    address = f"runs/{run['id']}/"
    assert asks("POST", f"{address}do/pause/")[1]["asked"] == "pause"
    assert asks("POST", f"{address}speed/", {"speed": "fast"})[1]["speed"] == "fast"
    assert asks("POST", f"{address}do/resume/")[0] == 200
    assert asks("POST", f"{address}apply-excludes/", {"document": document.pk})[0] == 200
    assert asks("POST", f"{address}do/cancel/")[1]["state"] == "stopping"
    assert asks("POST", f"{address}do/fly/")[0] == 404
    assert asks("GET", f"{address}events/")[1]["count"] == Event.objects.filter(run=run["id"]).count() > 3


def test_what_the_run_does_not_allow_is_a_conflict(
    program: Any, administrator: Any, document: Document, point: Any
) -> None:
    asks = program(administrator).ask
    assert asks("POST", "runs/", {"documents": [document.pk]})[0] == 201
    status, refusal = asks("POST", "runs/", {"documents": [document.pk]})
    assert (status, refusal["code"]) == (409, "wrong_moment")
    Run.objects.update(state="finished")
    assert asks("POST", f"runs/{Run.objects.get().pk}/do/pause/")[0] == 409


def test_nobody_else_launches(program: Any, editor: Any, manager: Any, document: Document, point: Any) -> None:
    for person in (editor, manager):
        assert program(person).ask("POST", "runs/", {"documents": [document.pk]})[0] == 403
    assert not Run.objects.exists()


def test_with_the_setting_a_developer_launches_and_controls_what_is_theirs_only(
    program: Any, editor: Any, document: Document, other_document: Document, point: Any
) -> None:
    options.choose({options.DEVELOPERS_LAUNCH: "yes"})
    asks = program(editor).ask
    assert asks("POST", "runs/", {"documents": [document.pk, other_document.pk]})[0] == 404
    status, run = asks("POST", "runs/", {"all": True})
    assert (status, run["counts"]["documents"]) == (201, 1)
    assert asks("POST", f"runs/{run['id']}/do/pause/")[0] == 200
    assert asks("POST", "runs/", {"all": True, "propagate_after": True})[0] == 403


def test_a_run_over_other_documents_too_is_not_a_developers_to_stop(program: Any, editor: Any, run: Run) -> None:
    options.choose({options.DEVELOPERS_LAUNCH: "yes"})
    status, refusal = program(editor).ask("POST", f"runs/{run.pk}/do/stop/")
    assert (status, refusal["code"]) == (403, "refused")
    assert Run.objects.get(pk=run.pk).control == ""


def test_lists_hold_what_a_person_may_see_and_no_more(
    program: Any, editor: Any, administrator: Any, document: Document, run: Run
) -> None:
    mine, every = program(editor).ask, program(administrator).ask
    address = f"runs/{run.pk}/"
    assert mine("GET", address)[1]["counts"]["documents"] == 1
    assert every("GET", address)[1]["counts"]["documents"] == 2
    seen = mine("GET", f"{address}urls/?rows=200")[1]
    assert {row["document_id"] for row in seen["items"]} == {document.pk}
    assert seen["count"] == mine("GET", address)[1]["counts"]["found"]
    skipped = mine("GET", f"{address}urls/?outcome=skipped&reason=outside_root")[1]
    assert {row["reason"] for row in skipped["items"]} == {"outside_root"}
    foreign = LedgerEntry.objects.exclude(doc_id=document.pk).filter(version_id__isnull=False).earliest("id")
    assert mine("GET", f"{address}pages/{foreign.pk}/")[0] == 404
    assert every("GET", f"{address}pages/{foreign.pk}/")[0] == 200


def test_pages_of_a_list_meet_without_gap_or_overlap(program: Any, administrator: Any, run: Run) -> None:
    asks = program(administrator).ask
    whole = asks("GET", f"runs/{run.pk}/urls/?rows=200")[1]
    parts = []
    for number in range(1, 100):
        page = asks("GET", f"runs/{run.pk}/urls/?rows=7&page={number}")[1]
        parts += page["items"]
        if number >= page["pages"]:
            break
    assert parts == whole["items"]
    assert asks("GET", f"runs/{run.pk}/urls/?rows=7&page=900")[1]["items"] == []


def test_a_list_of_runs_costs_the_same_for_twice_the_runs(
    program: Any, administrator: Any, run: Run, django_assert_num_queries: Any
) -> None:
    asks = program(administrator).ask
    asks("GET", "runs/")
    for _ in range(2):
        with django_assert_num_queries(3, using="webcrawl"):
            assert asks("GET", "runs/?rows=1")[0] == 200
