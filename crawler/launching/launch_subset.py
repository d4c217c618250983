"""Owns: launches over less than everything: the pages that failed last time, what is new, one crawl point.

Such an excursion says nothing about the pages it was not sent to: nothing of them counts as missing (rule 16), and
comparisons look past it (Excursion.part). Does not: create rows. Called by: launch.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, fields, replace

from django.db.models import Max

from ..bulk_sql import chunks
from ..ledger.error_groups import FailureGroup, pattern_of
from ..models import Excursion, LedgerEntry, State
from ..runs.latest_crawls import COMPLETE
from ..values import FAILED, PointSettings, Snapshot

WHOLE, ONLY_FAILED, ONLY_NEW, ONE_POINT = "", "failed", "new", "point"
MOST_AGAIN = 20_000  # failed pages of one document
# What a run may have used otherwise than it stood on the crawl point, or what does not change what is fetched.
_NOT_COMPARED = {"max_pages", "active"}
_COMPARED = tuple(item.name for item in fields(PointSettings) if item.name not in _NOT_COMPARED)


@dataclass(frozen=True, slots=True)
class SubsetChoice:
    """Which part of the chosen documents is wanted."""

    only: str = WHOLE  # or ONLY_FAILED, ONLY_NEW
    point_id: int | None = None  # this crawl point alone
    errors: str = ""  # of the failed pages, those of this group (its name in an address)


@dataclass(frozen=True, slots=True)
class DocumentSubset:
    """One document of a launch."""

    snapshot: Snapshot
    part: str = WHOLE
    again: int | None = None  # the excursion whose failed pages are fetched again
    pages: int = 0  # that failed in it
    errors: str = ""  # only those of this group

    @property
    def stored(self) -> dict[str, object]:
        """For the row of the excursion."""
        more = {} if self.again is None else {"again": self.again, "errors": self.errors}
        return self.snapshot.to_json() | more


def narrowed(snapshots: dict[int, Snapshot], choice: SubsetChoice) -> dict[int, DocumentSubset]:
    """What is left of these documents; those with nothing to do are not in it."""
    if choice.point_id is not None:
        return dict(_with_point(snapshots, choice.point_id))
    if choice.only == ONLY_FAILED:
        return dict(_failed(snapshots, choice.errors))
    if choice.only == ONLY_NEW:
        return dict(_new(snapshots))
    return {doc_id: DocumentSubset(snapshot) for doc_id, snapshot in snapshots.items()}


def _with_point(snapshots: dict[int, Snapshot], point_id: int) -> Iterator[tuple[int, DocumentSubset]]:
    for doc_id, snapshot in snapshots.items():
        mine = tuple(point for point in snapshot.points if point.id == point_id)
        if mine:
            yield doc_id, _part(snapshot, mine, ONE_POINT)


def _part(snapshot: Snapshot, points: tuple[PointSettings, ...], part: str) -> DocumentSubset:
    """A part that is everything is no part."""
    return DocumentSubset(replace(snapshot, points=points), part if len(points) < len(snapshot.points) else WHOLE)


def _failed(snapshots: dict[int, Snapshot], errors: str) -> Iterator[tuple[int, DocumentSubset]]:
    """The failed pages of the last crawl, without what they lead to; a document whose crawl itself failed, whole.

    What was stopped says nothing of the pages it did not come to: the crawl before it does, where there is one.
    """
    last = {row.doc_id: row for row in _last(snapshots, state=State.STOPPED)}
    last |= {row.doc_id: row for row in _last(snapshots, state__in=(*COMPLETE, State.FAILED))}
    for row in sorted(last.values(), key=lambda row: row.pk):
        snapshot = snapshots[row.doc_id]
        pages = len(_failed_urls(row.pk, errors)) if errors and row.failed else row.failed
        if row.state == State.FAILED and not errors:
            yield row.doc_id, DocumentSubset(snapshot)
        elif pages:
            points = tuple(replace(point, depth=0) for point in snapshot.points)
            yield row.doc_id, DocumentSubset(replace(snapshot, points=points), ONLY_FAILED, row.pk, pages, errors)


def _last(doc_ids: Collection[int], **wanted: object) -> Iterator[Excursion]:
    """The newest excursion like this of each document; previews are none."""
    for part in chunks(sorted(doc_ids)):
        rows = Excursion.objects.filter(doc_id__in=part, left_out_at=None, **wanted).exclude(run__origin="preview")
        newest = rows.order_by().values("doc_id").annotate(last=Max("id")).values_list("last", flat=True)
        yield from Excursion.objects.filter(pk__in=list(newest)).only("id", "doc_id", "state", "failed").order_by("id")


def _new(snapshots: dict[int, Snapshot]) -> Iterator[tuple[int, DocumentSubset]]:
    """Crawl points that were never crawled, or whose settings changed since."""
    crawled = _crawled_points(snapshots)
    for doc_id, snapshot in snapshots.items():
        points = tuple(point for point in snapshot.points if _settings(point) not in crawled.get(doc_id, ()))
        if points:
            yield doc_id, _part(snapshot, points, ONLY_NEW)


def _settings(point: PointSettings) -> tuple[object, ...]:
    return tuple(getattr(point, name) for name in _COMPARED)


def _crawled_points(doc_ids: Collection[int]) -> dict[int, set[tuple[object, ...]]]:
    """Of each document, the crawl points of its last whole crawl, and of the parts crawled since."""
    whole = {row.doc_id: row.pk for row in _last(doc_ids, state__in=COMPLETE, part=WHOLE)}
    found: dict[int, set[tuple[object, ...]]] = {}
    for part in chunks(sorted(doc_ids)):
        rows = Excursion.objects.filter(doc_id__in=part, state__in=COMPLETE, left_out_at=None)
        rows = rows.exclude(run__origin="preview")
        listed = rows.exclude(part=ONLY_FAILED).order_by("id").values_list("id", "doc_id")
        wanted = [pk for pk, doc_id in listed if pk >= whole.get(doc_id, 0)]
        for some in chunks(wanted):
            for doc_id, stored in Excursion.objects.filter(pk__in=some).values_list("doc_id", "snapshot"):
                points = Snapshot.from_json(stored).points if stored else ()
                found.setdefault(doc_id, set()).update(_settings(point) for point in points)
    return found


def addresses_again(excursion: Excursion) -> list[str]:
    """The pages this excursion begins with instead of its crawl points; empty: it begins with those."""
    stored = excursion.snapshot or {}
    return _failed_urls(stored["again"], stored.get("errors", "")) if stored.get("again") else []


def _failed_urls(excursion_id: int, errors: str) -> list[str]:
    rows = LedgerEntry.objects.filter(excursion=excursion_id, outcome=FAILED).order_by("id")
    listed = rows.values_list("url", "reason")[:MOST_AGAIN]
    return [url for url, reason in listed if not errors or FailureGroup(reason, *pattern_of(url)).key == errors]


def said(parts: Iterable[str]) -> str:
    """For the log of the run."""
    words = {ONLY_FAILED: "only the pages that failed last time", ONLY_NEW: "only what is new or changed",
             ONE_POINT: "one crawl point only"}  # fmt: skip
    return ", ".join(words[part] for part in sorted(set(parts)) if part)
