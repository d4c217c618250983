"""Owns: how synonyms and stopwords change a query, and which addresses are recommended for it. Pure.

A rule belongs to the whole house or to one project. Synonyms and best bets of a project count in every search that
looks at the project; its stopwords only in searches narrowed to it, because they take words away from everybody.
Does not: know the database. Called by: the public search, the explanation of a ranking, the tests.
"""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace

from clearinghouse.search.query import Query, Term
from clearinghouse.search.small_words import known as small_words
from clearinghouse.search.words import stem, words_of

MOST_ADDED = 24  # terms that synonyms may add to one query

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Synonym:
    """Whoever searches for the words also finds the others."""

    words: Words
    others: tuple[Words, ...]
    project: str = ""  # empty: the whole house

    @property
    def key(self) -> Words:
        return stems(self.words)


@dataclass(frozen=True, slots=True)
class BestBet:
    words: Words
    urls: tuple[str, ...]
    project: str = ""


@dataclass(frozen=True, slots=True)
class SearchRules:
    synonyms: tuple[Synonym, ...] = ()
    stopwords: tuple[tuple[str, str], ...] = ()  # word and project
    best_bets: tuple[BestBet, ...] = field(default=())


def stems(words: Iterable[str]) -> Words:
    return tuple(map(stem, words))


def synonyms_of(words: str, others: Sequence[str], *, both_ways: bool, project: str = "") -> list[Synonym]:
    """One rule as it was written down: from the words to the others, or from each to all."""
    first, rest = tuple(words_of(words)), [tuple(words_of(one)) for one in others]
    rest = [one for one in rest if one and one != first]
    if not first or not rest:
        return []
    found = [Synonym(first, tuple(rest), project)]
    if both_ways:
        everybody = [first, *rest]
        found += [Synonym(one, tuple(other for other in everybody if other != one), project) for one in rest]
    return found


def projects_in(rules: SearchRules) -> set[str]:
    """The projects that have rules of their own."""
    names = {rule.project for rule in rules.synonyms} | {rule.project for rule in rules.best_bets}
    return (names | {project for _, project in rules.stopwords}) - {""}


def applied(query: Query, rules: SearchRules, projects: Sequence[str] = ()) -> Query:
    """The query with the rules of the house and of these projects; `projects` empty: it looks at all of them."""
    return with_synonyms(without_stopwords(query, rules, projects), rules, projects)


def without_stopwords(query: Query, rules: SearchRules, projects: Sequence[str] = ()) -> Query:
    """Single words that say nothing are left out, unless nothing else was typed. Phrases keep theirs."""
    empty = {word for word, project in rules.stopwords if not project or project in projects}
    kept = tuple(group for group in query.groups if not _only_stopword(group, empty))
    if all(group[0].small for group in kept) or len(kept) == len(query.groups):
        return query
    gone = dict.fromkeys(group[0].words[0] for group in query.groups if _only_stopword(group, empty))
    said = ", ".join(f"“{word}”" for word in gone)
    note = f"{said} {'was' if len(gone) == 1 else 'were'} left out: pages everywhere contain it."
    return replace(query, groups=kept, notes=(*query.notes, note))


def _only_stopword(group: tuple[Term, ...], empty: set[str]) -> bool:
    term = group[0]
    plain = len(group) == 1 and len(term.words) == 1 and not term.title and not term.prefix
    return plain and term.words[0] in empty


def with_synonyms(query: Query, rules: SearchRules, projects: Sequence[str] = ()) -> Query:
    """Other words for the words of the query become alternatives of them."""
    groups = [list(group) for group in query.groups]
    added: dict[Words, None] = {}
    for synonym in rules.synonyms:
        if synonym.project and projects and synonym.project not in projects:
            continue
        for at in _places(query.groups, synonym.key):
            new = [other for other in synonym.others if other not in added][: MOST_ADDED - len(added)]
            added |= dict.fromkeys(new)
            fresh = [other for other in synonym.others if other in added]
            for group in groups[at : at + _width(query.groups[at], synonym.key)]:
                known = {(term.words, term.title) for term in group}
                title = group[0].title
                group += [Term(one, title=title, typed=" ".join(one)) for one in fresh if (one, title) not in known]
    if not added:
        return query
    said = ", ".join(" ".join(words) for words in added)
    return replace(
        query, groups=tuple(tuple(group) for group in groups), notes=(*query.notes, f"Also searched for: {said}.")
    )


def _places(groups: Sequence[tuple[Term, ...]], key: Words) -> list[int]:
    """Where the words of a rule stand in a query: as a term, or as single words one after the other.

    (heart or infarction) and (attack or infarction) is the same as (heart and attack) or infarction.
    """
    found = [at for at, group in enumerate(groups) if any(_is(term, key) for term in group)]
    if len(key) > 1:
        for at in range(len(groups) - len(key) + 1):
            window = groups[at : at + len(key)]
            if all(len(group) == 1 and _is(group[0], (word,)) for group, word in zip(window, key, strict=True)):
                found.append(at)
    return found


def _width(group: tuple[Term, ...], key: Words) -> int:
    return 1 if any(_is(term, key) for term in group) else len(key)


def _is(term: Term, key: Words) -> bool:
    return not term.prefix and stems(term.words) == key


def recommended(query: Query, rules: SearchRules, projects: Sequence[str] = ()) -> list[tuple[str, str]]:
    """Address and project of the best bets of exactly this query, in any order and with any small words."""
    if not query.groups or query.without or any(len(group) > 1 for group in query.groups):
        return []
    asked = _telling(word for group in query.groups for word in group[0].words)
    found = [
        (url, bet.project)
        for bet in rules.best_bets
        if _telling(bet.words) == asked and (not bet.project or not projects or bet.project in projects)
        for url in bet.urls
    ]
    return list(dict.fromkeys(found))


def _telling(words: Iterable[str]) -> list[str]:
    """In one order, and without small words where there are others: "how do I apply" asks for what "apply" does."""
    every = list(words)
    return sorted(stems([word for word in every if word not in small_words()] or every))
