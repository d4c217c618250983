"""The newest ended crawl of each document. Crawls of a part of a document say nothing of the rest and do not count."""

from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Max, QuerySet

from ..models import OPEN_STATES, Excursion, State

ENDED = tuple(state for state in State if state not in OPEN_STATES)
_LAST = ("id", "doc_id", "run_id", "state", "finished_at", "crawled", "unchanged", "failed")


@dataclass(frozen=True, slots=True)
class LastCrawl:
    """The newest ended excursion of a document."""

    excursion_id: int
    run_id: int
    state: str
    at: datetime | None
    pages: int
    errors: int


def whole_crawls() -> QuerySet[Excursion]:
    """Ended crawls of whole documents."""
    return Excursion.objects.filter(state__in=ENDED, part="")


def last_crawls(doc_ids: Collection[int] | None = None) -> dict[int, LastCrawl]:
    """By document; documents never crawled are missing. None: all documents."""
    ended = whole_crawls()
    if doc_ids is not None:
        ended = ended.filter(doc_id__in=doc_ids)
    newest = ended.values("doc_id").annotate(last=Max("id")).order_by().values("last")
    rows = Excursion.objects.filter(pk__in=newest).values_list(*_LAST)
    return {
        doc: LastCrawl(pk, run, state, at, crawled + unchanged, failed)
        for pk, doc, run, state, at, crawled, unchanged, failed in rows
    }
