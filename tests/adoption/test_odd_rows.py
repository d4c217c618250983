"""Rows no driver of ours can read: looked for before anything is changed, named, and nothing is left half done."""

import sqlite3
from contextlib import closing
from typing import Any

import pytest

from tests.adoption import old_library
from tests.adoption.conftest import Install
from tests.adoption.old_library import database_of

MENDED = "https://a.example/energy/caf%C3%A9.htm"


def snapshot(install: Install, alias: str = "default") -> dict[str, Any]:
    """Which tables and views there are, and every row of the results as another program sees it."""
    if install.vendor == "sqlite":
        with closing(sqlite3.connect(install.file(alias))) as connection:
            connection.text_factory = bytes
            there = connection.execute("SELECT type, name, sql FROM sqlite_master ORDER BY name").fetchall()
            rows = {name: connection.execute(f"SELECT * FROM {name}").fetchall() for name in old_library.RESULTS}
        return {"there": there, **rows}
    there = install.rows(
        alias,
        "SELECT c.relname, c.relkind, a.attname, format_type(a.atttypid, a.atttypmod) FROM pg_class c"
        " JOIN pg_attribute a ON a.attrelid = c.oid AND a.attnum > 0"
        " JOIN pg_namespace n ON n.oid = c.relnamespace AND n.nspname = 'public' ORDER BY 1, 3",
    )
    raw = {name: install.rows(alias, f"SELECT md5(CAST(x AS text)) FROM {name} x") for name in old_library.RESULTS}
    return {"there": there, **raw}


def bytes_of_ascii(install: Install) -> None:
    """A PostgreSQL that takes any bytes as text, as old libraries were made."""
    name = database_of(install.urls["default"]) + "_ascii"
    install.server.execute(
        f"CREATE DATABASE \"{name}\" TEMPLATE template0 ENCODING 'SQL_ASCII' LC_COLLATE 'C' LC_CTYPE 'C'",
        database="postgres",
    )
    install.urls["default"] = install.env["CLEARINGHOUSE_DB"] = install.server.address(name)


def put_latin(install: Install, table: str, column: str, key: str, number: int, text: bytes) -> None:
    if install.vendor == "sqlite":
        value = f"CAST(x'{text.hex()}' AS TEXT)"
    else:
        value = f"convert_from(decode('{text.hex()}', 'hex'), 'SQL_ASCII')"
    install.execute("default", f"UPDATE {table} SET {column} = {value} WHERE {key} = {number} RETURNING 1")


def refused(install: Install) -> str:
    """What prepare says; it fails in one line, and neither a table nor a row is another than before."""
    before = snapshot(install)
    done = install.command("prepare")
    assert done.returncode == 1, done.stdout
    assert "Traceback" not in done.stderr and len(done.stderr.strip().splitlines()) == 1, done.stderr
    assert snapshot(install) == before
    return done.stderr


def test_an_address_that_is_not_utf_8_is_named_and_nothing_is_changed(install: Install) -> None:
    if install.vendor == "postgresql":
        bytes_of_ascii(install)
    install.old_library("default")
    put_latin(install, "doc_crawl_page", "crawl_page_url", "doc_crawl_page_id", 1002, b"https://a.example/caf\xe9")
    said = refused(install)
    assert r"doc_crawl_page 1002, crawl_page_url is not UTF-8: b'https://a.example/caf\xe9'" in said
    assert "nothing was changed" in said and "then run prepare again" in said
    install.execute(
        "default", f"UPDATE doc_crawl_page SET crawl_page_url = '{MENDED}' WHERE doc_crawl_page_id = 1002 RETURNING 1"
    )
    assert install.prepare()["default"] == "adopted"
    pages = install.rows("default", "SELECT doc_crawl_page_id, crawl_page_url FROM doc_crawl_page ORDER BY 1")
    assert pages[1] in ((1002, MENDED), (1002, MENDED.encode())) and len(pages) == 3  # SQL_ASCII gives bytes
    assert set(install.prepare().values()) == {"up to date"}


