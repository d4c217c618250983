"""Tables, indexes, views and the full text index of SQL Server, as they would be made there (see tables.py)."""

import json
import re
import subprocess
import sys
from collections.abc import Iterator
from typing import Any

import pytest
import sqlglot
from sqlglot import exp

from tests.faults.house import BASE
from tests.tsql import rules

KEY, INDEX = 900, 1_700  # bytes of a clustered and of another index
# Texts that must be unique although the server may take "Ann" and "ann" for the same, and why that is right.
UNIQUE_TEXTS = {
    "auth_group.name": "names that people chose",
    "auth_permission.codename": "Django's own words, in small letters",
    "auth_user.username": "nobody should sign in as Ann beside ann",
    "clearinghouse_api_key.digest": "hexadecimal digits",
    "clearinghouse_option.name": "words of ours",
    "clearinghouse_saved_view.name": "names that people chose",
    "clearinghouse_saved_view.screen": "words of ours",
    "crawl_point.point_key": "hexadecimal digits of a SHA-256",
    "django_content_type.app_label": "Django's own words, in small letters",
    "django_content_type.model": "Django's own words, in small letters",
    "django_migrations.name": "Django's own words",
    "django_session.session_key": "small letters and digits",
    "doc_crawl_exclude_url.exclude_key": "hexadecimal digits of a SHA-256",
    "finding.rule": "words of ours",
    "finding.subject": "words of ours and numbers of crawl points",
    "host_figure.host": "host names, in small letters",
    "lexicon.word": "compared letter by letter: its own collation",
    "notice.key": "words of ours and numbers",
    "notice_mark.name": "words of ours",
    "notice_wish.event": "words of ours",
    "task_claim.task": "words of ours",
}
_TABLE = re.compile(r"CREATE TABLE \[(\w+)\] \((.*)\);?$", re.DOTALL)
_COLUMN = re.compile(r"\[(\w+)\] ([a-z0-9]+(?: precision)?(?:\([^)]*\))?)((?: (?!\[)[^,]*)?)")
_UNIQUE = re.compile(r"CREATE (UNIQUE )?INDEX \[\w+\] ON \[(\w+)\] ?\(([^)]*)\)|"
                     r"ALTER TABLE \[(\w+)\] ADD CONSTRAINT \[\w+\] UNIQUE \(([^)]*)\)")  # fmt: skip
_BYTES = {"bigint": 8, "int": 4, "smallint": 2, "bit": 1, "datetimeoffset": 10, "date": 3, "double precision": 8,
          "binary(32)": 32}  # fmt: skip


@pytest.fixture(scope="module")
def everything() -> dict[str, Any]:
    done = subprocess.run(
        [sys.executable, "-m", "tests.tsql.tables"], cwd=BASE, capture_output=True, text=True, timeout=120, check=False
    )
    assert done.returncode == 0, done.stderr[-2000:]
    return json.loads(done.stdout)


@pytest.fixture(scope="module")
def made(everything: dict[str, Any]) -> dict[str, dict[str, list[str]]]:
    """Database -> its tables and indexes, and what is made beside them."""
    return {alias: parts for alias, parts in everything.items() if alias != "adoption"}


def columns(statements: list[str]) -> Iterator[tuple[str, str, str, str]]:
    """Table, column, type, and what is said of it besides."""
    for statement in statements:
        if found := _TABLE.match(statement):
            for name, kind, rest in _COLUMN.findall(found[2]):
                yield found[1], name, kind, rest


def indexes(statements: list[str]) -> Iterator[tuple[str, list[str], bool, bool]]:
    """Table, columns, whether unique, whether clustered."""
    for table, name, _, rest in columns(statements):
        if "PRIMARY KEY" in rest or "UNIQUE" in rest:
            yield table, [name], True, "PRIMARY KEY" in rest
    for statement in statements:
        if found := _UNIQUE.match(statement):
            names = re.findall(r"\[(\w+)\]", found[3] or found[5])
            yield found[2] or found[4], names, bool(found[1] or found[4]), False


