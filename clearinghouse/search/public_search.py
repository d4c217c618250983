"""Owns: a search as the public gets it: the words typed, what people taught the search, best bets first, and a second
look when nothing is found.

Does not: know a request or make pages. Called by: the public pages, the feed, the command, whoever explains a ranking.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field

from . import engine, public_target, statement_timeout
from .curation import best_bets, rules_cache, search_rules
from .engine import Hit, Narrow, Results
from .query import Query, parse
from .ranking.no_results import SecondLook, look
from .words import fold

SECONDS = 2.0  # for one question to the database; a search that takes longer is given up


@dataclass(slots=True)
class PublicResults:
    alias: str
    typed: Query  # as it was read, before the rules
    results: Results
    best: list[Hit] = field(default_factory=list)  # recommended, shown before the others
    second: SecondLook = field(default_factory=SecondLook)

    @property
    def total(self) -> int:
        """Results."""
        return self.results.entries or len(self.best)

    @property
    def as_asked(self) -> int:
        """Pages with everything that was typed: none where words were left out to find any."""
        return 0 if self.second.unknown else self.results.complete

    @property
    def searched_for(self) -> str:
        """What was searched for, where that is not what was typed."""
        if self.second.unknown and self.second.without and self.results.total:
            return self.results.query.shown
        return self.typed.shown if self.typed.notes else ""


def answer(text: str, narrow: Narrow, *, limit: int, offset: int = 0, alias: str = "") -> PublicResults:
    """Of the target that serves the public, or of this one. Raises DatabaseError where it does not answer in time."""
    alias = alias or public_target.public_alias()
    with statement_timeout.limited(alias, SECONDS):
        generation = public_target.live_generation(alias)
        typed = parse(text)
        known, projects = rules_cache.current(), projects_of(typed, narrow)

        def ask(query: Query, most: int, start: int = 0) -> Results:
            shaped = search_rules.applied(query, known, projects)
            return engine.search(shaped, alias=alias, generation=generation, limit=most, offset=start, filters=narrow)

        found = PublicResults(alias, typed, ask(typed, limit, offset))
        if not found.results.complete and typed.words and generation:
            found.second = _second_look(text, typed, alias, lambda query: ask(query, 0).complete)
            if found.second.without:
                found.results = ask(parse(found.second.without), limit, offset)
        if offset == 0 and narrow.sort == "best" and not (narrow.doc_ids or narrow.types or narrow.sites):
            _recommend(found, generation, search_rules.recommended(typed, known, projects))
    return found


def _second_look(text: str, typed: Query, alias: str, count: Callable[[Query], int]) -> SecondLook:
    def total(words: str) -> int:
        return count(parse(words))

    def anywhere(word: str) -> int:
        return engine.search(word, alias=alias, limit=0).total

    return look(text, typed, alias, total, anywhere)


def _recommend(found: PublicResults, generation: int, wanted: Sequence[tuple[str, str]]) -> None:
    ids = best_bets.pages_of(found.alias, generation, wanted) if wanted and generation else []
    if ids:
        found.best = engine.hits_of(found.alias, generation, found.results.query, ids)
        found.results.hits = [hit for hit in found.results.hits if hit.published_id not in ids]


def projects_of(query: Query, narrow: Narrow) -> tuple[str, ...]:
    """The projects a search is narrowed to; empty: it looks at all. A part of a name stands for those that have it."""
    asked = [fold(name) for name in query.filters.projects]
    if not asked:
        return narrow.projects
    names = {
        project
        for project in search_rules.projects_in(rules_cache.current())
        if any(part in fold(project) for part in asked)
    }
    return (*narrow.projects, *sorted(names)) or tuple(query.filters.projects)
