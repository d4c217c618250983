"""Owns: which pages with a word that very many pages have carry a score: a score for each would take longer than
anybody waits.

Does not: hold SQL. Called by: the adapters of servers that find pages much faster than they score them.
"""

from abc import abstractmethod
from operator import itemgetter

from clearinghouse.search.query import Query

from .facts_answer import FactsIndex
from .sql_index import Matches

COMMON, ENOUGH = 1500, 60  # pages with a word; of them, pages that name it (as many as are ranked)
FEW = 10  # pages that name it: a page of results
SCORED = 1000  # of the pages with a common word


class ByName(FactsIndex):
    """Scores those that name a common word in title, headings or anchors; where they are few, the newest of the others
    as well; where nearly none does, all, or as many of the newest as this server scores while somebody waits."""

    NEWEST = 3000  # of the pages that only mention it, so many are scored behind a page of results that name it
    MOST_OF_UNNAMED = 0  # where no page of results names it; 0: all

    def matches(self, query: Query) -> Matches:
        if query.choices or not query.groups or not self._finds_quickly(query):
            return super().matches(query)
        everyone = self._ids(query)
        if len(everyone) <= COMMON:
            return super().matches(query)
        best = self._scored(query, SCORED, named=True)
        if len(best) < ENOUGH:
            # With a full page of results that name it, who only mentions it comes behind them.
            most = self.NEWEST if len(best) >= FEW else self.MOST_OF_UNNAMED
            newest = self._scored(query, SCORED, since=everyone[-most:][0])
            best = sorted((dict(newest) | dict(best)).items(), key=itemgetter(1), reverse=True)
        return Matches(best, everyone)

    def _finds_quickly(self, query: Query) -> bool:
        """Whether it takes much less time to find the pages than to score them."""
        return True

    @abstractmethod
    def _ids(self, query: Query) -> list[int]:
        """Of all versions that match, in order; as one value, for which Python needs a third of the time."""

    @abstractmethod
    def _scored(self, query: Query, most: int, *, named: bool = False, since: int = 0) -> list[tuple[int, float]]:
        """The best of those that match, best first: of all, of those that name it, or of those since a version."""
