"""Owns: the rules as the public search reads them: kept for a few seconds, bounded, never in the way of a search.

While WebCrawl does not answer, the rules known last go on counting; without any the search works as it is.
Does not: write rules. Called by: the public search; services after a change.
"""

import time
from collections.abc import Iterable

from django.db import DatabaseError

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.search.models import SearchRule
from clearinghouse.search.words import words_of

from ..models.rules import RuleKind
from .search_rules import BestBet, SearchRules, synonyms_of

SECONDS = 5.0
MOST_RULES = 2000  # of the oldest; more would be a lexicon, not a few helps

_known: list[tuple[float, SearchRules]] = []  # at most one: when it was read, and what


def current() -> SearchRules:
    """What counts now, at most a few seconds old."""
    now = time.monotonic()
    if _known and now - _known[0][0] < SECONDS:
        return _known[0][1]
    try:
        rules = of_rows(SearchRule.objects.using(WEBCRAWL).filter(deleted=False).order_by("id")[:MOST_RULES])
    except DatabaseError:
        rules = _known[0][1] if _known else SearchRules()
    _known[:] = [(now, rules)]
    return rules


def forget() -> None:
    """The next search of this process reads the rules again; others follow within seconds."""
    _known.clear()


def of_rows(rows: Iterable[SearchRule]) -> SearchRules:
    synonyms, stopwords, bets = [], [], []
    for row in rows:
        words = tuple(words_of(row.words))
        if row.kind == RuleKind.SYNONYM:
            synonyms += synonyms_of(row.words, row.lines, both_ways=row.both_ways, project=row.project)
        elif row.kind == RuleKind.STOPWORD:
            stopwords += [(word, row.project) for word in words]
        elif words:
            bets.append(BestBet(words, tuple(row.lines), row.project))
    return SearchRules(tuple(synonyms), tuple(stopwords), tuple(bets))
