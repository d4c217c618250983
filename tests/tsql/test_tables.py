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
from tests.tsql import rules, tables
from tests.tsql import texts as reasons
from tests.tsql.tables import TABLE, columns

KEY, INDEX = 900, 1_700  # bytes of a clustered and of another index
_WITHIN = re.compile(r"CONSTRAINT \[\w+\] UNIQUE \(([^)]*)\)")  # of several columns, in CREATE TABLE
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
    return {alias: parts for alias, parts in everything.items() if alias in tables.DATABASES}


def indexes(statements: list[str]) -> Iterator[tuple[str, list[str], bool, bool]]:
    """Table, columns, whether unique, whether clustered."""
    for table, name, _, rest in columns(statements):
        if "PRIMARY KEY" in rest or "UNIQUE" in rest:
            yield table, [name], True, "PRIMARY KEY" in rest
    for statement in statements:
        if table := TABLE.match(statement):
            for listed in _WITHIN.findall(statement):
                yield table[1], re.findall(r"\[(\w+)\]", listed), True, False
        elif found := _UNIQUE.match(statement):
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
    begins = {"EXEC", "SELECT", "ALTER", "CREATE", "DBCC", "DROP", "UPDATE"}
    assert len(sent) >= 16 and {sql.split()[0] for sql in sent} == begins
    assert [f"{fault}: {sql}" for sql in [*sent, *everything["rare"]] for fault in rules.faults(sql, 2)] == []
    assert len([sql for sql in everything["rare"] if sql.startswith("UPDATE doc ")]) == 2, "each is counted by itself"


def test_every_table_of_every_model_is_made_where_it_belongs(made: dict[str, dict[str, list[str]]]) -> None:
    made_there = {alias: {table for table, *_ in columns(parts["tables"])} for alias, parts in made.items()}
    assert {"crawl_point", "doc", "published_version", "lexicon", "auth_user"} <= made_there["default"]
    assert {"run", "excursion", "message", "ledger", "page_version", "page_head", "host"} <= made_there["webcrawl"]
    assert {"published_version", "published_interval", "live_generation", "lexicon"} <= made_there["primary"]
    assert not {"run", "crawl_point"} & made_there["primary"]


def test_no_index_is_longer_than_the_server_allows(made: dict[str, dict[str, list[str]]]) -> None:
    for parts in made.values():
        kinds = {(table, name): kind for table, name, kind, _ in columns(parts["tables"])}
        found = list(indexes(parts["tables"]))
        assert len(found) > 10 and any(len(names) == 2 and unique for _, names, unique, _ in found)
        for table, names, _, clustered in found:
            length = sum(_length(kinds[table, name]) for name in names)
            assert length <= (KEY if clustered else INDEX), f"{table} {names}: {length} bytes"


def _length(kind: str) -> int:
    if kind in _BYTES:
        return _BYTES[kind]
    text = re.fullmatch(r"nvarchar\((\d+)\)", kind)
    assert text, f"{kind} cannot stand in an index"  # nvarchar(max), varbinary(max)
    return 2 * int(text[1])


def test_an_index_is_found_wherever_it_is_made() -> None:
    made = [
        "CREATE TABLE [a] ([id] bigint NOT NULL PRIMARY KEY, [b] nvarchar(9) NULL, CONSTRAINT [c] UNIQUE ([id], [b]));",
        "ALTER TABLE [a] ADD [d] nvarchar(900) NOT NULL;",
        "CREATE INDEX [e] ON [a] ([d]);",
        "CREATE UNIQUE INDEX [f] ON [a]([d]) WHERE [d] IS NOT NULL;",
        "ALTER TABLE [a] ADD CONSTRAINT [g] UNIQUE ([b]);",
    ]
    found = [(names, unique) for _, names, unique, _ in indexes(made)]
    assert found == [(["id"], True), (["id", "b"], True), (["d"], False), (["d"], True), (["b"], True)]
    kinds = {name: kind for _, name, kind, _ in columns(made)}
    assert _length(kinds["d"]) == 1_800 > INDEX


def test_texts_that_must_be_unique_are_so_whatever_the_collation(made: dict[str, dict[str, list[str]]]) -> None:
    """Addresses are told apart by their SHA-256, in 32 bytes; of the texts each has its reason."""
    texts, listed = set(), reasons.columns(reasons.UNIQUE)
    for parts in made.values():
        kinds = {(table, name): kind for table, name, kind, _ in columns(parts["tables"])}
        for table, names, unique, _ in indexes(parts["tables"]):
            texts |= {f"{table}.{name}" for name in names if unique and "char" in kinds[table, name]}
    assert texts == listed
    words = [
        rest for table, name, _, rest in columns(made["primary"]["tables"]) if (table, name) == ("lexicon", "word")
    ]
    assert all("COLLATE Latin1_General_100_BIN2" in rest for rest in words) and words


def test_where_several_rows_may_have_nothing_it_is_unique_only_where_there_is_something(
    made: dict[str, dict[str, list[str]]],
) -> None:
    """SQL Server takes two NULLs for the same; an index that leaves them out does not."""
    for parts in made.values():
        nullable = {(table, name) for table, name, _, rest in columns(parts["tables"]) if "NOT NULL" not in rest}
        for sql in parts["tables"]:
            found = None if TABLE.match(sql) else _UNIQUE.match(sql)
            if found and (found[1] or found[4]):
                table, names = found[2] or found[4], re.findall(r"\[(\w+)\]", found[3] or found[5])
                for name in names:
                    left_out = f"[{name}] IS NOT NULL" in sql.partition(" WHERE ")[2]
                    assert left_out or (table, name) not in nullable, sql
            for listed in _WITHIN.findall(sql) if TABLE.match(sql) else ():
                names = re.findall(r"\[(\w+)\]", listed)
                assert not nullable & {(TABLE.match(sql)[1], name) for name in names}, sql  # type: ignore[index]


def test_no_column_is_of_a_kind_that_cannot_be_compared(made: dict[str, dict[str, list[str]]]) -> None:
    """text, ntext, image and xml cannot be grouped, ordered or made distinct; their successors can."""
    kinds = {re.sub(r"\(.*", "", kind) for parts in made.values() for _, _, kind, _ in columns(parts["tables"])}
    assert kinds == {
        "bigint", "binary", "bit", "date", "datetimeoffset", "double precision", "int", "nvarchar", "smallint",
        "varbinary",
    }  # fmt: skip


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
