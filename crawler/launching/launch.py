"""Owns: how a crawl is asked for: which documents, with which settings, as a run and its excursions.

The settings are copied at this moment (a snapshot): what people change afterwards counts for the next run.
Does not: queue or fetch anything. Called by: screens, the API, commands, schedules, answers to requests.
"""

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import KW_ONLY, dataclass, field, fields
from datetime import datetime
from functools import partial
from typing import Any

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse import __version__
from clearinghouse.accounts import options
from clearinghouse.library.models import Document
from clearinghouse.web.plurals import plural
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl

from ..errors import AllBusy, NothingToCrawl
from ..models import Excursion, Instance, Run
from ..sites.speeds import SPEEDS
from ..values import OWN_MAXIMUM, PointSettings, Snapshot
from . import quiet_hours
from .audited_change import afterwards, together
from .control import LABEL, note, record, wake_worker
from .launch_subset import DocumentSubset, SubsetChoice, narrowed, said

EVERYTHING = SubsetChoice()


@dataclass(frozen=True, slots=True)
class LaunchRequest:
    """What is to be launched, whoever asks for it: a person, the API, a command, a schedule."""

    doc_ids: Sequence[int] | None  # None: all that have active crawl points
    _: KW_ONLY
    by: str
    choice: SubsetChoice = EVERYTHING  # which part of them
    max_pages: int = 0  # of each crawl point, never above its own maximum
    speed: str = ""  # empty: as the settings say
    origin: str = "button"
    note: str = ""
    label: str = ""
    ignore_robots: bool = False
    propagate_after: bool = False
    max_seconds: int = 0
    max_bytes: int = 0
    driver: Instance | None = None  # the process that crawls it, in place of workers
    now: datetime = field(default_factory=timezone.now)


_STORED = ("origin", "ignore_robots", "propagate_after", "max_seconds", "max_bytes", "driver")  # on the run as they are


def scope(doc_ids: list[int] | None, choice: SubsetChoice = EVERYTHING) -> dict[str, Any]:
    """What a launch over these documents (None: all) would do: the live count of the launch form."""
    if choice == EVERYTHING:
        return _whole_scope(doc_ids)
    snapshots, _ = _snapshots(doc_ids)
    chosen = narrowed(snapshots, choice)
    busy = _busy(list(chosen))
    free = [doc_id for doc_id in chosen if doc_id not in busy]
    return {
        "documents": len(free),
        "points": sum(len(chosen[doc_id].snapshot.points) for doc_id in free),
        "pages": sum(chosen[doc_id].pages for doc_id in free),
        "inactive": 0,
        "busy": sorted(busy),
    }


def _whole_scope(doc_ids: list[int] | None) -> dict[str, Any]:
    """The same from two columns: thousands of documents are counted at each change of the form."""
    links = _links(doc_ids).filter(crawl_point__active__isnull=False)
    counts: dict[int, int] = defaultdict(int)
    inactive = 0
    for doc_id, active in links.order_by().values_list("document_id", "crawl_point__active"):
        if active:
            counts[doc_id] += 1
        else:
            inactive += 1
    busy = _busy(list(counts))
    free = [points for doc_id, points in counts.items() if doc_id not in busy]
    return {"documents": len(free), "points": sum(free), "pages": 0, "inactive": inactive, "busy": sorted(busy)}


def launch(request: LaunchRequest) -> Run:
    """A run, waiting to be initialized, and a worker woken for it; held back while no crawl may run.

    Documents in another unfinished run are left out, and the run says which. Raises NothingToCrawl, AllBusy.
    """
    chosen = _chosen(request)
    documents = Document.objects.select_related("sheet__project").in_bulk(chosen)
    while True:
        try:
            with together():
                run = _created(chosen, documents, request)
                _record(run)
                if run.driver is None:
                    afterwards(partial(_begin, run, request.now))
            return run
        except IntegrityError:  # PostgreSQL: somebody launched these documents at the same moment
            if not _busy(list(chosen)):
                raise


def _chosen(request: LaunchRequest) -> dict[int, DocumentSubset]:
    snapshots, _ = _snapshots(request.doc_ids)
    if not snapshots:
        raise NothingToCrawl("None of the chosen documents has an active crawl point. Add one, or activate one.")
    chosen = narrowed(snapshots, request.choice)
    if not chosen:
        raise NothingToCrawl(_NOTHING[request.choice.only] if request.choice.point_id is None else NO_SUCH_POINT)
    return chosen


def _begin(run: Run, now: datetime) -> None:
    """Wakes a worker, unless no crawl may run now: then the run is held, and the tick wakes one when it may."""
    quiet_hours.enforce(now)
    run.refresh_from_db()
    if not run.control:
        wake_worker(run)


def _record(run: Run) -> None:
    count = run.excursions.count()
    names = ("speed", "origin", "note", "label", "ignore_robots", "propagate_after", "max_seconds", "max_bytes")
    after = {"documents": count} | {name: getattr(run, name) for name in names}
    sentence = f"Launched run {run.pk} over {plural(count, 'document')}"
    record(run, "launch", sentence, run.requested_by, change={"after": after})


