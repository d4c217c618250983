"""The first pages of a run as a tree: each under the page it was found on."""

from dataclasses import dataclass, replace

from django.db.models import QuerySet
from django.db.models.functions import Left

from clearinghouse.columns import Exact

from ..models import Excursion, LedgerEntry, PageVersion, Run
from ..runs.run_counts import Docs, excursions_of
from .counted_lists import documents_below
from .queries import PAGE_OUTCOMES

MOST = 500  # nodes of a picture


@dataclass(frozen=True, slots=True)
class Node:
    id: int
    url: str
    depth: int
    key: tuple[int, bytes]
    parent: tuple[int, bytes] | None
    title: str = ""
    document: str = ""  # the title of its document
    elsewhere: bool = False  # in no folder asked for; one of those that are was found on it


def first_links(run: Run, docs: Docs, folder: str, doc_id: int | None) -> tuple[list[Node], int]:
    """At most MOST stored pages, the nearest to the crawl points first, with those they were found on; and how many
    there are. Of a run over very many documents, the pages of the first of them.
    """
    if folder:
        excursions = _of(run, documents_below(run, docs, folder) if doc_id is None else docs, doc_id)
        rows = LedgerEntry.objects.filter(excursion__in=excursions.values("id"), outcome__in=PAGE_OUTCOMES)
        rows = rows.annotate(beginning=Left(Exact("url"), len(folder))).filter(beginning=folder)
        nodes = _nodes(rows)
        return _with_parents(nodes), rows.count() if len(nodes) == MOST else len(nodes)
    first, pages = [], 0
    for pk, crawled, unchanged in _of(run, docs, doc_id).order_by("id").values_list("id", "crawled", "unchanged"):
        if crawled + unchanged and pages < MOST:
            first.append(pk)
        pages += crawled + unchanged
    rows = LedgerEntry.objects.filter(excursion__in=first, outcome__in=PAGE_OUTCOMES)
    return _with_parents(_nodes(rows)), pages


def _of(run: Run, docs: Docs, doc_id: int | None) -> QuerySet[Excursion]:
    excursions = excursions_of(run, docs)
    return excursions if doc_id is None else excursions.filter(doc_id=doc_id)


def _with_parents(nodes: list[Node]) -> list[Node]:
    """Before them the pages on which they were found, where those are not among them."""
    missing = {node.parent for node in nodes if node.parent} - {node.key for node in nodes}
    if not missing:
        return nodes
    excursions, keys = {excursion for excursion, _ in missing}, {key for _, key in missing}
    rows = LedgerEntry.objects.filter(excursion__in=excursions, url_key__in=keys)
    above = [replace(node, parent=None, elsewhere=True) for node in _nodes(rows) if node.key in missing]
    return above + nodes


def _nodes(rows: QuerySet[LedgerEntry]) -> list[Node]:
    names = ("id", "url", "depth", "excursion_id", "url_key", "found_on", "version_id")
    listed = list(rows.order_by("depth", "id").values_list(*names)[:MOST])
    versions = {version for *_, version in listed if version}
    titles = dict(PageVersion.objects.filter(pk__in=versions).values_list("pk", "title"))
    excursions = {excursion for _, _, _, excursion, *_ in listed}
    documents = dict(Excursion.objects.filter(pk__in=excursions).values_list("pk", "title"))
    return [
        Node(
            pk, url, depth, (excursion, bytes(key)), None if found is None else (excursion, bytes(found)),
            titles.get(version, ""), documents.get(excursion, ""),
        )
        for pk, url, depth, excursion, key, found, version in listed
    ]  # fmt: skip
