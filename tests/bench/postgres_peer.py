"""PostgreSQL as a peer of search: title and text in one table, a weighted tsvector, GIN, ts_rank, top 10.

Called by: search. A throw-away cluster of this machine; nothing where there is none.
"""

from collections.abc import Callable, Iterator, Sequence

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


def postgres(pages: Sequence[tuple[str, str]]) -> Iterator[tuple[str, Callable[[str, str], object]]]:
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
