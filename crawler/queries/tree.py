"""The first pages of a run as a tree: each under the page it was found on."""

from dataclasses import dataclass

from django.db.models.functions import Left

from ..models import LedgerEntry, Run
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
    """At most MOST stored pages, the nearest to the crawl points first, and how many there are."""
    excursions = excursions_of(run, docs)
    excursions = excursions if doc_id is None else excursions.filter(doc_id=doc_id)
    rows = LedgerEntry.objects.filter(excursion__in=excursions.values("id"), outcome__in=PAGE_OUTCOMES)
    if folder:
        rows = rows.annotate(beginning=Left("url", len(folder))).filter(beginning=folder)
    listed = rows.order_by("depth", "id").values_list("id", "url", "depth", "excursion_id", "url_key", "found_on")
    nodes = [
        Node(pk, url, depth, (excursion, bytes(key)), None if found is None else (excursion, bytes(found)))
        for pk, url, depth, excursion, key, found in listed[:MOST]
    ]
    return nodes, rows.count() if len(nodes) == MOST else len(nodes)
