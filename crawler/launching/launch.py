"""Owns: how a crawl is asked for: which documents, with which settings, as a run and its excursions.

The settings are copied at this moment (a snapshot): what people change afterwards counts for the next run.
Does not: queue or fetch anything. Called by: screens, commands, schedules.
"""

from collections import defaultdict
from dataclasses import fields
from typing import Any

from django.db import IntegrityError, transaction
from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse import __version__
from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.library.models import Document
from clearinghouse.web.plurals import plural
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl

from ..errors import AllBusy, NothingToCrawl
from ..models import Excursion, Instance, Run
from ..sites.speeds import SPEEDS
from ..values import PointSettings, Snapshot
from .audited_change import together
from .control import note, record
from .launch_subset import DocumentSubset, SubsetChoice, narrowed, said

EVERYTHING = SubsetChoice()


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


def launch(
    doc_ids: list[int] | None, *, by: str, speed: str = "polite", driver: Instance | None = None, **options: Any
) -> Run:
    """A run over these documents (None: all with active crawl points), waiting to be initialized.

    Options are `choice` (which part of them) and the fields of Run: ignore_robots, origin, note, label,
    propagate_after, max_seconds, max_bytes. Documents in another unfinished run are left out, and the run says which.
    """
    choice: SubsetChoice = options.pop("choice", EVERYTHING)
    snapshots, _ = _snapshots(doc_ids)
    if not snapshots:
        raise NothingToCrawl("None of the chosen documents has an active crawl point. Add one, or activate one.")
    chosen = narrowed(snapshots, choice)
    if not chosen:
        raise NothingToCrawl(_NOTHING[choice.only] if choice.point_id is None else NO_SUCH_POINT)
    documents = Document.objects.select_related("sheet__project").in_bulk(chosen)
    while True:
        try:
            with together():
                run = _created(chosen, documents, by=by, speed=speed, driver=driver, **options)
                _record(run, by)
            return run
        except IntegrityError:  # PostgreSQL: somebody launched these documents at the same moment
            if not _busy(list(chosen)):
                raise


def _record(run: Run, by: str) -> None:
    count = run.excursions.count()
    names = ("speed", "origin", "note", "label", "ignore_robots", "propagate_after", "max_seconds", "max_bytes")
    after = {"documents": count} | {name: getattr(run, name) for name in names}
    record(run, "launch", f"Launched run {run.pk} over {plural(count, 'document')}", by, change={"after": after})


NO_SUCH_POINT = "This crawl point is not active. Activate it, or choose another."
_NOTHING = {
    "": "There is nothing to crawl.",
    "failed": "No page of the chosen documents failed in its last crawl.",
    "new": "No crawl point of the chosen documents is new or was changed since its last crawl.",
}


def _created(chosen: dict[int, DocumentSubset], documents: dict[int, Document], *, by: str, **options: Any) -> Run:
    with transaction.atomic(using=WEBCRAWL):
        busy = _busy(list(chosen))
        if len(busy) == len(chosen):
            runs = Excursion.objects.filter(unfinished=True, doc_id__in=busy).values_list("run_id", flat=True)
            named = ", ".join(map(str, sorted(set(runs))))
            raise AllBusy(f"All chosen documents are in an unfinished run: {named}. Wait for it, or stop it.")
        options |= {"left_out": sorted(busy), "used": _used(options["speed"])}
        run = Run.objects.create(requested_by=by, created_at=timezone.now(), **options)
        free = {doc_id: one for doc_id, one in sorted(chosen.items()) if doc_id not in busy}
        Excursion.objects.bulk_create(_excursion(run, documents[doc_id], one) for doc_id, one in free.items())
        part = said(one.part for one in free.values())
        told = f"Launched by {by} over {plural(len(free), 'document')}, speed {run.speed}"
        note(run.pk, "launch", f"{told}; {part}" if part else told)
    return run


def _used(speed: str) -> dict[str, object]:
    """What a launch uses besides the settings of the documents; the numbers of a speed are a setting of the house."""
    pause, connections = SPEEDS.get(speed, (0.0, 0))
    return {"version": __version__, "speed": speed, "pause": pause, "connections": connections}


def _excursion(run: Run, document: Document, chosen: DocumentSubset) -> Excursion:
    sheet = getattr(document, "sheet", None)
    project = sheet.project.name if sheet and sheet.project else ""
    return Excursion(
        run=run, doc_id=document.pk, title=document.title[:255], project=project, snapshot=chosen.stored,
        part=chosen.part,
    )  # fmt: skip


def _busy(doc_ids: list[int]) -> set[int]:
    unfinished = Excursion.objects.filter(unfinished=True).values_list("doc_id", flat=True)
    return set(unfinished) & set(doc_ids)


def _snapshots(doc_ids: list[int] | None) -> tuple[dict[int, Snapshot], int]:
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


def _links(doc_ids: list[int] | None) -> QuerySet[CrawlPointLink]:
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
