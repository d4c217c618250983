"""Documents with crawl points, and runs driven in this process over real HTTP."""

from collections.abc import Callable
from typing import Any

import pytest

from clearinghouse.library.models import Document, Sheet
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.models import LedgerEntry, Run
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl


def make_document(*points: dict[str, Any], excludes: tuple[str, ...] = (), title: str = "Measures") -> Document:
    document = Document()
    document.save()
    Sheet(document=document, title=title).save()
    for values in points:
        point = CrawlPoint(**{"root": values["url"][: values["url"].rindex("/") + 1], "depth": 9} | values)
        point.save()
        CrawlPointLink(document=document, crawl_point=point).save()
    for pattern in excludes:
        ExcludeUrl(document=document, pattern=pattern).save()
    return document


def crawl(*documents: Document, **options: Any) -> Run:
    run = launch(LaunchRequest([d.pk for d in documents] or None, by="test", **{"speed": "fast"} | options))
    return go_on(run)


def go_on(run: Run) -> Run:
    initialize(run)
    InstanceLoop(run).work()
    run.refresh_from_db()
    return run


@pytest.fixture
def ledger() -> Callable[[Run], dict[str, str]]:
    """path -> outcome, or reason where there is one."""

    def read(run: Run) -> dict[str, str]:
        rows = LedgerEntry.objects.filter(excursion__run=run)
        return {"/" + row.url.split("/", 3)[-1]: row.reason or row.outcome for row in rows}

    return read
