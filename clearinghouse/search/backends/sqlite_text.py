"""Owns: full text on SQLite: one FTS5 table with external content over published_version.

Does not: store text (the words are read from published_version, folded as queries are). Called by:
backends.backend().
"""

import json
from collections.abc import Sequence
from typing import Any

from clearinghouse.search.query import Groups, Query, Term
from clearinghouse.search.words import for_index

from .common_words import ByName
from .sql_index import COLUMNS, WEIGHTS, marks

TOKENIZER = "porter unicode61 remove_diacritics 2"
_NAMES = ", ".join(COLUMNS)
_NAMED = "title_str headings anchors"
_FOLDED = ", ".join(f"for_index({name})" for name in COLUMNS)
_SCORE = f"-bm25(published_index, {', '.join(str(weight) for weight in WEIGHTS)})"


class SqliteIndex(ByName):
    """A score takes FTS5 twenty times as long as finding the page, and walking all through Python as long again."""

    def _ensure(self) -> None:
        self._execute(
            f"CREATE VIRTUAL TABLE IF NOT EXISTS published_index USING fts5({_NAMES}, "
            f"content='published_version', content_rowid='published_id', tokenize='{TOKENIZER}')"
        )

    def exists(self) -> bool:
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'published_index'"))

    def _add(self, published_ids: Sequence[int]) -> int:
        # docsize has one row per indexed page: adding a page twice would count its words twice.
        return self._write(
            f"INSERT INTO published_index(rowid, {_NAMES}) SELECT published_id, {_FOLDED} "  # noqa: S608
            f"FROM published_version WHERE published_id IN ({marks(published_ids)}) "
            "AND published_id NOT IN (SELECT id FROM published_index_docsize)",
            published_ids,
        )

    def _remove(self, published_ids: Sequence[int]) -> None:
        self._write(
            f"INSERT INTO published_index(published_index, rowid, {_NAMES}) "  # noqa: S608
            f"SELECT 'delete', published_id, {_FOLDED} FROM published_version "
            f"WHERE published_id IN ({marks(published_ids)}) "
            "AND published_id IN (SELECT id FROM published_index_docsize)",
            published_ids,
        )

    def _write(self, sql: str, published_ids: Sequence[int]) -> int:
        self.connection.ensure_connection()
        self.connection.connection.create_function("for_index", 1, for_index, deterministic=True)
        return self._execute(sql, published_ids)

    def missing(self, generation: int) -> list[int]:
        rows = self._rows(
            "SELECT i.published_id FROM published_interval i WHERE i.gen_from <= %s AND i.gen_to > %s "
            "AND NOT EXISTS (SELECT 1 FROM published_index_docsize d WHERE d.id = i.published_id) "
            "ORDER BY i.published_id",
            [generation, generation],
        )
        return [row[0] for row in rows]

    def _ids(self, query: Query) -> list[int]:
        sql = "SELECT GROUP_CONCAT(rowid) FROM published_index WHERE published_index MATCH %s"
        return list(json.loads(f"[{self._rows(sql, [_all(query.required)])[0][0] or ''}]"))

    def _scored(self, query: Query, most: int, *, named: bool = False, since: int = 0) -> list[tuple[int, float]]:
        wanted = _all(query.required)
        sql = f"SELECT rowid, {_SCORE} AS score FROM published_index WHERE published_index MATCH %s AND rowid >= %s "  # noqa: S608
        values = [f"{{{_NAMED}}} : ({wanted})" if named else wanted, since]
        return self._rows(f"{sql} ORDER BY score DESC, rowid LIMIT %s", [*values, most])

    def _match(self, query: Query) -> tuple[str, str, str, str, list[Any]]:
        condition, values = "published_index MATCH %s", [_all(query.required)]
        if query.choices:
            # One word is enough for the score; which pages are meant is another question to the same index.
            chosen = " OR ".join(f"({_all(groups)})" for groups in query.choices)
            condition += (
                " AND published_index.rowid IN (SELECT rowid FROM published_index WHERE published_index MATCH %s)"
            )
            values = [" OR ".join(_group(group) for group in query.required), chosen]
        return "published_index.rowid", _SCORE, "published_index", condition, values


def _all(groups: Groups) -> str:
    return " AND ".join(_group(group) for group in groups)


def _group(terms: tuple[Term, ...]) -> str:
    return f"({' OR '.join(_quoted(term) for term in terms)})"


def _quoted(term: Term) -> str:
    """Words are letters and digits only, so that nothing in a query can be read as an operator."""
    text = f'"{" ".join(term.words)}"' + ("*" if term.prefix else "")
    return f"title_str : {text}" if term.title else text
