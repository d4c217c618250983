"""Owns: a search from text to results: parse, find, narrow, order, fold, fetch what is shown.

Does not: speak SQL of a particular server (backends), make pages (screens). Called by: the screens, the command.
"""

import time
from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from datetime import datetime
from itertools import filterfalse, islice

from django.db.models.functions import Left
from django.utils import timezone
from django.utils.safestring import SafeString

from clearinghouse.published.models import LiveGeneration, PublishedDocument, PublishedInterval, PublishedVersion

from . import page_facts as all_facts
from . import search_cache
from .backends import Backend, backend
from .narrowing import Narrow, narrowed
from .page_facts import FacetKey, PageFacts, Summed
from .query import Query, parse
from .ranking import fewer_words
from .ranking.folding import Folded, folded
from .ranking.result_order import LOOKED_AT, POOL, RankedPage, ranked
from .ranking.snippets import LOOKED_AT as TEXT_LOOKED_AT
from .ranking.snippets import Marker, excerpt, marked

__all__ = ["DEEPEST", "LIMIT", "Hit", "Narrow", "Results", "page", "search"]

LIMIT = 100
DEEPEST = 10_000  # results further down than this are not paged to
Documents = dict[int, tuple[str, str]]  # title and project


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


@dataclass(frozen=True, slots=True)
class Library:
    """What is searched: one generation of one target, today."""

    index: Backend
    facts: PageFacts
    documents: Documents
    now: datetime


@dataclass(slots=True)
class Matched:
    """The pages with the words, in order of the index's score. Arrays: what is kept shall not be walked by Python."""

    query: Query  # as it was asked in the end
    rows: Sequence[int]
    scores: Sequence[float]  # of the first rows; the others are worth nothing
    complete: frozenset[int] | None = None  # the rows with all words; None: all of them

    @property
    def relaxed(self) -> bool:
        """No page has all words."""
        return self.complete is not None and not self.complete

    def scores_of(self, wanted: Iterable[int]) -> dict[int, float]:
        """Of some of the rows."""
        looked_for = dict.fromkeys(wanted, 0.0)
        found = ((row, score) for row, score in zip(self.rows, self.scores, strict=False) if row in looked_for)
        return looked_for | dict(islice(found, len(looked_for)))


@dataclass(slots=True)
class ShownResults:
    """What a search shows: everything but the hits of one page."""

    total: int
    complete: int
    kinds: Counter[FacetKey]
    documents: Counter[int]  # each with its pages, also where another has them, too
    projects: Counter[str]
    crawled: Counter[str]
    folded: Folded
    scores: dict[int, float]


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
        _answer(index, results, narrow, (max(0, min(offset, DEEPEST)), max(0, min(limit, LIMIT))))
    results.seconds = time.perf_counter() - started
    return results


def _answer(index: Backend, results: Results, narrow: Narrow, bounds: tuple[int, int]) -> None:
    facts = _facts(index, results)
    library = Library(index, facts, _kept_documents(index.alias, facts, results.generation), timezone.now())
    query = results.query
    matched = _matched(index, facts, query)
    if matched.relaxed:
        results.query = replace(query, notes=(*query.notes, fewer_words.NOTE))
    asked = (*facts.key, query.groups, query.without, query.filters, narrow, library.now.date())
    shown = search_cache.SEARCHES.get(asked, lambda: _shown(library, matched, query, narrow))
    _count(results, library, shown)
    offset, limit = bounds
    rows = shown.folded.rows[offset : offset + limit]
    results.hits = _hits(library, matched.query, shown, rows)
    _say_what_is_missing(library, query, matched, results.hits)


def _facts(index: Backend, results: Results) -> PageFacts:
    key = (index.alias, str(index.connection.settings_dict["NAME"]), results.generation, results.indexed_at)

    def read() -> tuple[PageFacts, int]:
        facts = all_facts.read(index, results.generation, key)
        search_cache.let_go(index.alias, results.generation)
        return facts, len(facts) if facts.whole else -1

    return search_cache.GENERATIONS.get(key, read)


def _matched(index: Backend, facts: PageFacts, query: Query) -> Matched:
    def make() -> tuple[Matched, int]:
        found = find(index, facts, query)
        return found, 2 * len(found.rows) + search_cache.ANSWER if facts.whole else -1

    return search_cache.SEARCHES.get((*facts.key, query.groups, query.without, "matched"), make)


