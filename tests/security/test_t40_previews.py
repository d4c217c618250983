"""Threat T40: previews of silent sites keep the launches of everybody waiting.

Previews have a queue and a worker of their own; a person has one open, a document a few.
"""

import socket
from datetime import timedelta
from typing import Any

import pytest
from django.urls import reverse
from django.utils import timezone

from clearinghouse.library.models import Document
from clearinghouse.operations import work_queues
from crawler.errors import TooManyAtOnce
from crawler.launching.launch import snapshot_of
from crawler.models import Preview
from crawler.preview import preview_rows
from crawlpoints import services
from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House, until

pytestmark = pytest.mark.django_db(databases="__all__")
__all__ = ["house", "prepared_folder"]
URL = "https://quality.example.gov/measures/"


@pytest.fixture
def document_with_point(document: Document) -> Document:
    services.add_crawl_point(document, {"url": URL, "root": URL, "depth": 2})
    return document


def test_t40_a_person_has_one_open_preview_by_whatever_way(
    editor: Any, signed_in: Any, program: Any, document_with_point: Document
) -> None:
    document, browser, asks = document_with_point, signed_in(editor), program(editor)
    open_one = preview_rows.ask(snapshot_of(document), "editor", {})
    said = "Your preview has not ended: wait for it, or stop it"
    assert asks.ask("POST", f"documents/{document.pk}/previews/", {}) == (
        429,
        {"code": "too_many", "error": f"{said}."},
    )
    refused = browser.post(reverse("preview-start", args=[document.pk]))
    assert refused.status_code == 429 and said in refused.content.decode() and refused.headers["Retry-After"]
    typed = {"url": URL, "root": URL, "depth": "2", "auth_type": "0", "note": "typed before", "do": "preview"}
    refused = browser.post(reverse("crawl-point-new", args=[document.pk]), typed)
    assert (
        refused.status_code == 429 and said in refused.content.decode() and "typed before" in refused.content.decode()
    )
    assert Preview.objects.count() == 1
    preview_rows.stop(open_one)
    assert asks.ask("POST", f"documents/{document.pk}/previews/", {})[0] == 201


def test_t40_whoever_asks_and_stops_in_turn_holds_two_workers_at_most(document_with_point: Document) -> None:
    """A worker whose preview was stopped stays with the silent site until that page has ended."""
    snapshot = snapshot_of(document_with_point)
    for _ in range(2):
        row = preview_rows.ask(snapshot, "editor", {})
        assert preview_rows.begin(row.pk)
        preview_rows.stop(row)
    with pytest.raises(TooManyAtOnce, match="Previews that you stopped are still waiting"):
        preview_rows.ask(snapshot, "editor", {})
    preview_rows.ask(snapshot, "somebody else", {})
    preview_rows.report(row, {}, finished=True)
    assert preview_rows.ask(snapshot, "editor", {}).pk


def test_t40_an_administrator_is_told_at_the_launch_form(
    administrator: Any, signed_in: Any, document_with_point: Document
) -> None:
    preview_rows.ask(snapshot_of(document_with_point), administrator.get_username(), {})
    sent = {"what": "chosen", "doc": document_with_point.pk, "only": "preview", "speed": "polite", "when": "now"}
    refused = signed_in(administrator).post(reverse("launch"), sent)
    assert refused.status_code == 429 and "has not ended: wait for it" in refused.content.decode()


def test_t40_a_document_has_a_few(document_with_point: Document, other_document: Document) -> None:
    snapshot = snapshot_of(document_with_point)
    for number in range(preview_rows.OF_A_DOCUMENT):
        preview_rows.ask(snapshot, f"person {number}", {})
    with pytest.raises(TooManyAtOnce, match="3 people are previewing this document"):
        preview_rows.ask(snapshot, "one more", {})
    preview_rows.ask(snapshot_of(other_document), "one more", {})
    with pytest.raises(TooManyAtOnce, match=f"Your preview of document {other_document.pk} has not ended"):
        preview_rows.ask(snapshot, "one more", {})


def test_t40_what_nobody_looks_at_any_more_is_not_open(document_with_point: Document) -> None:
    snapshot, now = snapshot_of(document_with_point), timezone.now()
    for values in ({"started_at": now - timedelta(minutes=5)}, {"asked_at": now - timedelta(hours=2)},
                   {"started_at": now, "finished_at": now}):  # fmt: skip
        row = preview_rows.ask(snapshot, "editor", {})
        Preview.objects.filter(pk=row.pk).update(**values)
    assert preview_rows.ask(snapshot, "editor", {}).pk


def test_t40_of_two_asked_for_at_the_same_moment_one_goes(
    document_with_point: Document, monkeypatch: pytest.MonkeyPatch
) -> None:
    """The other one's row is there between our look and our own row."""
    snapshot, create = snapshot_of(document_with_point), Preview.objects.create
    woken: list[object] = []

    def both(**values: Any) -> Preview:
        create(**values)
        return create(**values)

    monkeypatch.setattr(work_queues, "_enqueue", lambda *told: woken.append(told))
    monkeypatch.setattr(Preview.objects, "create", both)
    with pytest.raises(TooManyAtOnce):
        preview_rows.ask(snapshot, "editor", {})
    assert Preview.objects.count() == 1 and woken == []


_TWELVE = """
from clearinghouse.library.models import Document
from crawler.preview import preview_rows
from crawler.values import PointSettings, Snapshot
for number in range(12):
    doc = Document.objects.order_by("pk")[number // 3].pk
    point = PointSettings(1, "http://127.0.0.1:%d/", "http://127.0.0.1:%d/", ignore_robots=True)
    preview_rows.ask(Snapshot(doc, (point,)), f"person {number}", {})
"""


def test_t40_a_launch_starts_at_once_while_twelve_previews_wait_for_a_silent_site(house: House) -> None:
    with socket.create_server(("127.0.0.1", 0)) as silent:
        port = silent.getsockname()[1]
        house.env["CLEARINGHOUSE_ALLOWED_NETWORKS"] += f",127.0.0.1:{port}"
        house.manage("load_demo")
        house.start_everything()
        asked = house.run("shell", "-c", _TWELVE % (port, port))
        assert asked.returncode == 0, asked.stderr
        begun = "SELECT COUNT(*) FROM preview WHERE started_at IS NOT NULL"
        until(lambda: house.rows("webcrawl", begun)[0][0], "the first preview waits for the site", 60)
        run = house.manage("launch", "--doc", 2)["run"]
        until(lambda: house.crawled(run), "the crawl has begun", 20)
        assert house.rows("webcrawl", "SELECT COUNT(*) FROM preview WHERE finished_at IS NULL")[0][0] >= 10
