"""Owns: what is known of all pages of one generation: their documents, types, sites, folders, days; read once and
kept, so that narrowing, counting and folding cost no query.

Does not: know words, or read. Called by: facts_answer, narrowing, folding.
"""

from array import array
from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from datetime import UTC, date, datetime
from typing import Any, NamedTuple

WEEK, MONTH, YEAR, OLDER = "week", "month", "year", "older"
DAY = 86400
_DAYS = {WEEK: 7, MONTH: 31, YEAR: 366}  # each holds the one before; older is what a year does not


class FacetKey(NamedTuple):
    """What facets count."""

    doc_id: int
    type_id: int
    host: str
    language: str


class PageGroup(NamedTuple):
    """Places of a kind and a folder, and a day since 1970: there are far fewer of these than pages."""

    kind: int
    folder: int
    day: int


@dataclass(slots=True)
class PageFacts:
    """A row for each page, in order of published_id; rows are what searches hand around."""

    key: tuple[Any, ...]
    ids: "array[int]"
    kinds: list[FacetKey]
    kind: "array[int]"  # place in kinds
    folders: list[str]
    folder: "array[int]"  # place in folders
    alike: "array[int]"  # the first row with the same likeness
    same: "array[int]"  # the first row with the same address: another document may have it, too
    crawled: "array[float]"
    day: "array[int]"  # since 1970
    alone: bool  # no page is like another one
    once: bool  # no address is there twice
    groups: list[PageGroup]
    group: "array[int]"  # place in groups
    whole: bool = True  # every page of the generation is in the index; while one is built anew, nothing is kept
    row_of: dict[int, int] = field(default_factory=dict)

    def __len__(self) -> int:
        return len(self.ids)

    def rows(self, published_ids: Iterable[int]) -> list[int]:
        """Those of them this generation shows."""
        return [row for row in map(self.row_of.get, published_ids) if row is not None]

    def each_once(self, rows: Sequence[int]) -> Sequence[int]:
        """The first of the rows of each address, in the same order."""
        if self.once:
            return rows
        first: dict[int, int] = {}
        for row in rows:
            first.setdefault(self.same[row], row)
        return array("q", first.values())

    def summed(self, rows: Sequence[int]) -> "Summed":
        return Summed(self, Counter(map(self.group.__getitem__, rows)))


class Summed:
    """How many of some pages are of which kind, in which folder, how old: the pages are walked once for all of it."""

    def __init__(self, facts: PageFacts, groups: Counter[int]) -> None:
        self._facts, self._groups = facts, groups

    @property
    def kinds(self) -> Counter[FacetKey]:
        counted: Counter[int] = Counter()
        for group, pages in self._groups.items():
            counted[self._facts.groups[group].kind] += pages
        return Counter({self._facts.kinds[kind]: pages for kind, pages in counted.items()})

    @property
    def folders(self) -> Counter[int]:
        counted: Counter[int] = Counter()
        for group, pages in self._groups.items():
            counted[self._facts.groups[group].folder] += pages
        return counted

    @property
    def one_site(self) -> bool:
        return len({kind.host for kind in self.kinds}) <= 1

    def ages(self, now: datetime) -> Counter[str]:
        """Pages crawled within the last week, month, year, and earlier."""
        days: Counter[int] = Counter()
        for group, pages in self._groups.items():
            days[self._facts.groups[group].day] += pages
        counted: Counter[str] = Counter()
        for day, pages in days.items():
            counted.update(dict.fromkeys(ages_of_day(day, now), pages))
        return counted


def ages_of_day(day: int, now: datetime) -> list[str]:
    """The ages a day since 1970 belongs to."""
    age = int(now.timestamp() // DAY) - day
    return [name for name, days in _DAYS.items() if age <= days] or [OLDER]


def midnight(day: date) -> float:
    return datetime(day.year, day.month, day.day, tzinfo=UTC).timestamp()