def find(index: Backend, facts: PageFacts, query: Query) -> Matched:
    """All words; where few pages have them, also those with most of the telling ones, and where none has, with any."""
    if not query.groups:
        return _excluding(index, facts, Matched(query, array("i", range(len(facts))), array("d")))
    found = _by_score(index, facts, query)
    if found.rows and (len(found.rows) >= fewer_words.FEW or not fewer_words.may_follow(query)):
        return found
    complete = frozenset(found.rows)
    counted = [(group, index.frequency((group,))) for group in fewer_words.parts(query, apart=not complete)]
    for share in fewer_words.SHARES[: 1 if complete else None]:
        other = fewer_words.relaxed(query, counted, len(facts), share)
        more = _by_score(index, facts, other) if other else found
        if len(more.rows) > len(complete):
            return replace(more, complete=complete)
    return found


def _by_score(index: Backend, facts: PageFacts, query: Query) -> Matched:
    found = index.matches(query)
    row_of = facts.row_of.get
    best = {row_of(number): score for number, score in found.best}
    best.pop(None, None)  # a page of other generations
    rows = array("i", [*best, *filterfalse({None, *best}.__contains__, map(row_of, found.others))])
    return _excluding(index, facts, Matched(query, rows, array("d", best.values())))


def _excluding(index: Backend, facts: PageFacts, found: Matched) -> Matched:
    if not found.query.without:
        return found
    without = set(facts.rows(index.having(tuple((term,) for term in found.query.without))))
    scores = array("d", (score for row, score in zip(found.rows, found.scores, strict=False) if row not in without))
    return Matched(found.query, array("i", (row for row in found.rows if row not in without)), scores)


def _shown(library: Library, matched: Matched, query: Query, narrow: Narrow) -> tuple[ShownResults, int]:
    facts, alias = library.facts, library.index.alias
    rows = narrowed(matched.rows, facts, query.filters, narrow, library.documents, library.now)
    scores: dict[int, float] = {}
    if narrow.sort == "newest" or not matched.query.groups:
        rows = sorted(rows, key=lambda row: (-facts.crawled[row], row))
    if narrow.sort == "title":
        rows = _by_title(alias, facts, rows)
    elif narrow.sort == "best" and matched.query.groups:
        rows, scores = _best_first(alias, facts, matched, rows)
    if matched.complete and narrow.sort != "best":
        rows = sorted(rows, key=matched.complete.__contains__, reverse=True)  # the order stays among equals
    once = facts.each_once(rows)
    complete = len(once) if matched.complete is None else sum(map(matched.complete.__contains__, once))
    sums = facts.summed(once)
    documents, projects = _by_document(facts, rows, sums, library.documents)
    shown = folded(rows, facts, sums, alike=not narrow.similar_to, folders=not (narrow.similar_to or narrow.folder))
    weight = len(shown.rows) + search_cache.ANSWER if facts.whole else -1
    return ShownResults(
        len(once), complete, sums.kinds, documents, projects, sums.ages(library.now), shown, scores
    ), weight


def _by_document(
    facts: PageFacts, rows: Sequence[int], sums: Summed, titles: Documents
) -> tuple[Counter[int], Counter[str]]:
    """How many pages each document and each project has; an address of two documents counts in both."""
    kinds = sums.kinds if facts.once else facts.summed(rows).kinds
    documents: Counter[int] = Counter()
    projects: Counter[str] = Counter()
    for kind, pages in kinds.items():
        documents[kind.doc_id] += pages
        projects[titles.get(kind.doc_id, ("", ""))[1]] += pages
    if not facts.once:
        of_kind = [titles.get(kind.doc_id, ("", ""))[1] for kind in facts.kinds]
        projects = Counter(project for _, project in {(facts.same[row], of_kind[facts.kind[row]]) for row in rows})
    del projects[""]
    return documents, projects


def _best_first(
    alias: str, facts: PageFacts, matched: Matched, rows: Sequence[int]
) -> tuple[list[int], dict[int, float]]:
    """The best of the index in our own order, the others behind them."""
    order = ranked(matched.query, _candidates(alias, facts, matched.scores_of(rows[:POOL])))
    scores = {facts.row_of[number]: score for number, score in order}
    return [*scores, *rows[POOL:]], scores


def _candidates(alias: str, facts: PageFacts, scores: dict[int, float]) -> list[RankedPage]:
    """These rows as the ranking looks at them."""
    by_id = {facts.ids[row]: score for row, score in scores.items()}
    fields = ("id", "title", Left("headings", LOOKED_AT), Left("anchors", LOOKED_AT), "url", Left("text", LOOKED_AT))
    found = PublishedVersion.objects.using(alias).filter(id__in=list(by_id)).values_list(*fields)
    return [RankedPage(row[0], by_id[row[0]], *row[1:]) for row in found]


