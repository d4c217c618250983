"""SQLite's own text of a table is edited in one place and nowhere else."""

import sqlite3

import pytest

from clearinghouse.database.adoption.dialects.create_table import UnreadableCreateTable, renamed, with_type
from clearinghouse.database.adoption.dialects.sqlite import as_number


@pytest.mark.parametrize(
    ("before", "after"),
    [
        ("(doc_id int NOT NULL PRIMARY KEY)", "(doc_id INTEGER NOT NULL PRIMARY KEY)"),
        ("(a text, doc_id int, PRIMARY KEY (doc_id))", "(a text, doc_id INTEGER , PRIMARY KEY (doc_id))"),
        ('("doc_id" int identity(1,1) not null)', '("doc_id" INTEGER not null)'),
        ("([doc_id] numeric(10, 0), n int)", "([doc_id] INTEGER , n int)"),
        ("(a int DEFAULT (1+2), -- doc_id int,\n doc_id)", "(a int DEFAULT (1+2), -- doc_id int,\n doc_id INTEGER )"),
        ("(a text CHECK (a <> ', doc_id int'), doc_id int)", "(a text CHECK (a <> ', doc_id int'), doc_id INTEGER )"),
        ("(doc_id int PRIMARY KEY) WITHOUT ROWID", "(doc_id INTEGER PRIMARY KEY)"),
    ],
)  # fmt: skip
@pytest.mark.parametrize("head", ["CREATE TABLE doc ", 'create table "doc"', "CREATE TABLE [doc]\n"])
def test_only_the_type_of_the_column_changes(head: str, before: str, after: str) -> None:
    assert renamed(with_type(head + before, "doc_id", "INTEGER"), "doc__new") == f'CREATE TABLE "doc__new" {after}'


def test_a_key_made_so_gives_ids() -> None:
    connection = sqlite3.connect(":memory:")
    sql = "CREATE TABLE doc (doc_id int NOT NULL, their text, CONSTRAINT doc_pk PRIMARY KEY (doc_id))"
    connection.execute(with_type(sql, "DOC_ID", "INTEGER"))
    connection.execute("INSERT INTO doc (doc_id, their) VALUES (41, 'x')")
    assert connection.execute("INSERT INTO doc (their) VALUES ('y') RETURNING doc_id").fetchone() == (42,)


def test_a_text_that_is_no_table_is_refused() -> None:
    with pytest.raises(UnreadableCreateTable):
        with_type("CREATE TABLE doc (a int)", "doc_id", "INTEGER")


def test_a_timestamp_of_sql_server_becomes_a_number_in_the_same_order() -> None:
    stamps = [b"\0\0\0\0\0\0\7\xd1", b"\0\0\0\0\0\0\7\xd2"]
    assert [as_number(stamp) for stamp in stamps] == [2001, 2002]
    assert as_number("2009-05-01 10:00:00") < as_number("2009-05-01 10:00:00.003")
    assert [as_number(odd) for odd in (None, 5, "17", "whatever")] == [None, 5, 17, 1]
