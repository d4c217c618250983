"""The peer of a propagation on PostgreSQL: COPY from WebCrawl into an empty target, and one INSERT … SELECT of weighted
vectors into a table with a GIN index, as the product has one.

Called by: propagation.
"""

import os
import time
from pathlib import Path

import django

from tests.bench import ground

_VERSIONS = (
    "published_id, doc_id, doc_crawl_page_id, digest, url_key, crawl_page_url, host, crawl_page_type_id, page_ext, "
    "title_str, headings, metas, anchors, text, language, crawl_file, crawled_at, create_dt, update_nm"
)
# (what is read from WebCrawl, where it goes)
_COPIES = (
    (
        "SELECT v.id * 16, v.doc_id, h.doc_crawl_page_id, v.digest, v.url_key, v.url, 'example.gov'::text, v.type_id, "
        "v.extension, v.title, v.headings, v.metas, ''::text, v.text, v.language, b.content, v.found_at, v.found_at, "
        "'copy'::text FROM page_version v JOIN page_body b ON b.digest = v.digest "
        "JOIN page_head h ON h.version_id = v.id",
        f"published_version ({_VERSIONS})",
    ),
    (
        "SELECT v.id * 4096 + m.at, v.id * 16, m.pair->>0, m.pair->>1 FROM page_version v, "
        "jsonb_array_elements(v.metas::jsonb) WITH ORDINALITY AS m(pair, at)",
        "published_meta (published_meta_id, published_id, name_str, content_str)",
    ),
    (
        "SELECT id * 16, doc_id, 1, 2147483647 FROM page_version",
        "published_interval (published_id, doc_id, gen_from, gen_to)",
    ),
)


def _index() -> list[str]:
    """The statements that make the index, and fill it."""
    os.environ.setdefault("DJANGO_SETTINGS_MODULE", "clearinghouse.settings")
    django.setup()
    from clearinghouse.search.backends import postgres_text as index

    words = " || ".join(
        f"setweight(to_tsvector('{index._CONFIG}', {name}), '{index._CLASSES[name]}')" for name in index._ORDER
    )
    return [
        *index._SETUP,
        "SET default_toast_compression = lz4",
        "CREATE TABLE plain_index (published_id bigint PRIMARY KEY, words tsvector NOT NULL)",
        "CREATE INDEX plain_index_words ON plain_index USING gin (words)",
        f"INSERT INTO plain_index SELECT published_id, {words} FROM published_version",
    ]


def plain(var: Path, empty: Path) -> tuple[float, float]:
    """Seconds of the copy into an empty target, and of the index over it."""
    server = ground.server()
    assert server
    target = f"plain_{time.monotonic_ns()}"
    server.url(target, like=ground.name_of(empty, "primary"))
    with server.connect(ground.name_of(var, "webcrawl")) as source, server.connect(target) as there:
        began = time.perf_counter()
        with there.transaction():
            for query, table in _COPIES:
                with (
                    source.cursor().copy(f"COPY ({query}) TO STDOUT") as read,
                    there.cursor().copy(f"COPY {table} FROM STDIN") as write,
                ):
                    for data in read:
                        write.write(data)
        copied = time.perf_counter() - began
        *setup, fill = _index()
        for statement in setup:
            there.execute(statement)
        began = time.perf_counter()
        there.execute(fill)
        return copied, time.perf_counter() - began