def looked_at(results: Results, alias: str, published_ids: Sequence[int]) -> tuple[Query, list[RankedPage]]:
    """Those of these pages that a search finds, as its ranking looks at them, and its query as it was asked in the
    end: for whoever explains the order."""
    index = backend(alias)
    facts = _facts(index, results)
    matched = _matched(index, facts, results.query)
    found = set(matched.rows).intersection(facts.rows(published_ids))
    return matched.query, _candidates(alias, facts, matched.scores_of(found))


_CHUNK = 500


def _by_title(alias: str, facts: PageFacts, rows: Sequence[int]) -> list[int]:
    titles: dict[int, str] = {}
    for at in range(0, len(rows), _CHUNK):
        ids = [facts.ids[row] for row in rows[at : at + _CHUNK]]
        versions = PublishedVersion.objects.using(alias).filter(id__in=ids)
        titles |= dict(versions.values_list("id", "title"))
    return sorted(rows, key=lambda row: (titles.get(facts.ids[row], ""), row))


def _kept_documents(alias: str, facts: PageFacts, generation: int) -> Documents:
    def read() -> tuple[Documents, int]:
        found = _documents(alias, generation)
        return found, len(found) + 1 if facts.whole else -1

    return search_cache.GENERATIONS.get((*facts.key, "documents"), read)


def _documents(alias: str, generation: int) -> Documents:
    """Title and project of every published document."""
    rows = PublishedDocument.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    return {doc_id: (title, project) for doc_id, title, project in rows.values_list("doc_id", "title", "project")}


def _count(results: Results, library: Library, shown: ShownResults) -> None:
    results.total, results.complete = shown.total, shown.complete
    results.entries, results.crawled = len(shown.folded.rows), shown.crawled.copy()
    results.documents, results.projects = shown.documents.copy(), shown.projects.copy()
    results.titles = {doc_id: _title(library.documents, doc_id) for doc_id in shown.documents}
    for kind, pages in shown.kinds.items():
        results.types[kind.type_id] += pages
        results.sites[kind.host] += pages
        if kind.language:
            results.languages[kind.language] += pages


def _title(documents: Documents, doc_id: int) -> str:
    return documents.get(doc_id, (f"Document {doc_id}", ""))[0]


def _hits(library: Library, query: Query, shown: ShownResults, rows: Sequence[int]) -> list[Hit]:
    facts = library.facts
    numbers = {facts.ids[row]: row for row in rows}
    versions = PublishedVersion.objects.using(library.index.alias).filter(id__in=list(numbers))
    versions = versions.annotate(beginning=Left("text", TEXT_LOOKED_AT)).defer("body", "headings", "anchors", "text")
    by_row = {numbers[version.id]: version for version in versions}
    marker = Marker(query.words)
    hits = []
    for row in rows:
        if row in by_row:
            hit = _hit(by_row[row], shown.scores.get(row, 0.0), marker, library.documents)
            hit.folder = facts.folders[facts.folder[row]]
            others = {facts.kinds[facts.kind[other]].doc_id for other in shown.folded.others.get(row, ())}
            hit.others = sorted((doc_id, _title(library.documents, doc_id)) for doc_id in others)
            hit.similar = shown.folded.similar.get(row, 0)
            hit.more_from_folder = shown.folded.more.get(row, 0)
            hits.append(hit)
    return hits


def _say_what_is_missing(library: Library, query: Query, matched: Matched, hits: Sequence[Hit]) -> None:
    """Of those shown that do not have all words: one look into the index for each word."""
    if matched.complete is None:
        return
    lacking = [hit for hit in hits if library.facts.row_of[hit.published_id] not in matched.complete]
    for group in fewer_words.parts(query, apart=not matched.complete) if lacking else ():
        having = library.index.among([hit.published_id for hit in lacking], (group,))
        for hit in lacking:
            if hit.published_id not in having:
                hit.missing += (" ".join(group[0].words),)


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
    documents, marker = _documents(alias, generation), Marker(query.words)
    rows = PublishedVersion.objects.using(alias).defer("body", "headings", "anchors").in_bulk(published_ids)
    return [_hit(rows[number], 0.0, marker, documents) for number in published_ids if number in rows]