def test_a_title_that_is_not_utf_8_is_shown_and_told_of(install: Install) -> None:
    if install.vendor == "postgresql":
        bytes_of_ascii(install)
    install.old_library("default")
    put_latin(install, "doc_crawl_page", "title_str", "doc_crawl_page_id", 1001, b"Caf\xe9")
    put_latin(install, "crawl_page_meta", "content_str", "crawl_page_meta_id", 5004, b"\x80 5")
    done = install.command("prepare")
    assert done.returncode == 0, done.stderr
    assert "1 value of doc_crawl_page.title_str: not UTF-8, shown as Windows-1252" in done.stdout
    assert "1 value of crawl_page_meta.content_str: not UTF-8" in done.stdout
    found = install.rows("default", "SELECT title_str FROM doc_crawl_page WHERE doc_crawl_page_id = 1001")
    assert found in ([("Café",)], [("Café".encode(),)])  # a database of SQL_ASCII gives bytes
    found = install.rows("default", "SELECT content_str FROM crawl_page_meta WHERE crawl_page_meta_id = 5004")
    assert found in ([("€ 5",)], [("€ 5".encode(),)])


def dates_of_noughts(install: Install) -> None:
    """As MySQL leaves them: PostgreSQL has none, but takes them where the column is text."""
    if install.vendor == "postgresql":
        for table in ("doc_crawl_page", "doc_crawl_exclude_url"):
            install.execute(
                "default", f"DROP VIEW IF EXISTS their_report; ALTER TABLE {table} ALTER create_dt TYPE text"
            )
    install.execute(
        "default",
        "UPDATE doc_crawl_page SET create_dt = '0000-00-00 00:00:00' WHERE doc_crawl_page_id = 1001 RETURNING 1",
        "UPDATE doc_crawl_page SET create_dt = 'last spring', update_dt = '2019-05-01 10:00:00'"
        " WHERE doc_crawl_page_id = 1002 RETURNING 1",
    )
    if install.vendor == "postgresql":
        install.execute("default", "UPDATE doc_crawl_exclude_url SET create_dt = '0000-00-00' RETURNING 1")


def test_dates_of_noughts_are_not_known_and_a_binary_ts_is_a_number(install: Install) -> None:
    install.old_library("default")
    dates_of_noughts(install)
    eight = "x'FFFEFDFC000007D1'" if install.vendor == "sqlite" else "'\\xfffefdfc000007d1'"
    install.execute("default", f"UPDATE doc_crawl_page SET ts = {eight} RETURNING 1")
    install.execute("default", f"UPDATE crawl_point SET ts = {eight} WHERE crawl_point_id = 7 RETURNING 1")
    if install.vendor == "sqlite":
        install.execute(
            "default",
            "UPDATE crawl_point SET create_dt = '0000-00-00', update_dt = '0000-00-00 00:00:00'"
            " WHERE crawl_point_id = 7",
        )
    done = install.command("prepare")
    assert done.returncode == 0, done.stderr
    assert "2 values of doc_crawl_page.create_dt: no date, taken as not known" in done.stdout
    made = install.rows("default", "SELECT CAST(create_dt AS text) FROM doc_crawl_page WHERE doc_crawl_page_id = 1002")
    assert made[0][0].startswith("2019-05-01")
    kept = install.rows(
        "default", "SELECT CAST(create_dt AS text) FROM doc_crawl_page_before ORDER BY doc_crawl_page_id"
    )
    assert kept[:2] == [("0000-00-00 00:00:00",), ("last spring",)], "the old rows are as they were"
    assert install.python("from crawlpoints.models import CrawlPoint\np = CrawlPoint.objects.get(pk=7)\nprint(p.created_at, p.version > 1)") == "None True"  # fmt: skip  # noqa: E501
    where = "crawl_point" if install.vendor == "sqlite" else "doc_crawl_exclude_url"
    assert f"1 value of {where}.create_dt: no date, taken as not known" in done.stdout
    assert set(install.prepare().values()) == {"up to date"}


