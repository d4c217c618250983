"""Owns: what is asked for when few pages or none have all words: pages with most of the telling ones. Pure.

What stands in quotes or behind +, words for the title and exclusions stay as strict as they were; a name like
os.path.join, which was one thing to look for, becomes its parts where it stands nowhere. Called by: the engine.
"""

import math
from collections.abc import Sequence
from dataclasses import replace

from ..query import Groups, Query, Term

SHARES = (0.5, 0.01)  # of what all words tell: so much a page must have; where none has, any word will do
MOST = 6  # words that decide; the others only help the order
FEW = 60  # pages with all words, as many as are ranked; where there are fewer, pages with most of them come along
LEAST = 3  # words of which most can be told from all
NOTE = "No page has all of your words; these have some of them, and each says what is missing."


Counted = tuple[tuple[Term, ...], int]  # a part, and the pages that have it


def may_follow(query: Query) -> bool:
    """Whether pages with most of the words are worth showing beside those with all."""
    return len(parts(query, apart=False)) >= LEAST


def parts(query: Query, *, apart: bool = True) -> Groups:
    """What may be missing, piece by piece; with `apart` identifiers are several pieces."""
    found: list[tuple[Term, ...]] = []
    for group in query.required:
        if _strict(group):
            continue
        if apart and len(group) == 1 and len(group[0].words) > 1:
            found += [(term,) for term in _apart(group[0])]
        else:
            found.append(group)
    return tuple(dict.fromkeys(found))


def relaxed(query: Query, counted: Sequence[Counted], pages: int, share: float = SHARES[0]) -> Query | None:
    """The query for pages with some of the words; `counted` says of each part how many pages have it.

    None where there is nothing to leave out."""
    known = [(group, count) for group, count in counted if count]
    strict = tuple(group for group in query.required if _strict(group))
    if not known and not strict:
        return None
    known.sort(key=lambda one: one[1])
    telling = {group: math.log(1 + max(pages, count) / count) for group, count in known[:MOST]}
    groups = (*strict, *(group for group, _ in known))
    if set(groups) == set(query.required) and len(known) < 2:
        return None
    return replace(query, groups=groups, choices=tuple((*strict, *chosen) for chosen in _choices(telling, share)))


def _strict(group: tuple[Term, ...]) -> bool:
    return any(term.strict or term.title for term in group)


def _apart(term: Term) -> list[Term]:
    last = len(term.words) - 1
    return [replace(term, words=(word,), prefix=term.prefix and at == last) for at, word in enumerate(term.words)]


def _choices(telling: dict[tuple[Term, ...], float], share: float) -> list[Groups]:
    """The smallest sets of words that together tell enough; the most telling word stands first."""
    enough = share * sum(telling.values())
    groups = list(telling)
    found: list[Groups] = []

    def choose(at: int, chosen: Groups, told: float) -> None:
        if told >= enough:
            found.append(chosen)
        elif at < len(groups):
            choose(at + 1, (*chosen, groups[at]), told + telling[groups[at]])
            choose(at + 1, chosen, told)

    choose(0, (), 0.0)
    return [one for one in found if not any(set(other) < set(one) for other in found)]
