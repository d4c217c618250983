"""Faults of ours are kept wherever they happen: once for each kind, without passwords, never at the cost of work."""

import logging
from typing import Any

import pytest
from django.db import transaction
from django.test import Client

from crawler.api import shapes
from crawler.liveness import error_log
from crawler.models import Fault

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
log = logging.getLogger("tests.faults")


def fail(text: str) -> None:
    try:
        raise KeyError(text)
    except KeyError:
        log.exception("Reading %r failed", "a.html")


def test_a_fault_of_a_web_page_stands_in_the_error_log(
    signed_in: Any, administrator: Any, document: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    def broken(*arguments: Any) -> None:
        raise RuntimeError("the inside of the house")

    monkeypatch.setattr(shapes, "document", broken)
    browser: Client = signed_in(administrator)
    browser.raise_request_exception = False
    assert browser.get(f"/api/v1/documents/{document.pk}/").status_code == 500
    row = Fault.objects.get()
    assert row.sentence == f"Internal Server Error: /api/v1/documents/{document.pk}/: RuntimeError: " + (
        "the inside of the house"
    )
    page = browser.get("/settings/errors/").content.decode()
    assert "the inside of the house" in page and "in broken" in page
    assert "the inside" not in browser.get("/settings/errors/?q=elsewhere").content.decode()


def test_what_comes_again_is_counted_and_what_is_no_fault_is_not_kept() -> None:
    for number in range(3):
        fail(f"key {number}")
    log.warning("a site is slow")
    logging.getLogger("django.security.DisallowedHost").error("Invalid HTTP_HOST header")
    logging.getLogger("rq.worker").error("Worker %s: could not connect to Redis instance: %s", "3f2a", "gone")
    row = Fault.objects.get()
    assert (row.times, row.sentence) == (3, "Reading 'a.html' failed: KeyError: 'key 2'")
    assert "in fail" in row.trace and row.first_at <= row.at


def test_a_traceback_that_a_worker_writes_into_its_line_is_taken_apart() -> None:
    log.error("job 7: exception raised\nTraceback (most recent call last):\n  line\nValueError: no\n")
    row = Fault.objects.get()
    assert row.sentence == "ValueError: no" and row.trace.startswith("job 7")


def test_no_password_and_no_sign_that_moves_a_cursor_is_kept() -> None:
    fail("postgres://us:C4n4ry@db/x password=C4n4ry, \x1b[31m {'api_key': 'my C4n4ry'} crawl_pw_str=C4n4ry")
    row = Fault.objects.get()
    assert "C4n4ry" not in row.sentence + row.trace and "\x1b" not in row.sentence + row.trace
    assert "postgres://…@db/x" in row.sentence


def test_only_so_many_kinds_are_kept(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(error_log, "MOST", 3)
    for number in range(6):
        log.error("kind %s" % number)  # noqa: UP031 - each its own kind
    assert sorted(Fault.objects.values_list("sentence", flat=True)) == ["kind 3", "kind 4", "kind 5"]


def test_a_fault_that_cannot_be_kept_harms_nothing(monkeypatch: pytest.MonkeyPatch) -> None:
    with transaction.atomic(using="webcrawl"):
        Fault.objects.all().delete()
        monkeypatch.setattr(Fault._meta, "db_table", "nowhere")
        fail("x")
        monkeypatch.undo()
        assert not Fault.objects.exists()  # the transaction lives