NO_SUCH_POINT = "This crawl point is not active. Activate it, or choose another."
_NOTHING = {
    "": "There is nothing to crawl.",
    "failed": "No page of the chosen documents failed in its last crawl.",
    "new": "No crawl point of the chosen documents is new or was changed since its last crawl.",
}


def _created(chosen: dict[int, DocumentSubset], documents: dict[int, Document], request: LaunchRequest) -> Run:
    busy = _busy(list(chosen))
    if len(busy) == len(chosen):
        runs = Excursion.objects.filter(unfinished=True, doc_id__in=busy).values_list("run_id", flat=True)
        named = ", ".join(map(str, sorted(set(runs))))
        raise AllBusy(f"All chosen documents are in an unfinished run: {named}. Wait for it, or stop it.")
    speed = request.speed or options.speed()
    run = Run.objects.create(
        requested_by=request.by, created_at=timezone.now(), speed=speed, note=request.note[:500],
        label=" ".join(request.label.split())[:LABEL], left_out=sorted(busy), used=_used(speed, request.max_pages),
        **{name: getattr(request, name) for name in _STORED},
    )  # fmt: skip
    free = {doc_id: one for doc_id, one in sorted(chosen.items()) if doc_id not in busy}
    rows = (_excursion(run, documents[doc_id], one, request.max_pages) for doc_id, one in free.items())
    Excursion.objects.bulk_create(rows)
    part = said(one.part for one in free.values())
    told = f"Launched by {request.by} over {plural(len(free), 'document')}, speed {run.speed}"
    note(run.pk, "launch", f"{told}; {part}" if part else told)
    if request.max_pages:
        note(run.pk, "limit", f"At most {plural(request.max_pages, 'page')} for each crawl point in this run")
    return run


def _used(speed: str, max_pages: int) -> dict[str, object]:
    """What a launch uses besides the settings of the documents; the numbers of a speed are a setting."""
    pause, connections = SPEEDS.get(speed, (0.0, 0))
    used: dict[str, object] = {"version": __version__, "speed": speed, "pause": pause, "connections": connections}
    return used | ({"max_pages": max_pages} if max_pages else {})


def _excursion(run: Run, document: Document, chosen: DocumentSubset, max_pages: int) -> Excursion:
    sheet = getattr(document, "sheet", None)
    project = sheet.project.name if sheet and sheet.project else ""
    snapshot: dict[str, Any] = chosen.stored
    for point in snapshot["points"] if max_pages else ():
        own = point["max_pages"]
        point |= {"max_pages": min(own or max_pages, max_pages), OWN_MAXIMUM: own}
    return Excursion(
        run=run, doc_id=document.pk, title=document.title[:255], project=project, snapshot=snapshot,
        part=chosen.part,
    )  # fmt: skip


def _busy(doc_ids: list[int]) -> set[int]:
    unfinished = Excursion.objects.filter(unfinished=True).values_list("doc_id", flat=True)
    return set(unfinished) & set(doc_ids)


def _snapshots(doc_ids: Sequence[int] | None) -> tuple[dict[int, Snapshot], int]:
    """The settings of every document that has an active crawl point, and how many inactive ones are skipped."""
    links = _links(doc_ids)
    excludes = ExcludeUrl.objects.order_by("id")
    if doc_ids is not None:
        excludes = excludes.filter(document_id__in=doc_ids)
    points: dict[int, list[PointSettings]] = defaultdict(list)
    inactive = 0
    for link in links.select_related("crawl_point").order_by("crawl_point_id"):
        if link.crawl_point.active:
            points[link.document_id].append(settings_of(link.crawl_point))
        else:
            inactive += 1
    patterns: dict[int, list[str]] = defaultdict(list)
    for doc_id, pattern in excludes.values_list("document_id", "pattern"):
        patterns[doc_id].append(pattern)
    snapshots = {d: Snapshot(d, tuple(found), tuple(patterns[d])) for d, found in points.items()}
    return snapshots, inactive


def _links(doc_ids: Sequence[int] | None) -> QuerySet[CrawlPointLink]:
    """The crawl points of these documents, inactive ones too."""
    links = CrawlPointLink.objects.filter(crawl_point__isnull=False, document__isnull=False)
    links = links.exclude(document__deleted=1).exclude(crawl_point__deleted=1)
    return links if doc_ids is None else links.filter(document_id__in=doc_ids)


def snapshot_of(document: Document, include_inactive: bool = False) -> Snapshot:
    """The settings of one document as they are now, for the explainer and the tester."""
    links = CrawlPointLink.objects.filter(document=document).exclude(crawl_point__deleted=1)
    rows = [link.crawl_point for link in links.select_related("crawl_point").order_by("crawl_point_id")]
    chosen = tuple(settings_of(point) for point in rows if include_inactive or point.active)
    excludes = ExcludeUrl.objects.filter(document=document).order_by("id").values_list("pattern", flat=True)
    return Snapshot(document.pk, chosen, tuple(excludes))


_OBEYED = {item.name: item.type for item in fields(PointSettings)}


def settings_of(point: CrawlPoint) -> PointSettings:
    """What the crawler obeys; an empty column, which an adopted row may have, is 0, no or no text."""
    return PointSettings(**{name: kind(getattr(point, name) or kind()) for name, kind in _OBEYED.items()})