def test_every_odd_row_of_a_table_that_is_kept_is_named_and_a_password_is_not_shown(install: Install) -> None:
    if install.vendor == "postgresql":
        bytes_of_ascii(install)
    install.old_library("default")
    put_latin(install, "crawl_point", "crawl_pw_str", "crawl_point_id", 7, b"S\xe9same")
    put_latin(install, "doc_crawl_exclude_url", "exclude_url", "doc_crawl_exclude_url_id", 90, b"https://\xff/")
    far = "'9999999-01-01'" if install.vendor == "sqlite" else "'infinity'"
    install.execute("default", f"UPDATE crawl_point SET update_dt = {far} WHERE crawl_point_id = 8 RETURNING 1")
    said = refused(install)
    assert "3 values cannot be read, so nothing was changed" in said
    assert "crawl_point 7, crawl_pw_str is not UTF-8 (not shown here)" in said and "same" not in said
    assert r"doc_crawl_exclude_url 90, exclude_url is not UTF-8: b'https://\xff/'" in said
    assert "crawl_point 8, update_dt is not a date: b" in said


@pytest.mark.parametrize(
    ("statement", "words"),
    [
        ("UPDATE doc_crawl_page SET crawl_page_url = NULL WHERE doc_crawl_page_id = 1003",
         "1003, crawl_page_url is empty"),
        ("UPDATE doc_crawl_page SET doc_id = NULL WHERE doc_crawl_page_id = 1003", "1003, doc_id is empty"),
        ("INSERT INTO crawl_page_meta SELECT * FROM crawl_page_meta WHERE crawl_page_meta_id = 5004",
         "5004, crawl_page_meta_id is in several rows"),
    ],
)  # fmt: skip
def test_rows_without_what_a_page_must_have_are_named(install: Install, statement: str, words: str) -> None:
    install.old_library("default")
    if install.vendor == "sqlite":
        loosen(install)
    else:
        install.execute(
            "default",
            "ALTER TABLE doc_crawl_page ALTER crawl_page_url DROP NOT NULL, ALTER doc_id DROP NOT NULL",
            "ALTER TABLE crawl_page_meta DROP CONSTRAINT crawl_page_meta_pk",
        )
    install.execute("default", f"{statement} RETURNING 1")
    assert words in refused(install)


def loosen(install: Install) -> None:
    """Tables without keys and without NOT NULL, as a plain copy of them has."""
    for table in ("crawl_page_meta", "doc_crawl_page"):
        install.execute(
            "default",
            "DROP VIEW IF EXISTS their_report",
            f"CREATE TABLE copied AS SELECT * FROM {table}",
            f"DROP TABLE {table}",
            f"ALTER TABLE copied RENAME TO {table}",
        )


def test_a_load_that_is_stopped_leaves_the_old_tables_and_their_view_as_they_are(install: Install) -> None:
    """Other programs see the old rows until the new ones are whole; then one moment shows them."""
    install.old_library("default", pages=700)
    seen = snapshot(install)
    stopped = install.python(
        "from clearinghouse.database.adoption import prepare, results\n"
        "load, count = results._load, iter(range(6))\n"
        "def failing(*words):\n"
        "    if next(count) == 5:\n"
        "        raise OSError('the disk is away')\n"
        "    load(*words)\n"
        "results._load = failing\n"
        "try:\n"
        "    prepare.prepare('default')\n"
        "except OSError as error:\n"
        "    print(error)"
    )
    assert stopped == "the disk is away"
    assert install.rows("default", "SELECT count(*) FROM published_version") == [(250,)]
    after = snapshot(install)
    assert all(after[name] == seen[name] for name in old_library.RESULTS)
    assert install.rows("default", "SELECT * FROM their_report") == [(11, 700)]
    columns = ", ".join(list(old_library.TABLES["doc_crawl_page"]["columns"])[:3])
    install.execute(  # they go on working, too
        "default", f"INSERT INTO doc_crawl_page ({columns}) VALUES (9000, 11, 'https://a.example/late.htm') RETURNING 1"
    )
    assert install.prepare()["default"] == "adopted"
    assert install.rows("default", "SELECT count(*) FROM doc_crawl_page") == [(701,)]
    assert install.rows("default", "SELECT * FROM their_report") == [(11, 701)]
    assert set(install.prepare().values()) == {"up to date"}
