"""Owns: full text on PostgreSQL: a table of its own with a weighted tsvector and a GIN index.

Does not: trust the server's parser (it takes addresses and hyphens apart its own way): words are split and folded
here, in both directions. Called by: backends.backend().
"""

from collections.abc import Sequence
from typing import Any

from django.db import transaction

from clearinghouse.postgres_columns import compression
from clearinghouse.search.query import Groups, Query, Term
from clearinghouse.search.words import words_of

from .common_words import ByName
from .sql_index import COLUMNS, Matches

# The weights of rank classes D, C, B, A. Title is A, anchors B, headings and metas C, body D.
_CLASSES = {"title_str": "A", "anchors": "B", "headings": "C", "metas": "C", "text": "D"}
MAX_VECTOR_BYTES = 1_000_000  # PostgreSQL refuses a tsvector above 1 MB
_NEWS = 0.1  # of the rows known: more are worth new statistics
_RANK = "ts_rank('{{0.1, 0.35, 0.5, 1.0}}', published_index.words, {}, 1)"
_CONFIG = "clearinghouse_english"
_ASKED = f"to_tsquery('{_CONFIG}', %s)"
# For phrases. The server believes that a vector costs nothing to read: it shall share them among its processors, as far
# as it was set up to, and never look at pages that lack the words. Where these are few it still needs no help.
_SHARED = {"parallel_setup_cost": 200, "parallel_tuple_cost": 0, "min_parallel_table_scan_size": 0,
           "min_parallel_index_scan_size": 0, "enable_seqscan": "off"}  # fmt: skip
_SHARE = "SELECT " + ", ".join(f"set_config('{name}', '{value}', true)" for name, value in _SHARED.items())

# English stems without the stopwords of the server's own configuration: "to be or not to be" can be found.
_SETUP = (
    "CREATE TEXT SEARCH DICTIONARY clearinghouse_stem (TEMPLATE = snowball, Language = english)",
    "CREATE TEXT SEARCH CONFIGURATION clearinghouse_english (COPY = english)",
    "ALTER TEXT SEARCH CONFIGURATION clearinghouse_english ALTER MAPPING REPLACE english_stem WITH clearinghouse_stem",
)
_TABLE = (
    "CREATE TABLE IF NOT EXISTS published_index "
    "(published_id bigint PRIMARY KEY, words tsvector NOT NULL, cut boolean NOT NULL DEFAULT false) "
    "WITH (toast_tuple_target = 128)"  # vectors stand beside it: finding pages reads a narrow table
)
_NAMED = "ts_filter(published_index.words, '{a,b,c}')"  # all but the body
_INDEXES = (
    "CREATE INDEX IF NOT EXISTS published_index_words ON published_index USING gin (words)",
    "CREATE INDEX IF NOT EXISTS published_index_named ON published_index USING gin (ts_filter(words, '{a,b,c}'))",
)


