"""Owns: a search from text to results: parse, ask the index of the target, fetch what is shown.

Does not: find, narrow, order or fold (backends), make pages (views). Called by: the screens, the command.
"""

import time
from collections import Counter
from dataclasses import dataclass, field, replace
from datetime import datetime

from django.db.models.functions import Left
from django.utils.safestring import SafeString

from clearinghouse.published.models import LiveGeneration, PublishedInterval, PublishedVersion

from .backends import backend
from .backends.text_index import Answer, Generation, Window
from .narrowing import Documents, Narrow
from .public_target import documents_of
from .query import Query, parse
from .ranking import fewer_words
from .ranking.snippets import LOOKED_AT as TEXT_LOOKED_AT
from .ranking.snippets import Marker, excerpt, marked

__all__ = ["DEEPEST", "LIMIT", "Hit", "Narrow", "Results", "page", "search"]

LIMIT = 100
DEEPEST = 10_000  # results further down than this are not paged to


@dataclass(slots=True)
class Hit:
    published_id: int
    url: str
    title: str
    snippet: str  # plain words
    shown: SafeString  # the same, escaped and marked
    doc_id: int
    document: str
    project: str
    type_id: int
    host: str
    crawled_at: datetime
    score: float
    folder: str = ""  # its site and first folder
    similar: int = 0  # other pages of these results that are like it: what Narrow.similar_to shows
    others: list[tuple[int, str]] = field(default_factory=list)  # other documents that have this address: id, title
    more_from_folder: int = 0  # all pages of its folder, where some are put away: what Narrow.folder shows
    missing: tuple[str, ...] = ()  # words of the query it does not have


@dataclass(slots=True)
class Results:
    query: Query
    generation: int
    total: int = 0  # pages, each address once, with those that are folded away
    complete: int = 0  # of them, pages with all words
    entries: int = 0  # results: what a reader can page through
    seconds: float = 0.0
    hits: list[Hit] = field(default_factory=list)
    projects: Counter[str] = field(default_factory=Counter)
    documents: Counter[int] = field(default_factory=Counter)
    types: Counter[int] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    languages: Counter[str] = field(default_factory=Counter)
    crawled: Counter[str] = field(default_factory=Counter)  # week, month, year (each with the one before), older
    titles: dict[int, str] = field(default_factory=dict)  # of the documents counted
    indexed_at: datetime | None = None

    @property
    def relaxed(self) -> bool:
        """No page has all words; these have some of them."""
        return self.total > 0 and not self.complete


def search(
    text: str | Query,
    *,
    alias: str,
    generation: int | None = None,
    limit: int = 10,
    offset: int = 0,
    filters: Narrow | None = None,
) -> Results:
    """What this target answers; never fails because of the text."""
    started = time.perf_counter()
    live = LiveGeneration.objects.using(alias).first()
    generation = (live.generation if live else 0) if generation is None else generation
    results = Results(parse(text), generation, indexed_at=live.switched_at if live else None)
    index = backend(alias)
    narrow = Narrow() if filters is None else filters
    if generation and (results.query or narrow) and index.exists():
        window = Window(max(0, min(offset, DEEPEST)), max(0, min(limit, LIMIT)))
        shown = Generation(generation, results.indexed_at)
        _show(results, alias, index.answer(results.query, narrow, shown, window))
    results.seconds = time.perf_counter() - started
    return results


def _show(results: Results, alias: str, found: Answer) -> None:
    if found.relaxed:
        results.query = replace(results.query, notes=(*results.query.notes, fewer_words.NOTE))
    results.total, results.complete, results.entries = found.total, found.complete, found.entries
    facets = found.facets
    results.documents, results.projects = facets.documents.copy(), facets.projects.copy()
    results.crawled = facets.crawled.copy()
    results.titles = {doc_id: _title(found.documents, doc_id) for doc_id in facets.documents}
    for kind, pages in facets.kinds.items():
        results.types[kind.type_id] += pages
        results.sites[kind.host] += pages
        if kind.language:
            results.languages[kind.language] += pages
    results.hits = _hits(alias, found)


def _title(documents: Documents, doc_id: int) -> str:
    return documents.get(doc_id, (f"Document {doc_id}", ""))[0]


def _hits(alias: str, found: Answer) -> list[Hit]:
    versions = PublishedVersion.objects.using(alias).filter(id__in=[one.published_id for one in found.candidates])
    versions = versions.annotate(beginning=Left("text", TEXT_LOOKED_AT)).defer("body", "headings", "anchors", "text")
    rows = {version.id: version for version in versions}
    marker = Marker(found.query.words)
    hits = []
    for one in found.candidates:
        if one.published_id in rows:
            hit = _hit(rows[one.published_id], one.score, marker, found.documents)
            hit.folder, hit.similar, hit.more_from_folder = one.folder, one.similar, one.more_from_folder
            hit.others = [(doc_id, _title(found.documents, doc_id)) for doc_id in one.others]
            hit.missing = one.missing
            hits.append(hit)
    return hits


def _hit(row: PublishedVersion, score: float, marker: Marker, documents: Documents) -> Hit:
    document, project = _title(documents, row.doc_id), documents.get(row.doc_id, ("", ""))[1]
    piece = excerpt(getattr(row, "beginning", "") or row.metas, marker)
    return Hit(
        published_id=row.id,
        url=row.url,
        title=row.title or row.url,
        snippet=piece,
        shown=marked(piece, marker),
        doc_id=row.doc_id,
        document=document,
        project=project,
        type_id=row.type_id,
        host=row.host,
        crawled_at=row.crawled_at,
        score=round(score, 4),
    )


def page(alias: str, generation: int, published_id: int) -> PublishedVersion | None:
    """One page as a generation shows it; None when it is not in it."""
    shown = PublishedInterval.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    if not shown.filter(published_id=published_id).exists():
        return None
    return PublishedVersion.objects.using(alias).filter(id=published_id).first()


def hits_of(alias: str, generation: int, query: Query, published_ids: list[int]) -> list[Hit]:
    """These pages as results of a query, in this order, whether it finds them or not."""
    documents, marker = documents_of(alias, generation), Marker(query.words)
    rows = PublishedVersion.objects.using(alias).defer("body", "headings", "anchors").in_bulk(published_ids)
    return [_hit(rows[number], 0.0, marker, documents) for number in published_ids if number in rows]
