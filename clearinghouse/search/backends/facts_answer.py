"""Owns: how a database's own full text answers: what is known of all pages of a generation stands in memory, the
server finds and scores, and all narrowing, counting, ranking and folding is done here.

Does not: hold SQL (its adapters), fetch what is shown (the engine). Called by: the engine, as TextIndex.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from datetime import UTC, datetime
from itertools import filterfalse, islice
from typing import Any

from django.db.models.functions import Left
from django.utils import timezone

from clearinghouse.published.models import PublishedVersion

from .. import search_cache
from ..narrowing import Documents, Narrow, narrowed
from ..page_facts import DAY, FacetKey, PageFacts, PageGroup, Summed
from ..public_target import documents_of
from ..query import Query
from ..ranking import fewer_words
from ..ranking.folding import Folded, folded
from ..ranking.result_order import LOOKED_AT, POOL, RankedPage, ranked
from ..ranking.similarity import ALONE
from .sql_index import SqlIndex
from .text_index import Answer, Candidate, Facets, Generation, Window

_AT_ONCE = 500
_ENOUGH = 12  # bytes of a digest; what is alike by chance is one result too few


class FactsIndex(SqlIndex):
    """Answers from facts in memory and a few questions to the server."""

    def answer(self, query: Query, narrow: Narrow, generation: Generation, window: Window) -> Answer:
        facts = _facts(self, generation)
        library = Library(self, facts, _kept_documents(self.alias, facts, generation.number), timezone.now())
        matched = _matched(self, facts, query)
        asked = (*facts.key, query.groups, query.without, query.filters, narrow, library.now.date())
        shown = search_cache.SEARCHES.get(asked, lambda: _shown(library, matched, query, narrow))
        rows = shown.folded.rows[window.offset : window.offset + window.limit]
        missing = _missing(library, query, matched, rows)
        return Answer(
            matched.query, matched.relaxed, shown.total, shown.complete, len(shown.folded.rows), shown.facets,
            library.documents, [_candidate(facts, shown, row, tuple(missing.get(row, ()))) for row in rows],
        )  # fmt: skip

    def ranked_pages(
        self, query: Query, generation: Generation, published_ids: Sequence[int]
    ) -> tuple[Query, list[RankedPage]]:
        facts = _facts(self, generation)
        matched = _matched(self, facts, query)
        found = set(matched.rows).intersection(facts.rows(published_ids))
        return matched.query, _candidates(self.alias, facts, matched.scores_of(found))


@dataclass(frozen=True, slots=True)
class Library:
    """What is searched: one generation of one target, today."""

    index: FactsIndex
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
    """What a search shows: everything but the results of one window."""

    total: int
    complete: int
    facets: Facets
    folded: Folded
    scores: dict[int, float]


def _facts(index: FactsIndex, generation: Generation) -> PageFacts:
    key = (index.alias, str(index.connection.settings_dict["NAME"]), *generation)

    def read() -> tuple[PageFacts, int]:
        facts = read_facts(index, generation.number, key)
        search_cache.let_go(index.alias, generation.number)
        return facts, len(facts) if facts.whole else -1

    return search_cache.GENERATIONS.get(key, read)


def _matched(index: FactsIndex, facts: PageFacts, query: Query) -> Matched:
    def make() -> tuple[Matched, int]:
        found = find(index, facts, query)
        return found, 2 * len(found.rows) + search_cache.ANSWER if facts.whole else -1

    return search_cache.SEARCHES.get((*facts.key, query.groups, query.without, "matched"), make)


def find(index: FactsIndex, facts: PageFacts, query: Query) -> Matched:
    """All words; where few pages have them, also those with most of the telling ones, and where none has, with any."""
    if not query.groups:
        return _excluding(index, facts, Matched(query, array("q", range(len(facts))), array("d")))
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


def _by_score(index: FactsIndex, facts: PageFacts, query: Query) -> Matched:
    found = index.matches(query)
    row_of = facts.row_of.get
    best = {row_of(number): score for number, score in found.best}
    best.pop(None, None)  # a page of other generations
    rows = array("q", [*best, *filterfalse({None, *best}.__contains__, map(row_of, found.others))])
    return _excluding(index, facts, Matched(query, rows, array("d", best.values())))


def _excluding(index: FactsIndex, facts: PageFacts, found: Matched) -> Matched:
    if not found.query.without:
        return found
    without = set(facts.rows(index.having(tuple((term,) for term in found.query.without))))
    scores = array("d", (score for row, score in zip(found.rows, found.scores, strict=False) if row not in without))
    return Matched(found.query, array("q", (row for row in found.rows if row not in without)), scores)


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
    facets = Facets(sums.kinds, documents, projects, sums.ages(library.now))
    return ShownResults(len(once), complete, facets, shown, scores), weight


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


def _by_title(alias: str, facts: PageFacts, rows: Sequence[int]) -> list[int]:
    titles: dict[int, str] = {}
    for at in range(0, len(rows), _AT_ONCE):
        ids = [facts.ids[row] for row in rows[at : at + _AT_ONCE]]
        versions = PublishedVersion.objects.using(alias).filter(id__in=ids)
        titles |= dict(versions.values_list("id", "title"))
    return sorted(rows, key=lambda row: (titles.get(facts.ids[row], ""), row))


def _candidate(facts: PageFacts, shown: ShownResults, row: int, missing: tuple[str, ...]) -> Candidate:
    put_away = shown.folded
    others = sorted({facts.kinds[facts.kind[other]].doc_id for other in put_away.others.get(row, ())})
    return Candidate(
        facts.ids[row], shown.scores.get(row, 0.0), facts.folders[facts.folder[row]], put_away.similar.get(row, 0),
        others, put_away.more.get(row, 0), missing,
    )  # fmt: skip


def _missing(library: Library, query: Query, matched: Matched, rows: Sequence[int]) -> dict[int, list[str]]:
    """Of those of the rows that do not have all words: one look into the index for each word."""
    if matched.complete is None:
        return {}
    facts, found = library.facts, {row: list[str]() for row in rows if row not in matched.complete}
    for group in fewer_words.parts(query, apart=not matched.complete) if found else ():
        having = library.index.among([facts.ids[row] for row in found], (group,))
        for row, words in found.items():
            if facts.ids[row] not in having:
                words.append(" ".join(group[0].words))
    return found


def _kept_documents(alias: str, facts: PageFacts, generation: int) -> Documents:
    def read() -> tuple[Documents, int]:
        found = documents_of(alias, generation)
        return found, len(found) + 1 if facts.whole else -1

    return search_cache.GENERATIONS.get((*facts.key, "documents"), read)


def read_facts(index: FactsIndex, generation: int, key: tuple[Any, ...]) -> PageFacts:
    kinds: dict[FacetKey, int] = {}
    folders: dict[str, int] = {}
    firsts: dict[int, int] = {}
    groups: dict[PageGroup, int] = {}
    facts = PageFacts(
        key, array("q"), [], array("i"), [], array("i"), array("q"), array("q"), array("d"), array("i"), alone=True,
        once=True, groups=[], group=array("i"),
    )  # fmt: skip
    for row, (published_id, doc_id, type_id, host, language, folder, alike, crawled_at) in enumerate(
        index.facts(generation)
    ):
        facts.ids.append(published_id)
        facts.kind.append(kinds.setdefault(FacetKey(doc_id, type_id, host, language), len(kinds)))
        facts.folder.append(folders.setdefault(folder, len(folders)))
        first = row if alike == ALONE else firsts.setdefault(alike, row)
        facts.alike.append(first)
        facts.alone = facts.alone and first == row
        facts.crawled.append(_moment(crawled_at))
        facts.day.append(int(facts.crawled[row] // DAY))
        group = PageGroup(facts.kind[row], facts.folder[row], facts.day[row])
        facts.group.append(groups.setdefault(group, len(groups)))
    facts.groups = list(groups)
    facts.whole = not index.missing(generation)
    facts.kinds, facts.folders = list(kinds), list(folders)
    facts.row_of = {published_id: row for row, published_id in enumerate(facts.ids)}
    facts.same = array("q", range(len(facts)))
    _find_same(facts, index, generation)
    return facts


def _find_same(facts: PageFacts, index: FactsIndex, generation: int) -> None:
    """Only of sites that several documents have: an address stands in a document once."""
    pairs = {(kind.doc_id, kind.host) for kind in facts.kinds}
    documents = Counter(host for _, host in pairs)
    shared = sorted({doc_id for doc_id, host in pairs if documents[host] > 1})
    firsts: dict[bytes, int] = {}
    for at in range(0, len(shared), _AT_ONCE):
        for published_id, url_key in index.addresses(generation, shared[at : at + _AT_ONCE]):
            row = facts.row_of.get(published_id)
            if row is not None:
                facts.same[row] = firsts.setdefault(bytes(url_key)[:_ENOUGH], row)
                facts.once = facts.once and facts.same[row] == row


def _moment(value: Any) -> float:
    moment = datetime.fromisoformat(value) if isinstance(value, str) else value
    return (moment if moment.tzinfo else moment.replace(tzinfo=UTC)).timestamp()
