"""The bell of a preview may be lost; the tick rings it again."""

from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clearinghouse import queues
from clearinghouse.library.models import Document
from crawler import tick
from crawler.intake import snapshot_of
from crawler.models import Preview
from crawler.preview import rows
from crawlpoints.models import CrawlPoint

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def rung(monkeypatch: pytest.MonkeyPatch) -> list[tuple[Any, ...]]:
    """Every ring of the bell."""
    found: list[tuple[Any, ...]] = []
    monkeypatch.setattr(queues, "ring", lambda *ring: bool(found.append(ring)) or True)
    monkeypatch.setattr(queues, "waiting", lambda queue: 0)
    return found


def aged(row: Preview, **ago: float) -> Preview:
    Preview.objects.filter(pk=row.pk).update(asked_at=timezone.now() - timedelta(**ago))
    return row


def test_a_preview_that_nobody_began_is_rung_again(
    document: Document, point: CrawlPoint, rung: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(rows, "OF_A_DOCUMENT", 5)
    lost, fresh, begun, stopped, old = (rows.ask(snapshot_of(document), f"person {n}", {}) for n in range(5))
    for row in (lost, begun, stopped):
        aged(row, seconds=30)
    aged(old, days=1)
    rows.begin(begun.pk)
    rows.stop(stopped)
    rung.clear()
    tick.Tick().round()
    assert [ids for _, job, *ids in rung if job == rows.JOB] == [[lost.pk]]
    assert fresh.started_at is None


def test_while_bells_wait_none_is_added(
    document: Document, point: CrawlPoint, rung: list[Any], monkeypatch: pytest.MonkeyPatch
) -> None:
    aged(rows.ask(snapshot_of(document), "editor", {}), seconds=30)
    monkeypatch.setattr(queues, "waiting", lambda queue: 3)
    rung.clear()
    rows.ring_lost(timezone.now())
    assert rung == []
