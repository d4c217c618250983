"""The first pages of a run as a tree: each under the page it was found on."""

from dataclasses import dataclass

from django.db.models import QuerySet
from django.db.models.functions import Left

from clearinghouse.columns import Exact

from ..models import Excursion, LedgerEntry, Run
from .counted import documents_below
from .counts import Docs, excursions_of
from .ledger import PAGE_OUTCOMES

MOST = 500  # nodes of a picture


@dataclass(frozen=True, slots=True)
class Node:
    id: int
    url: str
    depth: int
    key: tuple[int, bytes]
    parent: tuple[int, bytes] | None


def first_links(run: Run, docs: Docs, folder: str, doc_id: int | None) -> tuple[list[Node], int]:
    """At most MOST stored pages, the nearest to the crawl points first, and how many there are.

    Of a run over very many documents, the pages of the first of them.
    """
    if folder:
        excursions = _of(run, documents_below(run, docs, folder) if doc_id is None else docs, doc_id)
        rows = LedgerEntry.objects.filter(excursion__in=excursions.values("id"), outcome__in=PAGE_OUTCOMES)
        rows = rows.annotate(beginning=Left(Exact("url"), len(folder))).filter(beginning=folder)
        nodes = _nodes(rows)
        return nodes, rows.count() if len(nodes) == MOST else len(nodes)
    first, pages = [], 0
    for pk, crawled, unchanged in _of(run, docs, doc_id).order_by("id").values_list("id", "crawled", "unchanged"):
        if crawled + unchanged and pages < MOST:
            first.append(pk)
        pages += crawled + unchanged
    return _nodes(LedgerEntry.objects.filter(excursion__in=first, outcome__in=PAGE_OUTCOMES)), pages


def _of(run: Run, docs: Docs, doc_id: int | None) -> QuerySet[Excursion]:
    excursions = excursions_of(run, docs)
    return excursions if doc_id is None else excursions.filter(doc_id=doc_id)


def _nodes(rows: QuerySet[LedgerEntry]) -> list[Node]:
    listed = rows.order_by("depth", "id").values_list("id", "url", "depth", "excursion_id", "url_key", "found_on")
    return [
        Node(pk, url, depth, (excursion, bytes(key)), None if found is None else (excursion, bytes(found)))
        for pk, url, depth, excursion, key, found in listed[:MOST]
    ]
