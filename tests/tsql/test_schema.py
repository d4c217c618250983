"""What the kinds of columns say about a statement, on tables made for this."""

import pytest

from tests.tsql.schema import Schema

SCHEMA = Schema(
    [
        "CREATE TABLE [page] ([id] bigint NOT NULL, [url] nvarchar(max) NOT NULL, [alive] bit NOT NULL, "
        "[at] datetimeoffset NULL)",
        "CREATE TABLE [word] ([id] bigint NOT NULL, [word] nvarchar(64) COLLATE Latin1_General_100_BIN2 NOT NULL)",
        "ALTER TABLE [page] ADD [label] nvarchar(40) NOT NULL;",
    ]
)


@pytest.mark.parametrize(
    ("sql", "texts"),
    [
        ("SELECT id FROM page WHERE url = %s", {"page.url"}),
        ("SELECT p.id FROM page p WHERE LEFT(p.url, 5) LIKE %s AND p.id = %s", {"page.url"}),
        ("SELECT id FROM word WHERE id IN (SELECT id FROM page WHERE label IN (%s, %s))", {"page.label"}),
        ("SELECT url, COUNT(*) FROM page GROUP BY url", {"page.url"}),
        ("SELECT DISTINCT [page].[label] FROM [page]", {"page.label"}),
        ("SELECT COUNT(DISTINCT label) FROM page", {"page.label"}),
        ("UPDATE page SET label = %s WHERE id = %s", set()),
        ("SELECT url FROM page ORDER BY url", set()),
        ("SELECT id FROM word WHERE word = %s", set()),
        ("SELECT id FROM page WHERE url COLLATE Latin1_General_100_BIN2 = %s", set()),
    ],
)
def test_texts_that_are_told_apart_are_named(sql: str, texts: set[str]) -> None:
    assert SCHEMA.read(sql) == (texts, [])


@pytest.mark.parametrize(
    ("sql", "fault"),
    [
        ("SELECT MAX(alive) FROM page", "an aggregate of a bit: MAX(alive)"),
        ("SELECT SUM([page].[alive]) FROM [page]", "an aggregate of a bit: SUM([page].[alive])"),
        ("SELECT id FROM page WHERE at < at - 5", "a date is reckoned with: at - 5"),
    ],
)
def test_what_cannot_be_done_with_a_kind_is_found(sql: str, fault: str) -> None:
    assert fault in SCHEMA.read(sql)[1]
