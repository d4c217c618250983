"""PostgreSQL as a peer of search: title and text in one table, a weighted tsvector, GIN, ts_rank, top 10; and bare SQL
on the product's own tables there.

Called by: search. A throw-away cluster of this machine; nothing where there is none.
"""

from collections.abc import Callable, Iterator, Sequence

import psycopg

from tests.postgres import Server, programs

_SETUP = (
    "CREATE TABLE pages (id serial PRIMARY KEY, title text, text text, words tsvector)",
    "CREATE INDEX pages_words ON pages USING gin (words)",
)
_FILL = (
    "UPDATE pages SET words = setweight(to_tsvector('english', title), 'A') || to_tsvector('english', text) "
    "WHERE id BETWEEN %s AND %s"
)
_FIND = (
    "SELECT id, title, ts_rank(words, q) FROM pages, to_tsquery('english', %s) q WHERE words @@ q "
    "ORDER BY 3 DESC LIMIT 10"
)
_SAME_TABLES = (
    "SELECT v.published_id, v.crawl_page_url, v.title_str, v.text FROM published_index x "
    "CROSS JOIN to_tsquery('clearinghouse_english', %s) q JOIN published_interval i ON i.published_id = x.published_id "
    "JOIN published_version v ON v.published_id = x.published_id "
    "WHERE x.words @@ q AND i.gen_from <= 1 AND i.gen_to > 1 "
    "ORDER BY ts_rank('{0.1, 0.35, 0.5, 1.0}', x.words, q, 1) DESC LIMIT 10"
)
Ask = Callable[[str, str], object]  # kind and question


def bare_sql(base: psycopg.Connection) -> Ask:
    return lambda kind, text: base.execute(_SAME_TABLES, [_tsquery(kind, text.removesuffix(" type:web"))]).fetchall()


def postgres(pages: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Ask]]:
    found = programs()
    if found is None:
        print("NOT RUN: PostgreSQL is not installed")
        return
    server = Server(found)
    try:
        server.url("peer")
        with server.connect("peer") as base:
            base.execute(_SETUP[0])
            with base.cursor().copy("COPY pages (title, text) FROM STDIN") as copy:
                for page in pages:
                    copy.write_row(page)
            for at in range(1, len(pages) + 1, 5000):
                base.execute(_FILL, [at, at + 4999])
            base.execute(_SETUP[1])
            base.execute("VACUUM ANALYZE pages")
            yield "PostgreSQL", lambda kind, text: base.execute(_FIND, [_tsquery(kind, text)]).fetchall()
    finally:
        server.stop()


def _tsquery(kind: str, text: str) -> str:
    words = text.strip('"').rstrip("*").split()
    return (" <-> " if kind == "a phrase" else " & ").join(words) + (":*" if text.endswith("*") else "")
