"""Owns: changes to several crawl points at once, and how they are taken back with one press.

Does not: decide what may be saved (checks), speak HTTP. Called by: the panel, the import.
"""

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from django.db import transaction
from django.db.models import QuerySet

from clearinghouse.audit import services as audit
from clearinghouse.database.records import StaleRecord
from clearinghouse.library.models import Document
from clearinghouse.library.services import crawl_point_field

from . import services
from .models import CrawlPoint, CrawlPointLink, ExcludeUrl
from .point_checks import Invalid
from .queries import document_of

MOST = 500  # crawl points that a person changes at once: they are one transaction, and others wait for it


@dataclass(slots=True)
class Changed:
    """What a command did, as it is kept for its Undo."""

    added: list[int] = field(default_factory=list)  # crawl points that were not there before
    deleted: list[int] = field(default_factory=list)
    before: dict[int, dict[str, Any]] = field(default_factory=dict)  # crawl point -> the values it had
    excludes: list[int] = field(default_factory=list)  # exclude URLs that were not there before
    versions: dict[int, int | None] = field(default_factory=dict)  # of each crawl point, as the command left it
    refused: list[str] = field(default_factory=list)  # sentences; these crawl points were left alone

    @property
    def count(self) -> int:
        return len(self.added) + len(self.before)

    @property
    def anything(self) -> bool:
        return bool(self.count or self.deleted or self.excludes)

    def to_json(self) -> dict[str, Any]:
        before = {str(pk): values for pk, values in self.before.items()}
        versions = {str(pk): version for pk, version in self.versions.items()}
        return {
            "added": self.added, "deleted": self.deleted, "before": before, "excludes": self.excludes,
            "versions": versions,
        }  # fmt: skip

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Changed":
        before = {int(pk): dict(values) for pk, values in data["before"].items()}
        versions = {int(pk): version for pk, version in data.get("versions", {}).items()}
        return cls(list(data["added"]), list(data["deleted"]), before, list(data["excludes"]), versions)

    def left(self, point: CrawlPoint) -> None:
        """This is how the command left the crawl point; what comes later is somebody else's."""
        self.versions[point.pk] = point.version


@transaction.atomic
def set_values(points: Iterable[CrawlPoint], values: Mapping[str, Any]) -> Changed:
    """The same values for all; Invalid when one of them may not be saved, and then nothing is changed."""
    changed = Changed()
    for point in points:
        before = {name: getattr(point, name) for name in values}
        if any(str(before[name] or 0) != str(values[name] or 0) for name in values):
            _set(point, values)
            changed.before[point.pk] = before
            changed.left(point)
    return changed


def _set(point: CrawlPoint, values: Mapping[str, Any]) -> None:
    """Activity alone is never refused: an adopted crawl point that no check would pass can be switched off, too."""
    if set(values) == {"active"}:
        services.set_active([point], bool(values["active"]))
    else:
        services.update_crawl_point(point, values, cautions=False)


@transaction.atomic
def copy(points: Sequence[CrawlPoint], target: Document, *, move: bool = False) -> Changed:
    """To another document; moving deletes them here. One the target has already stays where it is.

    A saved password moves with its crawl point, but is never copied: who may use it is decided where it was entered
    (threat T8).
    """
    changed = Changed()
    for point in points:
        try:
            with transaction.atomic():
                duplicate = _copied(point, target, point.password if move else None)
        except Invalid:
            changed.refused.append(f"{target.title} already has {point.url}")
            continue
        changed.added.append(duplicate.pk)
        changed.left(duplicate)
        if move:
            services.delete_crawl_point(point)
            changed.deleted.append(point.pk)
            changed.left(point)
    return changed


def _copied(point: CrawlPoint, target: Document, sealed: str | None) -> CrawlPoint:
    """A password that goes along stays sealed: it is bound to the site and the way of signing in."""
    duplicate = CrawlPoint(**{name: getattr(point, name) for name in services.COLUMNS}, password=sealed)
    duplicate.key = services.point_key(target.pk, duplicate.url, duplicate.root)
    with services.one_of_a_kind(duplicate), transaction.atomic():
        duplicate.save()
    CrawlPointLink.objects.create(document=target, field=crawl_point_field(target), crawl_point=duplicate)
    origin = document_of(point)
    sentence = f"Copied crawl point {duplicate.url} from {origin.title if origin else 'another document'}"
    audit.record("add", duplicate, sentence, document_id=target.pk, after=services.facts(duplicate))
    return duplicate


def within(changed: Changed, documents: QuerySet[Document]) -> bool:
    """Whether every row the change touched belongs to one of these documents."""
    points = {*changed.added, *changed.before, *changed.deleted}
    links = CrawlPointLink.everything.filter(crawl_point__in=points, document__in=documents.values("pk"))
    return set(links.values_list("crawl_point", flat=True)) == points


@transaction.atomic
def take_back(changed: Changed) -> tuple[int, list[CrawlPoint]]:
    """Everything as it was before: how many rows, and those that somebody changed meanwhile and that stay so.

    What somebody deleted meanwhile stays deleted. A move is one thing: StaleRecord when a part of it was changed.
    """
    touched = CrawlPoint.everything.in_bulk([*changed.added, *changed.before, *changed.deleted])
    points = {pk: point for pk, point in touched.items() if not point.deleted}
    left = [point for pk, point in points.items() if point.version != changed.versions.get(pk, point.version)]
    if left and changed.deleted:
        raise StaleRecord(f"{left[0]} was changed meanwhile")
    for point in left:
        del points[point.pk]
    for pk in changed.added:
        if pk in points:
            services.delete_crawl_point(points[pk])
    for pk, values in changed.before.items():
        if pk in points:
            _set(points[pk], values)
    restored = [services.restore_crawl_point(touched[pk]) for pk in changed.deleted if touched[pk].deleted]
    excludes = list(ExcludeUrl.objects.filter(pk__in=changed.excludes))
    for exclude in excludes:
        services.delete_exclude_url(exclude)
    return len(points) + len(restored) + len(excludes), left
