"""Owns: what every full text adapter can do, and the part of the SQL that is the same everywhere.

The index holds versions, keyed by published_id; which of them a reader sees is decided by joining the intervals
of the generation asked for. Does not: parse queries. Called by: the adapters.
"""

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass, field
from datetime import date
from typing import Any

from django.db import connections

from clearinghouse.search.query import Query

# How much a word counts where it stands: title, headings, metas, anchor texts, body.
WEIGHTS = (10.0, 4.0, 3.0, 5.0, 1.0)
COLUMNS = ("title_str", "headings", "metas", "anchors", "text")
SORTS = {"newest": "v.crawled_at DESC, v.published_id", "title": "v.title_str, v.published_id"}

Parts = list[tuple[str, list[Any]]]  # conditions and their parameters


@dataclass(frozen=True, slots=True)
class Scope:
    """Which published pages are looked at."""

    generation: int
    doc_ids: frozenset[int] | None = None  # None: all
    sites: tuple[str, ...] = ()
    types: tuple[int, ...] = ()
    after: date | None = None
    before: date | None = None
    published_ids: tuple[int, ...] | None = None


@dataclass(slots=True)
class Found:
    """The pages of one page of results, best first, and the counts over all."""

    ids: list[tuple[int, float]] = field(default_factory=list)
    groups: list[tuple[int, int, str, int]] = field(default_factory=list)  # document, type, site, pages


class Backend(ABC):
    """Full text over published_version of one target."""

    def __init__(self, alias: str) -> None:
        self.alias = alias
        self.connection = connections[alias]

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
    def remove(self, published_ids: Sequence[int]) -> None:
        """Takes these pages out; their rows must still be there."""

    @abstractmethod
    def missing(self, generation: int) -> list[int]:
        """The pages of a generation that are not in the index."""

    @abstractmethod
    def _match(self, query: Query) -> tuple[str, str, str, Parts]:
        """Of the words: the score (higher is better), its FROM, how it is joined, the conditions."""

    def find(self, query: Query, scope: Scope, *, sort: str = "best", limit: int = 10, offset: int = 0) -> Found:
        """One page of results and the counts of the facets."""
        score, source, parts = self._source(query, scope)
        where = " AND ".join(part for part, _ in parts)
        values = [value for _, part_values in parts for value in part_values]
        groups = self._rows(
            f"SELECT v.doc_id, v.crawl_page_type_id, v.host, COUNT(*) FROM {source} WHERE {where} "  # noqa: S608
            "GROUP BY v.doc_id, v.crawl_page_type_id, v.host",
            values,
        )
        order = SORTS.get(sort, "score DESC, v.published_id")
        ids = self._rows(
            f"SELECT v.published_id, {score} AS score FROM {source} WHERE {where} "  # noqa: S608
            f"ORDER BY {order} LIMIT %s OFFSET %s",
            [*values, limit, offset],
        )
        return Found(ids=[(row[0], float(row[1])) for row in ids], groups=[tuple(row) for row in groups])

    def finds(self, query: Query, generation: int, published_id: int) -> bool:
        """Whether this page is among the results: the sample queries of a propagation ask this."""
        _, source, parts = self._source(query, Scope(generation, published_ids=(published_id,)))
        where = " AND ".join(part for part, _ in parts)
        values = [value for _, part_values in parts for value in part_values]
        return bool(self._rows(f"SELECT 1 FROM {source} WHERE {where}", values))  # noqa: S608

    def _source(self, query: Query, scope: Scope) -> tuple[str, str, Parts]:
        score, source, join, matches = self._match(query)
        tables = "published_interval i JOIN published_version v ON v.published_id = i.published_id"
        if source:
            tables = (
                f"{source} JOIN published_interval i ON i.published_id = {join} "
                "JOIN published_version v ON v.published_id = i.published_id"
            )
        return score, tables, [*matches, *_conditions(scope)]

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, list(values))
            return list(cursor.fetchall())


def _conditions(scope: Scope) -> Parts:
    parts: Parts = [("i.gen_from <= %s AND i.gen_to > %s", [scope.generation, scope.generation])]
    if scope.published_ids is not None:
        parts.append((_any_of("i.published_id", len(scope.published_ids)), list(scope.published_ids)))
    if scope.doc_ids is not None:
        parts.append((_any_of("i.doc_id", len(scope.doc_ids)), sorted(scope.doc_ids)))
    if scope.types:
        parts.append((_any_of("v.crawl_page_type_id", len(scope.types)), list(scope.types)))
    if scope.sites:
        host = "(v.host = %s OR v.host LIKE %s ESCAPE '!')"
        values = [item for site in scope.sites for item in (site, "%." + _literal(site))]
        parts.append((f"({' OR '.join([host] * len(scope.sites))})", values))
    if scope.after:
        parts.append(("v.crawled_at >= %s", [scope.after.isoformat()]))
    if scope.before:
        parts.append(("v.crawled_at < %s", [scope.before.isoformat()]))
    return parts


def _literal(text: str) -> str:
    return text.replace("!", "!!").replace("%", "!%").replace("_", "!_")


def _any_of(column: str, count: int) -> str:
    return f"{column} IN ({', '.join(['%s'] * count)})" if count else "1 = 0"
