"""Owns: full text on SQLite: one FTS5 table with external content over published_version.

Does not: store text (the words are read from published_version). Called by: backends.backend().
"""

from collections.abc import Sequence

from clearinghouse.search.query import Query, Term

from .base import COLUMNS, WEIGHTS, Backend, Parts

TOKENIZER = "porter unicode61 remove_diacritics 2"
_NAMES = ", ".join(COLUMNS)
_SCORE = f"-bm25(published_index, {', '.join(str(weight) for weight in WEIGHTS)})"


class SqliteIndex(Backend):
    def ensure(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute(
                f"CREATE VIRTUAL TABLE IF NOT EXISTS published_index USING fts5({_NAMES}, "
                f"content='published_version', content_rowid='published_id', tokenize='{TOKENIZER}')"
            )

    def exists(self) -> bool:
        return bool(self._rows("SELECT 1 FROM sqlite_master WHERE name = 'published_index'"))

    def add(self, published_ids: Sequence[int]) -> int:
        # docsize has one row per indexed page: adding a page twice would count its words twice.
        marks = ", ".join(["%s"] * len(published_ids))
        with self.connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO published_index(rowid, {_NAMES}) SELECT published_id, {_NAMES} "  # noqa: S608
                f"FROM published_version WHERE published_id IN ({marks}) "
                "AND published_id NOT IN (SELECT id FROM published_index_docsize)",
                list(published_ids),
            )
            return int(cursor.rowcount)

    def remove(self, published_ids: Sequence[int]) -> None:
        marks = ", ".join(["%s"] * len(published_ids))
        with self.connection.cursor() as cursor:
            cursor.execute(
                f"INSERT INTO published_index(published_index, rowid, {_NAMES}) "  # noqa: S608
                f"SELECT 'delete', published_id, {_NAMES} FROM published_version WHERE published_id IN ({marks}) "
                "AND published_id IN (SELECT id FROM published_index_docsize)",
                list(published_ids),
            )

    def missing(self, generation: int) -> list[int]:
        rows = self._rows(
            "SELECT i.published_id FROM published_interval i WHERE i.gen_from <= %s AND i.gen_to > %s "
            "AND NOT EXISTS (SELECT 1 FROM published_index_docsize d WHERE d.id = i.published_id) "
            "ORDER BY i.published_id",
            [generation, generation],
        )
        return [row[0] for row in rows]

    def _match(self, query: Query) -> tuple[str, str, str, Parts]:
        without = " OR ".join(_quoted(term) for term in query.without)
        if not query.groups:
            outside = "v.published_id NOT IN (SELECT rowid FROM published_index WHERE published_index MATCH %s)"
            return "0", "", "", [(outside, [without])] if without else []
        wanted = " AND ".join(f"({' OR '.join(_quoted(term) for term in group)})" for group in query.groups)
        if without:
            wanted = f"({wanted}) NOT ({without})"
        return _SCORE, "published_index", "published_index.rowid", [("published_index MATCH %s", [wanted])]


def _quoted(term: Term) -> str:
    """Words are letters and digits only, so that nothing in a query can be read as an operator."""
    text = f'"{" ".join(term.words)}"' + ("*" if term.prefix else "")
    return f"title_str : {text}" if term.title else text
