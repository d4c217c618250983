"""What planned crawls will meet: documents with active crawl points, and how many pages each had last time."""

from collections.abc import Iterable
from dataclasses import dataclass
from datetime import datetime

from django.db.models import QuerySet

from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPointLink

from ..errors import UnknownView
from ..models import Schedule
from ..runs.latest_crawls import last_crawls
from ..runs.run_counts import Docs
from .schedules import ALL, CHOSEN, POINT, PROJECT, VIEW, doc_ids_of


@dataclass(frozen=True, slots=True)
class PlannedPages:
    documents: int
    pages: int  # of their latest crawls


def documents_with_points() -> dict[int, int | None]:
    """Every document that a launch would crawl, with its project; two queries."""
    links = CrawlPointLink.objects.filter(crawl_point__isnull=False, crawl_point__active=1)
    doc_ids = set(links.exclude(crawl_point__deleted=1).values_list("document_id", flat=True))
    rows = Document.objects.values_list("pk", "sheet__project")
    return {pk: project for pk, project in rows if pk in doc_ids}


def doc_ids_among(schedule: Schedule, everything: dict[int, int | None]) -> set[int]:
    """Of all documents that a launch would crawl, those this schedule means now."""
    if schedule.what == VIEW:
        return everything.keys() & _in_view(schedule)
    return {
        doc_id
        for doc_id, project in everything.items()
        if schedule.what == ALL
        or (schedule.what == PROJECT and project == schedule.project_id)
        or (schedule.what in (CHOSEN, POINT) and doc_id in schedule.doc_ids)
    }


def _in_view(schedule: Schedule) -> set[int]:
    """None of a view that is gone or cannot be read: its owner is told when the plan is due."""
    try:
        return set(doc_ids_of(schedule) or ())
    except UnknownView:
        return set()


def documents_of(schedule: Schedule, docs: Docs) -> QuerySet[Document]:
    """The same as rows, of those a person may see."""
    chosen = doc_ids_among(schedule, documents_with_points())
    rows = Document.objects.filter(pk__in=chosen if docs is None else chosen & docs)
    return rows.select_related("sheet").order_by("sheet__title", "pk")


def pages_of(doc_ids: Iterable[int]) -> dict[int, int]:
    """Of their last crawls."""
    return {doc_id: last.pages for doc_id, last in last_crawls(list(doc_ids)).items()}


def next_start_of(doc_id: int, project_id: int | None) -> datetime | None:
    """When a planned crawl meets this document next; None when none is planned."""
    coming = Schedule.objects.filter(active=True, next_at__isnull=False).order_by("next_at", "id")
    for schedule in coming.only("what", "project_id", "view_id", "doc_ids", "next_at"):
        if (
            schedule.what == ALL
            or (schedule.what == PROJECT and schedule.project_id == project_id)
            or (schedule.what in (CHOSEN, POINT) and doc_id in schedule.doc_ids)
            or (schedule.what == VIEW and doc_id in _in_view(schedule))
        ):
            return schedule.next_at
    return None