class PostgresIndex(ByName):
    """A score reads the whole vector of a page, which stands beside the table."""

    TYPES = {"number": "bigint", "text": "text", "moment": "timestamptz"}
    NEWEST, MOST_OF_UNNAMED = 1000, 3000  # measured: 5 to 8 µs each, to fetch its vector and score it

    def _ensure(self) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("SELECT 1 FROM pg_ts_config WHERE cfgname = %s", [_CONFIG])
            if cursor.fetchone() is None:
                for statement in _SETUP:
                    cursor.execute(statement)
            if not self.exists():
                cursor.execute(_TABLE)
                for statement in compression(self.connection, "published_index", "words"):
                    cursor.execute(statement)
            for statement in _INDEXES:  # also for the table of an older version, which had one of them
                cursor.execute(statement)

    def exists(self) -> bool:
        return bool(self._rows("SELECT 1 FROM pg_class WHERE relname = 'published_index'"))

    def _add(self, published_ids: Sequence[int]) -> int:
        rows = self._rows(
            f"SELECT v.published_id, {', '.join('v.' + name for name in COLUMNS)} "  # noqa: S608
            "FROM published_version v WHERE v.published_id = ANY(%s) "
            "AND NOT EXISTS (SELECT 1 FROM published_index x WHERE x.published_id = v.published_id)",
            [list(published_ids)],
        )
        with self.connection.cursor() as cursor:
            # One by one: the server makes a vector while the words of the next page are split here.
            cursor.executemany(_INSERT, map(_prepared, rows))
        return len(rows)

    def _remove(self, published_ids: Sequence[int]) -> None:
        with self.connection.cursor() as cursor:
            cursor.execute("DELETE FROM published_index WHERE published_id = ANY(%s)", [list(published_ids)])

    def tidy(self, added: int) -> None:
        """Entries wait in a list beside the index that every search reads; statistics tell of the rows of before."""
        for index in ("words", "named"):
            self._rows("SELECT gin_clean_pending_list(%s::regclass)", [f"published_index_{index}"])
        known = self._rows("SELECT reltuples FROM pg_class WHERE oid = 'published_index'::regclass")[0][0]
        if added > _NEWS * known:
            with self.connection.cursor() as cursor:
                cursor.execute("ANALYZE published_version, published_interval, published_facts, published_index")

    def matches(self, query: Query) -> Matches:
        return super().matches(query) if self._finds_quickly(query) else Matches(self._phrases(query))

    def _phrases(self, query: Query) -> list[tuple[int, float]]:
        wanted, counted = _asked(query)
        score = _RANK.format(_ASKED)
        sql = f"SELECT published_id, {score} FROM published_index WHERE words @@ {_ASKED} ORDER BY 2 DESC, 1"  # noqa: S608
        with transaction.atomic(using=self.alias):  # the settings end with it
            self._rows(_SHARE)
            return self._rows(sql, [counted, wanted])

    def _finds_quickly(self, query: Query) -> bool:
        """Not phrases: the index knows no positions, so each vector is fetched to find them."""
        return all(len(term.words) == 1 for group in query.required for term in group)

    def _ids(self, query: Query) -> list[int]:
        _, _, source, condition, values = self._match(query)
        sql = f"SELECT array_agg(published_id) FROM {source} WHERE {condition}"  # noqa: S608
        return sorted(self._rows(sql, values)[0][0] or [])

    def _scored(self, query: Query, most: int, *, named: bool = False, since: int = 0) -> list[tuple[int, float]]:
        key, score, source, condition, values = self._match(query)
        condition = f"{_NAMED} @@ q.asked" if named else condition
        sql = f"SELECT {key}, {score} AS score FROM {source} WHERE {condition} AND {key} >= %s "  # noqa: S608
        return self._rows(f"{sql} ORDER BY score DESC, {key} LIMIT %s", [*values, since, most])

    def missing(self, generation: int) -> list[int]:
        rows = self._rows(
            "SELECT i.published_id FROM published_interval i WHERE i.gen_from <= %s AND i.gen_to > %s "
            "AND NOT EXISTS (SELECT 1 FROM published_index x WHERE x.published_id = i.published_id) "
            "ORDER BY i.published_id",
            [generation, generation],
        )
        return [row[0] for row in rows]

    def _match(self, query: Query) -> tuple[str, str, str, str, list[Any]]:
        wanted, counted = _asked(query)
        source = f"published_index CROSS JOIN (SELECT {_ASKED} AS asked, {_ASKED} AS counted"
        # The parameters stand in the source, before those of any condition.
        condition = "published_index.words @@ q.asked"
        # Behind OFFSET 0 the server does not see the words when it plans: it would find that many pages have them, and
        # read the whole table, not knowing that each vector stands elsewhere and must be fetched.
        source += " OFFSET 0) AS q"
        return "published_index.published_id", _RANK.format("q.counted"), source, condition, [wanted, counted]


def _asked(query: Query) -> tuple[str, str]:
    """Which pages are meant, and what their score is made of: of a relaxed query each of its words."""
    if not query.choices:
        return _all(query.required), _all(query.required)
    wanted = " | ".join(f"({_all(groups)})" for groups in query.choices)
    return wanted, " | ".join(_group(group) for group in query.required)


def _all(groups: Groups) -> str:
    return " & ".join(_group(group) for group in groups)


def _group(terms: tuple[Term, ...]) -> str:
    return f"({' | '.join(_words(term) for term in terms)})"


def _vector(name: str) -> str:
    return f"setweight(to_tsvector('{_CONFIG}', %s), '{_CLASSES[name]}')"


_ORDER = ("title_str", "headings", "metas", "anchors", "text")
_INSERT = (
    "INSERT INTO published_index (published_id, cut, words) VALUES "  # noqa: S608
    f"(%s, %s, {' || '.join(_vector(name) for name in _ORDER)}) ON CONFLICT (published_id) DO NOTHING"
)


def _prepared(row: Sequence[Any]) -> list[Any]:
    """The words of each column, the body halved until its vector cannot pass the server's limit."""
    texts = [" ".join(words_of(text)) for text in row[1:]]
    cut = False
    while sum(_vector_bytes(text) for text in texts) > MAX_VECTOR_BYTES:
        longest = max(range(len(texts)), key=lambda index: len(texts[index]))
        texts[longest] = texts[longest][: len(texts[longest]) // 2].rpartition(" ")[0]
        cut = True
    return [row[0], cut, *texts]


def _vector_bytes(text: str) -> int:
    """An upper bound: each different word once, with at most 256 positions of two bytes."""
    if len(text) < 100_000:
        return len(text)
    counts: dict[str, int] = {}
    for word in text.split():
        counts[word] = counts.get(word, 0) + 1
    return sum(len(word.encode()) + 4 + 2 * min(count, 256) for word, count in counts.items())


def _words(term: Term) -> str:
    """Words are letters and digits only, so that nothing in a query can be read as an operator."""
    weight = "A" if term.title else ""
    last = len(term.words) - 1
    marks = [weight + ("*" if term.prefix and at == last else "") for at in range(len(term.words))]
    return " <-> ".join(word + (f":{mark}" if mark else "") for word, mark in zip(term.words, marks, strict=True))
