"""Owns: a search from text to results: parse, resolve names, find, fetch what is shown.

Does not: speak SQL of a particular server (backends), make pages (screens). Called by: the screens, the command,
the sample queries of a propagation.
"""

import time
from collections import Counter
from dataclasses import dataclass, field
from datetime import datetime

from django.db.models.functions import Left
from django.utils.safestring import SafeString

from clearinghouse.published.models import LiveGeneration, PublishedDocument, PublishedInterval, PublishedVersion

from .backends import Backend, Found, Scope, backend
from .query import Query, parse
from .ranking import POOL, Candidate, ranked
from .serving import live_generation
from .snippets import Marker, excerpt, marked
from .words import fold, words_of

LIMIT = 100
DEEPEST = 10_000  # results further down than this are not paged to
LOOKED_AT = 20_000  # characters of headings and anchors that decide the order


@dataclass(frozen=True, slots=True)
class Narrow:
    """What was chosen on the page beside the query: each facet a list of which any may match, and the order."""

    projects: tuple[str, ...] = ()
    doc_ids: tuple[int, ...] = ()
    types: tuple[int, ...] = ()
    sites: tuple[str, ...] = ()
    sort: str = "best"  # best, newest, title

    def __bool__(self) -> bool:
        return bool(self.projects or self.doc_ids or self.types or self.sites)


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


@dataclass(slots=True)
class Results:
    query: Query
    generation: int
    total: int = 0
    seconds: float = 0.0
    hits: list[Hit] = field(default_factory=list)
    projects: Counter[str] = field(default_factory=Counter)
    documents: Counter[int] = field(default_factory=Counter)
    types: Counter[int] = field(default_factory=Counter)
    sites: Counter[str] = field(default_factory=Counter)
    titles: dict[int, str] = field(default_factory=dict)  # of the documents counted
    indexed_at: datetime | None = None


def search(
    text: str,
    *,
    alias: str,
    generation: int | None = None,
    limit: int = 10,
    offset: int = 0,
    filters: Narrow | None = None,
) -> Results:
    """What this target answers; never fails because of the text."""
    started = time.perf_counter()
    generation = live_generation(alias) if generation is None else generation
    results = Results(parse(text), generation)
    results.indexed_at = LiveGeneration.objects.using(alias).values_list("switched_at", flat=True).first()
    index = backend(alias)
    narrow = Narrow() if filters is None else filters
    if generation and (results.query or narrow) and index.exists():
        documents = _documents(alias, generation)
        scope = _scope(results.query, narrow, documents, generation)
        bounds = (max(0, min(offset, DEEPEST)), max(0, min(limit, LIMIT)))
        found = _find(index, results, scope, narrow.sort, bounds)
        _count(results, found, documents)
        results.hits = _hits(alias, results.query, found, documents)
    results.seconds = time.perf_counter() - started
    return results


def _find(index: Backend, results: Results, scope: Scope, sort: str, bounds: tuple[int, int]) -> Found:
    """One page of results, the best of them in our own order."""
    offset, limit = bounds
    if sort != "best" or not results.query.words or offset >= POOL:
        return index.find(results.query, scope, sort=sort, limit=limit, offset=offset)
    found = index.find(results.query, scope, limit=max(POOL, offset + limit))
    found.ids = _ranked(index.alias, results.query, found.ids)[offset : offset + limit]
    return found


def _ranked(alias: str, query: Query, ids: list[tuple[int, float]]) -> list[tuple[int, float]]:
    pool = dict(ids[:POOL])
    rows = (
        PublishedVersion.objects.using(alias)
        .filter(id__in=pool)
        .values_list("id", "title", Left("headings", LOOKED_AT), Left("anchors", LOOKED_AT), "url")
    )
    candidates = [Candidate(row[0], pool[row[0]], *row[1:]) for row in rows]
    return [*ranked(query.words, candidates), *ids[POOL:]]


def _documents(alias: str, generation: int) -> dict[int, tuple[str, str]]:
    """Title and project of every published document."""
    rows = PublishedDocument.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    return {doc_id: (title, project) for doc_id, title, project in rows.values_list("doc_id", "title", "project")}


def _scope(query: Query, narrow: Narrow, documents: dict[int, tuple[str, str]], generation: int) -> Scope:
    asked = query.filters
    chosen: set[int] | None = None
    for matching in _document_filters(query, narrow, documents):
        chosen = matching if chosen is None else chosen & matching
    types = set(asked.types) & set(narrow.types) if asked.types and narrow.types else {*asked.types, *narrow.types}
    return Scope(
        generation=generation,
        doc_ids=None if chosen is None else frozenset(chosen),
        sites=narrow.sites or asked.sites,
        types=tuple(sorted(types)) or ((-1,) if asked.types or narrow.types else ()),
        after=asked.after,
        before=asked.before,
    )


def _document_filters(query: Query, narrow: Narrow, documents: dict[int, tuple[str, str]]) -> list[set[int]]:
    """For each kind of filter that was given: the documents it leaves."""
    filters = []
    if narrow.doc_ids:
        filters.append(set(narrow.doc_ids))
    if narrow.projects:
        filters.append({doc_id for doc_id, (_, project) in documents.items() if project in narrow.projects})
    if query.filters.documents:
        filters.append({d for d, (title, _) in documents.items() if _named(query.filters.documents, d, title)})
    if query.filters.projects:
        wanted = [fold(name) for name in query.filters.projects]
        filters.append({d for d, (_, project) in documents.items() if any(w in fold(project) for w in wanted)})
    return filters


def _named(wanted: tuple[str, ...], doc_id: int, title: str) -> bool:
    """A document is named by its number, or by words of its title."""
    words = set(words_of(title))
    return any(value == str(doc_id) or (words_of(value) and words.issuperset(words_of(value))) for value in wanted)


def _count(results: Results, found: Found, documents: dict[int, tuple[str, str]]) -> None:
    for doc_id, type_id, host, pages in found.groups:
        title, project = documents.get(doc_id, (f"Document {doc_id}", ""))
        results.total += pages
        results.documents[doc_id] += pages
        results.titles[doc_id] = title
        results.types[type_id] += pages
        results.sites[host] += pages
        if project:
            results.projects[project] += pages


def _hits(alias: str, query: Query, found: Found, documents: dict[int, tuple[str, str]]) -> list[Hit]:
    ids = [published_id for published_id, _ in found.ids]
    rows = PublishedVersion.objects.using(alias).filter(id__in=ids).defer("body", "headings", "anchors")
    by_id = {row.id: row for row in rows}
    marker = Marker(query.words)
    shown = [(by_id[published_id], score) for published_id, score in found.ids if published_id in by_id]
    return [_hit(row, score, marker, documents) for row, score in shown]


def _hit(row: PublishedVersion, score: float, marker: Marker, documents: dict[int, tuple[str, str]]) -> Hit:
    document, project = documents.get(row.doc_id, (f"Document {row.doc_id}", ""))
    piece = excerpt(row.text or row.metas, marker)
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