def test_every_statement_is_one_of_sql_server(made: dict[str, dict[str, list[str]]]) -> None:
    for alias, parts in made.items():
        everything = [*parts["tables"], *parts["beside"]]
        assert len(everything) > 15, alias
        wrong = [f"{alias}: {fault}: {sql[:120]}" for sql in everything for fault in rules.faults(sql, 0)]
        assert wrong == []


def test_what_an_adoption_asks_and_changes_is_of_sql_server(everything: dict[str, Any]) -> None:
    sent = everything["adoption"]
    assert len(sent) >= 12 and {sql.split()[0] for sql in sent} == {"EXEC", "SELECT", "ALTER", "CREATE", "DBCC"}
    assert [f"{fault}: {sql}" for sql in sent for fault in rules.faults(sql, 2)] == []


def test_every_table_of_every_model_is_made_where_it_belongs(made: dict[str, dict[str, list[str]]]) -> None:
    tables = {alias: {table for table, *_ in columns(parts["tables"])} for alias, parts in made.items()}
    assert {"crawl_point", "doc", "published_version", "lexicon", "auth_user"} <= tables["default"]
    assert {"run", "excursion", "message", "ledger", "page_version", "page_head", "host"} <= tables["webcrawl"]
    assert {"published_version", "published_interval", "live_generation", "lexicon"} <= tables["primary"]
    assert not {"run", "crawl_point"} & tables["primary"]


def test_no_index_is_longer_than_the_server_allows(made: dict[str, dict[str, list[str]]]) -> None:
    for parts in made.values():
        kinds = {(table, name): kind for table, name, kind, _ in columns(parts["tables"])}
        found = list(indexes(parts["tables"]))
        assert len(found) > 10
        for table, names, _, clustered in found:
            length = sum(_length(kinds[table, name]) for name in names if (table, name) in kinds)
            assert length <= (KEY if clustered else INDEX), f"{table} {names}: {length} bytes"


def _length(kind: str) -> int:
    if kind in _BYTES:
        return _BYTES[kind]
    text = re.fullmatch(r"nvarchar\((\d+)\)", kind)
    assert text, f"{kind} cannot stand in an index"  # nvarchar(max), varbinary(max)
    return 2 * int(text[1])


def test_texts_that_must_be_unique_are_so_whatever_the_collation(made: dict[str, dict[str, list[str]]]) -> None:
    """Addresses are told apart by their SHA-256, in 32 bytes; of the texts each has its reason."""
    texts = set()
    for parts in made.values():
        kinds = {(table, name): kind for table, name, kind, _ in columns(parts["tables"])}
        for table, names, unique, _ in indexes(parts["tables"]):
            texts |= {f"{table}.{name}" for name in names if unique and "char" in kinds.get((table, name), "")}
    assert texts - UNIQUE_TEXTS.keys() == set()
    words = [
        rest for table, name, _, rest in columns(made["primary"]["tables"]) if (table, name) == ("lexicon", "word")
    ]
    assert all("COLLATE Latin1_General_100_BIN2" in rest for rest in words) and words


def test_digests_are_columns_that_can_be_indexed(made: dict[str, dict[str, list[str]]]) -> None:
    kinds = {(table, name): kind for table, name, kind, _ in columns(made["webcrawl"]["tables"])}
    assert {kinds["ledger", "url_key"], kinds["message", "url_key"], kinds["page_head", "url_key"]} == {"binary(32)"}


def test_the_views_have_the_names_other_programs_ask_for(made: dict[str, dict[str, list[str]]]) -> None:
    for parts in made.values():
        views = [
            tree for sql in parts["beside"] for tree in sqlglot.parse(sql, read="tsql") if isinstance(tree, exp.Create)
        ]
        named = {view.find(exp.Table).name for view in views if view.kind == "VIEW"}
        assert named == {"doc_crawl_page", "crawl_page_meta"}
