"""Owns: the SQL of a database's own full text that is the same on every server.

The index holds versions, keyed by published_id; beside it stands `published_facts`, one narrow row a page with what
results are narrowed, counted and folded by. Which versions a reader sees is decided by the intervals of the
generation asked for. Does not: parse queries, decide an order. Called by: the adapters.
"""

from abc import abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from operator import itemgetter
from typing import Any

from django.db import connections

from clearinghouse.search.query import Groups, Query

from .. import search_cache
from ..ranking.similarity import ALONE, folder_of, language_of, likeness
from .text_index import Described, TextIndex

# How much a word counts where it stands: title, headings, metas, anchor texts, body.
WEIGHTS = (10.0, 4.0, 3.0, 5.0, 1.0)
COLUMNS = ("title_str", "headings", "metas", "anchors", "text")
FACTS = ("published_id", "doc_id", "crawl_page_type_id", "host", "language", "folder", "alike", "crawled_at")
_CREATE = (
    "CREATE TABLE IF NOT EXISTS published_facts (published_id {number} PRIMARY KEY, doc_id {number} NOT NULL, "
    "crawl_page_type_id integer NOT NULL, host {text} NOT NULL, language {text} NOT NULL, folder {text} NOT NULL, "
    "alike {number} NOT NULL, crawled_at {moment} NOT NULL)"
)


_SCORE_OF = itemgetter(1)


@dataclass(frozen=True, slots=True)
class Matches:
    """Versions by published_id: the best, with the index's score, best first; behind them all that match, by id.

    `others` may be empty: then the best are all there are.
    """

    best: Sequence[tuple[int, float]]
    others: Sequence[int] = ()


