"""Owns: full text on Microsoft SQL Server: its own full-text index over the extracted text of published_version.

Does not: parse files on the server (the crawler extracted the text already, the same for every target). Compiled
and compared in tests, not run: there is no such server here. Called by: backends.backend().

The full-text index follows its table by itself (CHANGE_TRACKING AUTO), so adding and removing pages only concerns
published_facts; it does so a moment after the commit, and settled() tells when it has. There "a AND b" must stand in
one and the same column, so each word is asked on its own, and what belongs together is put together by the page.
"""

from collections.abc import Iterable, Sequence
from typing import Any

from clearinghouse.search.query import Query, Term

from .facts_answer import FactsIndex
from .sql_index import COLUMNS

LANGUAGE = 1033  # English
_ALL = ", ".join(COLUMNS)
_IN_ENGLISH = ", ".join(f"{name} LANGUAGE {LANGUAGE}" for name in COLUMNS)
# The file itself, read by the server's own filters, for other people's CONTAINS; this adapter asks the extracted text.
_FILE = f"crawl_file TYPE COLUMN page_ext LANGUAGE {LANGUAGE}"
_PENDING = (
    "SELECT OBJECTPROPERTYEX(OBJECT_ID('published_version'), 'TableFulltextPendingChanges'), "
    "OBJECTPROPERTYEX(OBJECT_ID('published_version'), 'TableFulltextPopulateStatus')"
)
SETUP = (
    "IF NOT EXISTS (SELECT 1 FROM sys.fulltext_catalogs WHERE name = 'clearinghouse') "
    "CREATE FULLTEXT CATALOG clearinghouse WITH ACCENT_SENSITIVITY = OFF",
    # The key of a full-text index is a narrow unique index of its own; the primary key has a name of the server's.
    "IF NOT EXISTS (SELECT 1 FROM sys.indexes WHERE name = 'published_version_words') "
    "CREATE UNIQUE INDEX published_version_words ON published_version (published_id)",
    "IF NOT EXISTS (SELECT 1 FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID('published_version')) "  # noqa: S608
    "CREATE FULLTEXT INDEX ON published_version (" + _IN_ENGLISH + f", {_FILE}) "
    "KEY INDEX published_version_words ON clearinghouse WITH (CHANGE_TRACKING = AUTO, STOPLIST = OFF)",
)
FACTS = (
    "IF OBJECT_ID('published_facts') IS NULL CREATE TABLE published_facts (published_id bigint PRIMARY KEY, "
    "doc_id bigint NOT NULL, crawl_page_type_id int NOT NULL, host nvarchar(255) NOT NULL, "
    "language nvarchar(8) NOT NULL, folder nvarchar(300) NOT NULL, alike bigint NOT NULL, "
    "crawled_at datetimeoffset NOT NULL)"
)
_LONGEST = 4_000  # characters of a full-text condition
_TITLE = 3  # so many times a word counts that also stands in the title


class MssqlIndex(FactsIndex):
    FIRST = "OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY"

    def ensure(self) -> None:
        self._execute(FACTS)
        self._ensure()

    def _ensure(self) -> None:
        for statement in SETUP:
            self._execute(statement)

    def exists(self) -> bool:
        sql = "SELECT 1 FROM sys.fulltext_indexes WHERE object_id = OBJECT_ID('published_version')"
        return bool(self._rows(sql))

    def settled(self) -> bool:
        return self._rows(_PENDING) == [(0, 0)] or not self.exists()

    def missing(self, generation: int) -> list[int]:
        rows = self._rows(
            "SELECT i.published_id FROM published_interval i WHERE i.gen_from <= %s AND i.gen_to > %s "
            "AND NOT EXISTS (SELECT 1 FROM published_facts f WHERE f.published_id = i.published_id) "
            "ORDER BY i.published_id",
            [generation, generation],
        )
        return [row[0] for row in rows]

    def _add(self, published_ids: Sequence[int]) -> int:
        return len(published_ids)  # the server does it

    def _remove(self, published_ids: Sequence[int]) -> None:
        """The server does it when the rows go."""

    def _match(self, query: Query) -> tuple[str, str, str, str, list[Any]]:
        parts, values = [], []
        for number, group in enumerate(query.required):
            for term in group:
                parts.append(_points(number, "title_str" if term.title else f"({_ALL})", 1))
                values.append(_term(term))
        # A word that is also in the title raises the page; it need not be there.
        parts.append(_points(len(query.required), "title_str", _TITLE))
        values.append(_any_of(query.words))
        place = {group: number for number, group in enumerate(query.required)}
        choices = " OR ".join(
            f"({_has(map(place.__getitem__, groups))})" for groups in query.choices or (query.required,)
        )
        source = (
            f"(SELECT u.page, SUM(u.points) AS points FROM ({' UNION ALL '.join(parts)}) AS u "  # noqa: S608
            f"GROUP BY u.page HAVING {choices}) AS m"
        )
        return "m.page", "m.points", source, "1 = 1", values


def _points(part: int, columns: str, times: int) -> str:
    return (
        f"SELECT [KEY] AS page, {times} * [RANK] AS points, {part} AS part "  # noqa: S608
        f"FROM CONTAINSTABLE(published_version, {columns}, %s, LANGUAGE {LANGUAGE})"
    )


def _has(parts: Iterable[int]) -> str:
    return " AND ".join(f"MAX(CASE WHEN u.part = {part} THEN 1 ELSE 0 END) = 1" for part in parts)


def _any_of(terms: Iterable[Term]) -> str:
    """As many of the terms as there is room for; what they raise is found without them."""
    said = ""
    for term in terms:
        more = f"{said} OR {_term(term)}" if said else _term(term)
        if len(more) > _LONGEST:
            break
        said = more
    return said


def _term(term: Term) -> str:
    """One word in all its forms, a phrase as it stands, a beginning; words are letters and digits only, so that
    nothing in a query can be read as an operator."""
    words = " ".join(term.words)
    if term.prefix:
        return f'"{words}*"'
    return f'"{words}"' if len(term.words) > 1 else f'FORMSOF(INFLECTIONAL, "{words}")'
