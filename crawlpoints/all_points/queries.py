"""Owns: the crawl points of many documents as one list: what a filter leaves of them, in which order.

Does not: decide which documents a person may see (policies), know runs. Called by: the screen All crawl points.
"""

from collections.abc import Collection
from dataclasses import dataclass
from typing import Any

from django.db.models import Case, F, IntegerField, Q, QuerySet, Value, When

from clearinghouse.library.models import Document
from clearinghouse.web import listing

from ..models import AuthType, CrawlPointLink
from ..point_checks import MAX_PAGES

ACTIVE, INACTIVE, FAILING = "active", "inactive", "failing"
STATES = {ACTIVE: "Active", INACTIVE: "Inactive", FAILING: "Failing"}
_COLUMNS = {
    "url": "crawl_point__url", "document": "document__sheet__title", "root": "crawl_point__root",
    "depth": "crawl_point__depth", "max_pages": "most", "auth_type": "crawl_point__auth_type",
    "state": "crawl_point__active",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class PointFilter(listing.ListFilter):
    text: str = listing.text("q")
    project: str = listing.exact("project", 100)
    who: str = listing.choice("who", ("me", "nobody"))
    state: str = listing.choice("state", STATES)
    auth: str = listing.choice("auth", {str(value) for value in AuthType.values})
    sort: str = listing.sort(_COLUMNS, "url")


def links_of(
    documents: QuerySet[Document], asked: PointFilter, person: Any, failing: Collection[int]
) -> QuerySet[CrawlPointLink]:
    """Live crawl points, each with its document; `failing` are the crawl points the last crawls call so."""
    links = CrawlPointLink.objects.filter(document__in=documents.order_by().values("pk"), crawl_point__isnull=False)
    links = links.exclude(crawl_point__deleted=1).filter(_matching(asked, person, failing))
    links = links.select_related("crawl_point", "document__sheet__project")
    return links.annotate(most=_most()).order_by(
        *listing.order_by(asked.sort, _COLUMNS, "url"), "crawl_point__url", "pk"
    )


def _matching(asked: PointFilter, person: Any, failing: Collection[int]) -> Q:
    found = Q()
    if asked.text:
        found &= (
            Q(crawl_point__url__icontains=asked.text)
            | Q(crawl_point__root__icontains=asked.text)
            | Q(document__sheet__title__icontains=asked.text)
        )
    if asked.project:
        found &= Q(document__sheet__project__name=asked.project)
    if asked.who:
        mine = Q(document__in=Document.everything.filter(assignments__person=person.pk).values("pk"))
        found &= mine if asked.who == "me" else Q(document__assignments__isnull=True)
    if asked.auth:
        kind = Q(crawl_point__auth_type=int(asked.auth))
        found &= kind if asked.auth != "0" else kind | Q(crawl_point__auth_type=None)
    return found & _in_state(asked.state, failing)


def _in_state(state: str, failing: Collection[int]) -> Q:
    """The state words of the list: a failing crawl point is an active one whose last crawl brought errors only."""
    working = Q(crawl_point__active=1)
    if state == INACTIVE:
        return ~working
    if state == FAILING:
        return working & Q(crawl_point__in=list(failing))
    return working if state == ACTIVE else Q()


def _most() -> Case:
    """No limit comes after every number."""
    limited = When(crawl_point__max_pages__gt=0, then=F("crawl_point__max_pages"))
    return Case(limited, default=Value(MAX_PAGES), output_field=IntegerField())