class SqlIndex(TextIndex):
    """Full text by the server that holds published_version."""

    TYPES = {"number": "integer", "text": "text", "moment": "datetime"}
    FIRST = "LIMIT %s"  # behind ORDER BY: so many rows, no more

    def __init__(self, alias: str) -> None:
        super().__init__(alias)
        self.connection = connections[alias]

    def ensure(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(_CREATE.format(**self.TYPES))
        self._ensure()

    def add(self, published_ids: Sequence[int]) -> int:
        search_cache.forget(self.alias)
        self._add_facts(published_ids)
        return self._add(published_ids)

    def describe(self, pages: Sequence[Described]) -> None:
        sql = f"SELECT published_id FROM published_facts WHERE published_id IN ({marks(pages)})"  # noqa: S608
        known = {row[0] for row in self._rows(sql, [page.published_id for page in pages])}
        insert = f"INSERT INTO published_facts ({', '.join(FACTS)}) VALUES ({marks(FACTS)})"  # noqa: S608
        with self.connection.cursor() as cursor:
            cursor.executemany(insert, [_facts_of(page) for page in pages if page.published_id not in known])

    def remove(self, published_ids: Sequence[int]) -> None:
        search_cache.forget(self.alias)
        self._remove(published_ids)
        sql = f"DELETE FROM published_facts WHERE published_id IN ({marks(published_ids)})"  # noqa: S608
        self._execute(sql, published_ids)

    @abstractmethod
    def _ensure(self) -> None: ...

    @abstractmethod
    def _add(self, published_ids: Sequence[int]) -> int: ...

    @abstractmethod
    def _remove(self, published_ids: Sequence[int]) -> None: ...

    @abstractmethod
    def _match(self, query: Query) -> tuple[str, str, str, str, list[Any]]:
        """Of the groups of a query: the key, the score (higher is better), the FROM, the condition, its values."""

    def matches(self, query: Query) -> Matches:
        """Every version with these words, whatever the generation."""
        key, score, source, condition, values = self._match(query)
        rows = self._rows(f"SELECT {key}, {score} FROM {source} WHERE {condition} ORDER BY {key}", values)  # noqa: S608
        return Matches(sorted(rows, key=_SCORE_OF, reverse=True))  # equal ones in order of their ids

    def having(self, groups: Groups) -> set[int]:
        """Every version with one of these groups, unscored."""
        key, _, source, condition, values = self._match(Query(groups=(tuple(t for g in groups for t in g),)))
        return {row[0] for row in self._rows(f"SELECT {key} FROM {source} WHERE {condition}", values)}  # noqa: S608

    def frequency(self, group: Groups) -> int:
        """How many versions match all these groups."""
        _, _, source, condition, values = self._match(Query(groups=group))
        return int(self._rows(f"SELECT COUNT(*) FROM {source} WHERE {condition}", values)[0][0])  # noqa: S608

    def finds(self, query: Query, generation: int, published_id: int) -> bool:
        key, _, source, condition, values = self._match(query)
        sql = (
            f"SELECT 1 FROM {source} JOIN published_interval i ON i.published_id = {key} WHERE {condition} "  # noqa: S608
            "AND i.gen_from <= %s AND i.gen_to > %s AND i.published_id = %s"
        )
        return bool(self._rows(sql, [*values, generation, generation, published_id]))

    def among(self, published_ids: Sequence[int], group: Groups) -> set[int]:
        """Those of these versions that match all these groups."""
        key, _, source, condition, values = self._match(Query(groups=group))
        sql = f"SELECT {key} FROM {source} WHERE {condition} AND {key} IN ({marks(published_ids)})"  # noqa: S608
        return {row[0] for row in self._rows(sql, [*values, *published_ids])}

    def holding(self, query: Query, *, after: int, limit: int) -> list[int]:
        key, _, source, condition, values = self._match(query)
        sql = f"SELECT {key} FROM {source} WHERE {condition} AND {key} > %s ORDER BY {key} {self.FIRST}"  # noqa: S608
        return [row[0] for row in self._rows(sql, [*values, after, limit])]

    def facts(self, generation: int) -> list[Any]:
        """What is known of every page of a generation, in the order of FACTS."""
        names = ", ".join(f"f.{name}" for name in FACTS)
        sql = (
            f"SELECT {names} FROM published_interval i JOIN published_facts f ON f.published_id = i.published_id "  # noqa: S608
            "WHERE i.gen_from <= %s AND i.gen_to > %s ORDER BY f.published_id"
        )
        return self._rows(sql, [generation, generation])

    def addresses(self, generation: int, doc_ids: Sequence[int]) -> list[Any]:
        """Version and key of the address of every page that a generation has of these documents."""
        sql = (
            "SELECT v.published_id, v.url_key FROM published_interval i "  # noqa: S608
            "JOIN published_version v ON v.published_id = i.published_id "
            f"WHERE i.gen_from <= %s AND i.gen_to > %s AND i.doc_id IN ({marks(doc_ids)}) ORDER BY v.published_id"
        )
        return self._rows(sql, [generation, generation, *doc_ids])

    def alike(self, generation: int, published_id: int) -> list[int]:
        sql = (
            "SELECT f.published_id FROM published_facts me JOIN published_facts f ON f.alike = me.alike "
            "JOIN published_interval i ON i.published_id = f.published_id WHERE me.published_id = %s "
            "AND me.alike <> %s AND f.published_id <> me.published_id AND i.gen_from <= %s AND i.gen_to > %s "
            "ORDER BY f.published_id"
        )
        return [row[0] for row in self._rows(sql, [published_id, ALONE, generation, generation])]

    def _add_facts(self, published_ids: Sequence[int]) -> None:
        if not published_ids:
            return
        sql = (
            "SELECT v.published_id, v.doc_id, v.crawl_page_type_id, v.host, v.language, v.crawl_page_url, "  # noqa: S608
            "v.crawled_at, v.title_str, v.text FROM published_version v "
            f"WHERE v.published_id IN ({marks(published_ids)}) "
            "AND NOT EXISTS (SELECT 1 FROM published_facts f WHERE f.published_id = v.published_id)"
        )
        rows = self._rows(sql, published_ids)
        if rows:
            self.describe([Described(*row[:6], likeness(*row[7:]), row[6]) for row in rows])

    def _execute(self, sql: str, values: Sequence[Any] = ()) -> int:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, list(values))
            return int(cursor.rowcount)

    def _rows(self, sql: str, values: Sequence[Any] = ()) -> list[Any]:
        with self.connection.cursor() as cursor:
            cursor.execute(sql, list(values))
            return list(cursor.fetchall())


def _facts_of(page: Described) -> tuple[Any, ...]:
    language, folder = language_of(page.language), folder_of(page.url)
    return page.published_id, page.doc_id, page.type_id, page.host, language, folder, page.alike, page.crawled_at


def marks(values: Sequence[Any]) -> str:
    return ", ".join(["%s"] * len(values)) or "NULL"
