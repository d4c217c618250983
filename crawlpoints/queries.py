"""Owns: reading crawl points and exclude URLs. Does not: change them.

Called by: the crawler (initializer, fetch), both apps' screens, services.
"""

from collections.abc import Collection
from typing import Any

from django.db.models import Count, Q, QuerySet
from django.views.decorators.debug import sensitive_variables

from clearinghouse.library.models import Document
from clearinghouse.vault.sealing import binding_of, unseal

from .models import CrawlPoint, CrawlPointLink, ExcludeUrl, Import, ImportLine
from .points_by_address import Neighbour


def points_of(document: Document) -> QuerySet[CrawlPoint]:
    """Live crawl points of a document, by URL."""
    links = CrawlPointLink.objects.filter(document=document)
    return CrawlPoint.objects.filter(pk__in=links.values("crawl_point")).order_by("url", "pk")


def deleted_points_of(document: Document) -> QuerySet[CrawlPoint]:
    links = CrawlPointLink.everything.filter(document=document)
    deleted = CrawlPoint.everything.filter(pk__in=links.values("crawl_point"), deleted=1)
    return deleted.exclude(pk__in=_not_shown_yet(document)).order_by("-updated_at", "-pk")


def _not_shown_yet(document: Document) -> QuerySet[Any]:
    """What a long import has written already looks deleted until all of it is shown."""
    lines = ImportLine.objects.filter(of__document=document, of__state__in=Import.HIDDEN, adds=True)
    return lines.values("point_id")


def excludes_of(document: Document) -> QuerySet[ExcludeUrl]:
    return ExcludeUrl.objects.filter(document=document).order_by("pattern", "pk")


def deleted_excludes_of(document: Document) -> QuerySet[ExcludeUrl]:
    return ExcludeUrl.everything.filter(document=document, deleted=1).order_by("-updated_at", "-pk")


def document_of(point: CrawlPoint) -> Document | None:
    """The document a crawl point belongs to, also of a deleted point; None for an orphan of another program."""
    links = CrawlPointLink.everything.filter(crawl_point=point).order_by("deleted", "pk")
    link = links.select_related("document__sheet__project").first()
    return link.document if link else None


def neighbours_of(document: Document, but: int | None = None) -> list[Neighbour]:
    """The live crawl points of a document as values; `but` is left out."""
    points = points_of(document) if but is None else points_of(document).exclude(pk=but)
    rows = points.values_list("pk", "url", "root", "active")
    return [Neighbour(pk, url, root, bool(active)) for pk, url, root, active in rows]


def patterns_of(document: Document) -> list[str]:
    return list(excludes_of(document).values_list("pattern", flat=True))


@sensitive_variables()
def password_of(point: CrawlPoint) -> str:
    """The password in clear, or nothing if none is saved; CannotUnseal when the row was edited or the key is gone."""
    if not point.password:
        return ""
    return unseal(point.password, binding_of(point.url, point.root, point.auth_type, point.sign_in_url))


def counts_by_document(doc_ids: Collection[int] | None = None) -> dict[int, tuple[int, int]]:
    """Document id: (active, all) of its live crawl points; documents without any are missing."""
    live_points = CrawlPoint.objects.values("pk")
    links = CrawlPointLink.objects.filter(crawl_point__in=live_points, document__isnull=False)
    if doc_ids is not None:
        links = links.filter(document__in=doc_ids)
    active = Count("crawl_point", filter=Q(crawl_point__active=1), distinct=True)
    rows = links.values_list("document").annotate(active=active, all=Count("crawl_point", distinct=True)).order_by()
    return {doc_id: (active, every) for doc_id, active, every in rows}


def documents_with_text(text: str) -> set[int]:
    """Documents that have a live crawl point whose URL contains the text."""
    points = CrawlPoint.objects.filter(url__icontains=text)
    links = CrawlPointLink.objects.filter(crawl_point__in=points.values("pk"), document__isnull=False)
    return set(links.values_list("document_id", flat=True))
