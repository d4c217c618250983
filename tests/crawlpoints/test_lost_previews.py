"""The bell of a preview may be lost; the tick rings it again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clearinghouse.library.models import Document
from clearinghouse.operations import work_queues
from crawler.launching.launch import snapshot_of
from crawler.models import Preview
from crawler.preview import preview_rows
from crawler.upkeep import tick
from crawlpoints.models import CrawlPoint

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def woken(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Every job a worker was woken for, and its ids."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(work_queues, "_enqueue", lambda *job: found.append(job))
    monkeypatch.setattr(work_queues, "waiting", lambda queue: 0)
    return found


def aged(row: Preview, **ago: float) -> Preview:
    Preview.objects.filter(pk=row.pk).update(asked_at=timezone.now() - timedelta(**ago))
    return row


def test_a_worker_is_woken_again_for_a_preview_that_nobody_began(
    document: Document, point: CrawlPoint, woken: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(preview_rows, "OF_A_DOCUMENT", 5)
    lost, fresh, begun, stopped, old = (preview_rows.ask(snapshot_of(document), f"person {n}", {}) for n in range(5))
    for row in (lost, begun, stopped):
        aged(row, seconds=30)
    aged(old, days=1)
    preview_rows.begin(begun.pk)
    preview_rows.stop(stopped)
    woken.clear()
    tick.Tick().round()
    assert [ids for job, ids in woken if job is work_queues.Job.PREVIEW] == [(lost.pk,)]
    assert fresh.started_at is None


def test_while_jobs_wait_none_is_added(
    document: Document, point: CrawlPoint, woken: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(preview_rows.ask(snapshot_of(document), "editor", {}), seconds=30)
    monkeypatch.setattr(work_queues, "waiting", lambda queue: 3)
    woken.clear()
    preview_rows.wake_workers_again(timezone.now())
    assert woken == []
