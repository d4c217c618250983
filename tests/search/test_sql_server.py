"""SQL Server cannot run here: what would be sent to it is compared word by word."""

from dataclasses import replace

import pytest
import sqlglot

from clearinghouse.search.backends import sql_server_text
from clearinghouse.search.query import Term, parse
from crawler.propagation.loading import load

_COLUMNS = "(title_str, headings, metas, anchors, text)"


def part(number: int, columns: str = _COLUMNS, times: int = 1) -> str:
    return (
        f"SELECT [KEY] AS page, {times} * [RANK] AS points, {number} AS part "
        f"FROM CONTAINSTABLE(published_version, {columns}, %s, LANGUAGE 1033)"
    )


def has(number: int) -> str:
    return f"MAX(CASE WHEN u.part = {number} THEN 1 ELSE 0 END) = 1"


def whole(parts: list[str], having: str) -> str:
    together = " UNION ALL ".join([*parts, part(len(parts), "title_str", 3)])
    return f"(SELECT u.page, SUM(u.points) AS points FROM ({together}) AS u GROUP BY u.page HAVING {having}) AS m"


def matched(text: str, **changed) -> tuple[str, list[str]]:
    index = sql_server_text.MssqlIndex.__new__(sql_server_text.MssqlIndex)  # without a connection
    key, score, source, condition, values = index._match(replace(parse(text), **changed))
    assert (key, score, condition) == ("m.page", "m.points", "1 = 1")
    assert source.count("%s") == len(values)
    return source, values


@pytest.mark.parametrize(
    ("text", "asked"),
    [
        ("measures", 'FORMSOF(INFLECTIONAL, "measures")'),
        ('"patient safety"', '"patient safety"'),
        ("os.path", '"os path"'),
        ("measur*", '"measur*"'),
        ('")NEAR', 'FORMSOF(INFLECTIONAL, "near")'),
    ],
)
def test_a_word_is_found_in_all_its_forms_a_phrase_as_it_stands_a_beginning_with_any_end(text, asked):
    source, values = matched(text)
    assert source == whole([part(0)], f"({has(0)})")
    assert values == [asked, asked]  # everywhere, and once more in the title


def test_all_words_must_be_on_a_page_each_in_any_column():
    source, values = matched("patient title:safety")
    assert source == whole([part(0), part(1, "title_str")], f"({has(0)} AND {has(1)})")
    words = ['FORMSOF(INFLECTIONAL, "patient")', 'FORMSOF(INFLECTIONAL, "safety")']
    assert values == [*words, " OR ".join(words)]


def test_one_of_the_alternatives_is_enough():
    source, _ = matched("stroke OR title:heart")
    parts = [part(0), part(0, "title_str"), part(1, "title_str", 3)]
    assert f"FROM ({' UNION ALL '.join(parts)}) AS u GROUP BY u.page HAVING ({has(0)})" in source


def test_a_condition_is_never_longer_than_the_server_takes():
    taught = tuple(Term((f"synonym{number}",)) for number in range(300))
    _, values = matched("patient", groups=(taught,))
    assert len(values[:-1]) == 300 and 3_900 < len(values[-1]) <= 4_000
    assert values[-1].endswith('")') and values[-1].startswith('FORMSOF(INFLECTIONAL, "synonym0") OR ')


def test_where_no_page_has_all_words_one_of_the_choices_is_enough():
    one, two, three = parse("a1 b2 c3").groups
    source, _ = matched("a1 b2 c3", choices=((one,), (two, three)))
    assert source.endswith(f"HAVING ({has(0)}) OR ({has(1)} AND {has(2)})) AS m")


def test_the_index_is_made_once_in_english_without_stopwords_and_follows_its_table():
    catalog, key, index = sql_server_text.SETUP
    assert "CREATE FULLTEXT CATALOG clearinghouse WITH ACCENT_SENSITIVITY = OFF" in catalog
    assert "CREATE UNIQUE INDEX published_version_words ON published_version (published_id)" in key
    assert "title_str LANGUAGE 1033, headings LANGUAGE 1033, metas LANGUAGE 1033" in index
    assert "KEY INDEX published_version_words ON clearinghouse" in index
    assert "CHANGE_TRACKING = AUTO, STOPLIST = OFF" in index
    assert "crawl_file TYPE COLUMN page_ext LANGUAGE 1033" in index  # the file itself, by the server's own filters
    assert all(statement.startswith("IF NOT EXISTS") for statement in sql_server_text.SETUP)


class Slow(sql_server_text.MssqlIndex):
    """A server that still has something to index when it is asked the first time."""

    def __init__(self):
        self.answers = [[(2, 6)], [(0, 0)]]

    def exists(self):
        return True

    def _rows(self, sql, values=()):
        assert "TableFulltextPendingChanges" in sql
        return self.answers.pop(0)


def test_the_server_indexes_on_its_own_time_and_is_waited_for(monkeypatch):
    index, beats = Slow(), []
    monkeypatch.setattr(load.backends, "backend", lambda alias: index)
    load._settle("primary", lambda: beats.append(1))
    assert index.answers == [] and beats == [1]


def test_the_next_pages_behind_one_are_asked_without_a_word_of_others():
    index, asked = sql_server_text.MssqlIndex.__new__(sql_server_text.MssqlIndex), []
    index._rows = lambda sql, values=(): asked.append(sql) or []
    index.holding(parse("ward"), after=5, limit=10)
    assert asked[0].endswith("ORDER BY m.page OFFSET 0 ROWS FETCH NEXT %s ROWS ONLY") and "LIMIT" not in asked[0]


def test_every_statement_is_one_the_grammar_of_the_server_knows():
    source, _ = matched("title:handover ward")
    asked = source.replace("%s", "'x'").replace(", LANGUAGE 1033", "")  # which this parser does not know
    sqlglot.parse_one(f"SELECT m.page, m.points FROM {asked} WHERE 1 = 1 ORDER BY m.page", read="tsql")
