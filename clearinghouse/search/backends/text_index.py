"""Owns: what every full text index of a target can do, whatever engine it is: keep its pages, and answer one question.

An index holds versions, by published_id. Which of them a reader sees is decided by the generation asked for, never by
the index. Does not: parse queries, make pages. Called by: the engine, the propagation, the word index.
"""

from abc import ABC, abstractmethod
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import datetime
from typing import Any, NamedTuple

from ..narrowing import Documents, Narrow
from ..page_facts import FacetKey
from ..query import Query
from ..ranking.result_order import RankedPage


class Generation(NamedTuple):
    """What readers see of a target."""

    number: int
    switched_at: datetime | None = None


class Window(NamedTuple):
    """The results wanted of a list."""

    offset: int
    limit: int


class Described(NamedTuple):
    """Of a page, what results are narrowed, counted and folded by."""

    published_id: int
    doc_id: int
    type_id: int
    host: str
    language: str
    url: str
    alike: int  # likeness()
    crawled_at: Any  # as this server takes it


@dataclass(frozen=True, slots=True)
class Candidate:
    """One result, and what is folded away behind it."""

    published_id: int
    score: float
    folder: str  # its site and first folder
    similar: int  # other pages of these results that are like it
    others: Sequence[int]  # other documents that have this address
    more_from_folder: int  # all pages of its folder, where some are put away
    missing: tuple[str, ...] = ()  # words of the query it does not have


@dataclass(slots=True)
class Facets:
    """How many of the pages found are of which kind; kept and shared, so nobody may change them."""

    kinds: Counter[FacetKey]
    documents: Counter[int]  # each with its pages, also where another has them, too
    projects: Counter[str]
    crawled: Counter[str]


@dataclass(slots=True)
class Answer:
    query: Query  # as it was asked in the end
    relaxed: bool  # no page has all words
    total: int  # pages, each address once, with those that are folded away
    complete: int  # of them, pages with all words
    entries: int  # results: what a reader can page through
    facets: Facets
    documents: Documents  # all that are published: title and project
    candidates: list[Candidate] = field(default_factory=list)  # those of the window


class TextIndex(ABC):
    """Full text over published_version of one target."""

    def __init__(self, alias: str) -> None:
        self.alias = alias

    @abstractmethod
    def ensure(self) -> None:
        """Creates what the index needs; safe to repeat."""

    @abstractmethod
    def exists(self) -> bool:
        """Whether the index is there."""

    @abstractmethod
    def add(self, published_ids: Sequence[int]) -> int:
        """Indexes these pages (those not indexed yet); how many were."""

    @abstractmethod
    def describe(self, pages: Sequence[Described]) -> None:
        """Writes what results are narrowed by, where it is not there yet; else it is when pages are added."""

    @abstractmethod
    def remove(self, published_ids: Sequence[int]) -> None:
        """Takes these pages out; their rows must still be there."""

    @abstractmethod
    def missing(self, generation: int) -> list[int]:
        """The pages of a generation that are not in the index."""

    def settled(self) -> bool:
        """Whether what was added can be found already; false only where the server indexes on its own time."""
        return True

    def tidy(self, added: int) -> None:
        """After so many pages were added: what the server would do for quick answers by itself, only later."""
        return

    @abstractmethod
    def answer(self, query: Query, narrow: Narrow, generation: Generation, window: Window) -> Answer:
        """What a generation has for a query, and of its results those of the window."""

    @abstractmethod
    def ranked_pages(
        self, query: Query, generation: Generation, published_ids: Sequence[int]
    ) -> tuple[Query, list[RankedPage]]:
        """The query as answer() asks it in the end, and those of these pages it finds, as its ranking looks at them."""

    @abstractmethod
    def finds(self, query: Query, generation: int, published_id: int) -> bool:
        """Whether this page is among the results: the sample queries of a propagation ask this."""

    @abstractmethod
    def holding(self, query: Query, *, after: int, limit: int) -> list[int]:
        """The next versions behind `after` that match, in order, whatever their generation: for the word index."""

    @abstractmethod
    def alike(self, generation: int, published_id: int) -> list[int]:
        """The other pages of a generation that results fold together with this one."""
