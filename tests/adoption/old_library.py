"""A doc_library as another program left it: made from the dictionary, with rows, views and habits of its own."""

import json
import re
import sqlite3
from collections.abc import Callable
from pathlib import Path
from typing import Any

DICTIONARY = json.loads((Path(__file__).parent / "dictionary.json").read_text())
TABLES = DICTIONARY["given"] | DICTIONARY["databases"]["doc_library"]
RESULTS = ("doc_crawl_page", "crawl_page_meta")
PASSWORD = "plain-Secret-7"
PAGE = b"<html><head><title>Energy</title></head><body><h1>Solar</h1><p>heliostats &amp; mirrors</p></body></html>"

_TYPES: dict[str, dict[str, str]] = {
    "sqlite": {},  # as the dictionary spells them
    "postgresql": {
        "short": "smallint", "tinyint": "smallint", "datetime": "timestamp", "timestamp": "bytea",
        "LONGBINARY": "bytea", "OLE": "bytea", "int identity": "serial",
    },
}  # fmt: skip


def definitions(vendor: str, *, metacolumns: bool) -> list[str]:
    """CREATE TABLE statements, parents first."""
    order = ["doc_status", "doc", "field_type", "field", "crawl_point", "crawl_page_type"]
    order += ["doc_field_crawl_point", "doc_crawl_exclude_url", "doc_crawl_page", "crawl_page_meta"]
    return [_definition(vendor, name, TABLES[name], metacolumns) for name in order]


def _definition(vendor: str, name: str, table: dict[str, Any], metacolumns: bool) -> str:
    types = _TYPES[vendor]
    columns = dict(table["columns"]) | (DICTIONARY["metacolumns"] if metacolumns else {})
    if name in {"doc", "crawl_point"}:
        columns["their_note"] = {"type": "varchar(40)", "null": True}  # a column of theirs that we know nothing of
    parts = []
    for column, told in columns.items():
        default = f" DEFAULT {told['default']}" if "default" in told else ""
        null = "" if told["null"] else " NOT NULL"
        parts.append(f"{column} {types.get(told['type'], told['type'])}{default}{null}")
    key = table.get("primary_key") or ("doc_crawl_page_id" if name == "doc_crawl_page" else None)
    parts += [f"CONSTRAINT {name}_pk PRIMARY KEY ({key})"] if key else []
    for column, target in table.get("foreign_keys", {}).items():
        parent, parent_key = target.split(".")
        parts.append(f"FOREIGN KEY ({column}) REFERENCES {parent} ({parent_key})")
    return f"CREATE TABLE {name} (\n  " + ",\n  ".join(parts) + "\n)"


def fill(execute: Callable[[str, tuple], Any], place: str, pages: int) -> None:
    """Rows: three documents, two crawl points, an exclude, results of `pages` pages with two metas each."""

    def add(table: str, *values: Any) -> None:
        columns = ", ".join(list(TABLES[table]["columns"])[: len(values)])
        execute(f"INSERT INTO {table} ({columns}) VALUES ({', '.join([place] * len(values))})", values)

    add("doc_status", 4)
    for doc in (11, 12, 13):
        add("doc", doc, 4)
        add("field", doc * 10, doc, None)
    add("crawl_point", 7, "https://a.example/energy/", "https://a.example/energy", 1, "ann", PASSWORD, None, 2, 50, 1)
    add("crawl_point", 8, "https://b.example/", "https://b.example/", 0, None, None, None, 0, 0, 0)
    add("doc_field_crawl_point", 70, 11, 110, 7)
    add("doc_crawl_exclude_url", 90, "https://a.example/energy/private", 11)
    add("crawl_page_type", 1, "HTML")
    for number in range(1, pages + 1):
        page = 1000 + number
        add("doc_crawl_page", page, 11, f"https://a.example/energy/{number}.htm", f"Page {number}", 1, 1, PAGE, ".htm")
        add("crawl_page_meta", 5000 + 2 * number, page, "keywords", f"wind, water {number}")
        add("crawl_page_meta", 5001 + 2 * number, page, "author", None)


THEIR_VIEW = "CREATE VIEW their_report AS SELECT doc_id, count(*) AS pages FROM doc_crawl_page GROUP BY doc_id"


def webcrawl_statements(vendor: str) -> list[str]:
    """The old WebCrawl database: no keys, an interrupted session in its work tables, one result."""
    tables = DICTIONARY["databases"]["webcrawl"]
    work = DICTIONARY["without_metacolumns"]
    made = [_definition(vendor, name, told, name not in work) for name, told in tables.items()]
    return [
        *(re.sub(r",\n  CONSTRAINT \w+ PRIMARY KEY \(\w+\)", "", statement) for statement in made),
        "INSERT INTO active_queue (queue_id, queue_nm) VALUES (1, 'doc 11')",
        "INSERT INTO crawled_pages (page_id, page_url, doc_id) VALUES (5, 'https://a.example/', 11)",
        "INSERT INTO doc_crawl_page (doc_crawl_page_id, doc_id, crawl_page_url, crawl_page_type_id)"
        " VALUES (4000, 11, 'https://a.example/', 1)",
    ]


def make_sqlite(path: Path, *, metacolumns: bool = True, pages: int = 3) -> None:
    connection = sqlite3.connect(path)
    for statement in definitions("sqlite", metacolumns=metacolumns):
        connection.execute(statement)
    fill(connection.execute, "?", pages)
    connection.execute(THEIR_VIEW)
    connection.execute("CREATE INDEX their_index ON doc_crawl_exclude_url (doc_id)")
    if metacolumns:
        connection.execute("UPDATE crawl_point SET ts = x'00000000000007D1' WHERE crawl_point_id = 7")
    connection.commit()
    connection.close()


def make_postgres(server: Any, url: str, *, metacolumns: bool = True, pages: int = 3) -> None:
    with server.connect(database_of(url)) as connection:
        for statement in definitions("postgresql", metacolumns=metacolumns):
            connection.execute(statement)
        fill(connection.execute, "%s", pages)
        connection.execute(THEIR_VIEW)
        connection.execute("CREATE INDEX their_index ON doc_crawl_exclude_url (doc_id)")
        if metacolumns:
            connection.execute("UPDATE crawl_point SET ts = '\\x00000000000007d1' WHERE crawl_point_id = 7")


def database_of(url: str) -> str:
    return url.split("@/")[1].split("?")[0]
