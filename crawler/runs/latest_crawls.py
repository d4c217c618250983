"""The newest crawl of each document that says what the document is like: one that came to its end.

Crawls of a part of a document say nothing of the rest, and a crawl that was stopped says nothing of what it did not
reach. A cancelled one, and one that somebody left out, count nowhere: the crawl before them does.
"""

from collections import defaultdict
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime

from django.db.models import Exists, F, Max, OuterRef, Q, QuerySet, Window
from django.db.models.functions import RowNumber

from ..models import OPEN_STATES, Excursion, State

ENDED = tuple(state for state in State if state not in OPEN_STATES)
COMPLETE = (State.FINISHED, State.FINISHED_AT_LIMIT)
KEPT = (*COMPLETE, State.STOPPED)  # ends that keep what was stored
LEFT_OUT = "left_out"  # where a state is told
RUNS_SHOWN = 12
_LAST = ("id", "doc_id", "run_id", "state", "finished_at", "crawled", "unchanged", "failed")


@dataclass(frozen=True, slots=True)
class LastCrawl:
    """The newest crawl of a document that counts, and how a newer one ended that does not."""

    excursion_id: int
    run_id: int
    state: str
    at: datetime | None
    pages: int
    errors: int
    since: str = ""  # stopped, cancelled, failed, left_out: what became of a newer crawl
    since_run: int = 0

    @property
    def failed(self) -> bool:
        """By a fault of ours, the last time it was tried."""
        return (self.since or self.state) == State.FAILED


def complete_crawls() -> QuerySet[Excursion]:
    """What other crawls are compared with."""
    return Excursion.objects.filter(state__in=COMPLETE, part="", left_out_at=None)


def known_crawls() -> QuerySet[Excursion]:
    """The same; of a document without any, what was stopped or failed: nothing else is known of it."""
    complete = complete_crawls().filter(doc_id=OuterRef("doc_id"))
    alone = Q(state__in=(State.STOPPED, State.FAILED)) & ~Exists(complete)
    return Excursion.objects.filter(Q(state__in=COMPLETE) | alone, part="", left_out_at=None)


def complete_before(excursion: Excursion) -> QuerySet[Excursion]:
    """The complete crawls of the document before this one, newest first."""
    return complete_crawls().filter(doc_id=excursion.doc_id, id__lt=excursion.pk).order_by("-id")


def shown_before(excursion: Excursion) -> bool:
    """Whether any crawl before it left pages that the document shows."""
    earlier = Excursion.objects.filter(doc_id=excursion.doc_id, id__lt=excursion.pk, state__in=KEPT)  # left out or not
    return earlier.exists()


def newest(rows: QuerySet[Excursion]) -> QuerySet[Excursion]:
    """Of these crawls, the newest of each document."""
    return Excursion.objects.filter(pk__in=rows.order_by().values("doc_id").annotate(last=Max("id")).values("last"))


def last_crawls(doc_ids: Collection[int] | None = None) -> dict[int, LastCrawl]:
    """By document; documents never crawled are missing. None: all documents."""
    known, ended = known_crawls(), Excursion.objects.filter(state__in=ENDED, part="")
    if doc_ids is not None:
        known, ended = known.filter(doc_id__in=doc_ids), ended.filter(doc_id__in=doc_ids)
    rows = newest(ended).values_list("doc_id", "id", "state", "run", "left_out_at")
    tried = {doc: (pk, LEFT_OUT if left_out else state, run) for doc, pk, state, run, left_out in rows}
    found = {}
    for pk, doc, run, state, at, crawled, unchanged, failed in newest(known).values_list(*_LAST):
        newer, since, since_run = tried.get(doc, (pk, "", 0))
        told = (since, since_run) if newer > pk else ("", 0)
        found[doc] = LastCrawl(pk, run, state, at, crawled + unchanged, failed, *told)
    return found


def lately(rows: QuerySet[Excursion], count: int = RUNS_SHOWN) -> QuerySet[Excursion]:
    """Of these crawls, the last ones of each document."""
    place = Window(RowNumber(), partition_by=F("doc_id"), order_by=F("id").desc())
    return rows.annotate(place=place).filter(place__lte=count)


def trends(doc_ids: Collection[int]) -> dict[int, list[int]]:
    """Pages of the last crawls of each document, oldest first."""
    rows = lately(known_crawls().filter(doc_id__in=doc_ids)).order_by("doc_id", "id")
    found: dict[int, list[int]] = defaultdict(list)
    for doc_id, pages in rows.values_list("doc_id", F("crawled") + F("unchanged")):
        found[doc_id].append(pages)
    return found
