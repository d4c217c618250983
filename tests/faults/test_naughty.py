"""What a site may say and a database would not take (fault E4): the same crawl into SQLite and into PostgreSQL.

PostgreSQL refuses NUL, half pairs, and whatever is longer than its column; one such text in one page would end the
crawl of every instance that meets it.
"""

import json
import os
import sqlite3
from contextlib import closing
from html import escape
from pathlib import Path

import pytest

from tests.faults import site as sites
from tests.faults.house import House
from tests.postgres import Server, postgres  # noqa: F401 - a fixture
from tests.proves import proves
from tests.sites.misbehaving import Page, Site, page, raw, redirect

PATIENCE = 300  # seconds, of which a crawl that meets no trouble takes two
LONG = "x" * 20_000
ODD = "a\0b\ud83d\U0001f600\ufffe\u202e\x1b'\"\\%s%%{}"


def bytes_of(text: str) -> bytes:
    return text.encode("utf-8", "surrogatepass")


def markup(title: str, more: str = "") -> bytes:
    return bytes_of(
        f"<html lang='{title[:500]}'><title>{title}</title><meta name='{title}' content='{title}'>"
        f"<link rel=canonical href='/c{title}'><h1>{title}</h1><p>{title} {more}"
    )


def strings() -> list[str]:
    """A public list of naughty strings, where it is there; ours in any case."""
    texts = [ODD, LONG, "&#0;&#xD800;&#x1F600;", "http://[\0", f"http://[{LONG}", f"mailto:{LONG}\0", "//[\ud800/"]
    file = Path(os.environ.get("CLEARINGHOUSE_VECTORS", "")) / "naughty-strings" / "blns.json"
    return texts + json.loads(file.read_text())[::8] if file.is_file() else texts


def pages() -> dict[str, Page]:
    links = "".join(f"<a href='{escape(text)}'>{escape(text)}</a>" for text in strings())
    found: dict[str, Page] = {f"/s{n}": page(markup(text)) for n, text in enumerate(strings())}
    headers = [f'ETag: "{LONG}"', f"Last-Modified: {LONG}", f"Content-Type: text/html; charset={LONG}"]
    found |= {
        "/headers": page("<p>x", *headers, kind=""),
        "/type": page("x", kind="image/" + LONG),
        "/auth": page("x", f"WWW-Authenticate: Foo {LONG}", status="401 " + LONG[:300]),
        "/far": redirect("http://[" + LONG),
        "/odd": raw(bytes_of("HTTP/1.1 302 F\r\nLocation: http://[\ud800\x7f\xff\r\nContent-Length: 0\r\n\r\n")),
        "/pdf": page(b"%PDF-1.4 " + bytes_of(ODD), kind="application/pdf"),
        "/xml": page(bytes_of(f"<r xml:lang='{ODD}'><title>{ODD}</title></r>"), kind="text/xml"),
        "/text": page(bytes_of(ODD), kind="text/plain"),
    }
    names = "".join(f"<a href='{path}'>{path}</a>" for path in [*found, f"/{LONG[:1900]}", f"/blocked/{LONG[:900]}"])
    found["/"] = page(bytes_of(names + links))
    rules = f"User-agent: *\nDisallow: /blocked/{LONG[:800]}*\n# \xff\0\nDisallow: /{LONG}\nSitemap: http://[\0\n"
    found["/robots.txt"] = page(rules.encode("latin-1"), kind="text/plain")
    return found


def crawled(house: House) -> None:
    process = house.start("crawl", "--speed", "fast", "--json")
    try:
        told, said = process.communicate(timeout=PATIENCE)
    finally:
        process.kill()
    assert process.returncode == 0, said[-3000:]
    assert "error" not in json.loads(told)["failed"], told
    house.manage("check_ledger")


LEDGER = "SELECT url, outcome, reason, detail, redirect_url FROM ledger"
VERSIONS = "SELECT url, title, metas, text, language, canonical, etag, content_type FROM page_version"


@proves("E4")
@pytest.mark.usefixtures("postgres")
def test_postgresql_stores_what_sqlite_stores_whatever_sites_say(
    bare: House,
    tmp_path: Path,
    postgres: Server,  # noqa: F811
) -> None:
    plain = bare.copy(tmp_path / "plain")
    server = House(tmp_path / "server", {"CLEARINGHOUSE_DB_WEBCRAWL": postgres.url("naughty")})
    with Site() as site:
        site.pages = pages()
        for house in (plain, server):
            sites.make(house, [[[site.url("/"), "--depth", "3"]]])
            crawled(house)
    for query in (LEDGER, VERSIONS):
        with closing(sqlite3.connect(plain.var / "webcrawl.sqlite3")) as connection:
            expected = sorted(connection.execute(query).fetchall())
        assert len(expected) > 10
        assert sorted(postgres.execute(query, database="naughty")) == expected
