"""Crawl points and runs to look at."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.utils import timezone

from clearinghouse.library.models import Document
from crawler.models import Excursion, Run
from crawlpoints import services
from crawlpoints.models import CrawlPoint

URL = "https://example.gov/measures/"
VALUES: dict[str, Any] = {"url": URL, "root": URL, "depth": 3, "max_pages": 500}


@pytest.fixture
def point(document: Document) -> CrawlPoint:
    return services.add_crawl_point(document, VALUES)[0]


@pytest.fixture
def protected(document: Document) -> CrawlPoint:
    values = {"url": "https://data.example.org/", "root": "https://data.example.org/"}
    return services.add_crawl_point(document, values | {"auth_type": 1, "login": "me", "password": "canary-7Q"})[0]


@pytest.fixture
def entries() -> dict[str, str]:
    """What a browser sends when the dialog is filled in and saved."""
    return {
        "url": "https://example.gov/list/index.html", "root": "https://example.gov/list/", "depth": "2",
        "max_pages": "", "auth_type": "0", "active": "on", "drop_sessions": "on", "stop_traps": "on",
        "excludes": "", "excludes_opened": "[]", "do": "save",
    }  # fmt: skip


@pytest.fixture
def crawled() -> Callable[..., Excursion]:
    """crawled(document, pages=3, failed=1, days=2): an ended excursion of that age."""

    def make(document: Document, days: int = 0, state: str = "finished", **counts: Any) -> Excursion:
        at = timezone.now() - timedelta(days=days)
        run = Run.objects.create(state=state, requested_by="admin", created_at=at, started_at=at, finished_at=at)
        counts["crawled"] = counts.pop("pages", 0)
        return Excursion.objects.create(
            run=run, doc_id=document.pk, title=document.title, state=state, unfinished=False, finished_at=at, **counts
        )

    return make


@pytest.fixture
def running() -> Callable[[Document], Excursion]:
    def make(document: Document) -> Excursion:
        run = Run.objects.create(state="running", requested_by="admin", created_at=timezone.now())
        return Excursion.objects.create(
            run=run, doc_id=document.pk, title=document.title, state="running", crawled=4, queued=6, skipped=3
        )

    return make
