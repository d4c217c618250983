"""Owns: the proof that a target holds the generation before it is shown: counts, digests, contents, sample queries.

Does not: repair. Called by: work. Raises Differs with a table of what differs and the first differing address.
"""

from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any

from clearinghouse.search import backends
from clearinghouse.search.query import Query, Term
from clearinghouse.search.words import words_of

from . import load
from .collect import Beat, Content, Pages, contents
from .failures import Differs
from .rows import COMPARED, meta_rows, version_row
from .scope import DocumentScope

SAMPLES = 5
WORDS_IN_SAMPLE = 3
_CHUNK = 50


def document(alias: str, generation: int, scope: DocumentScope, pages: Pages) -> int:
    """Checks that one document shows exactly these pages in this generation; how many there are."""
    rows = load.held(alias, scope.doc_id, generation)
    shown = {row.url_key: row.digest for row in rows}
    if len(rows) != len(pages) or any(shown.get(key) != page.digest for key, page in pages.items()):
        wrong = [key for key in {*shown, *pages} if shown.get(key) != (pages[key].digest if key in pages else None)]
        raise Differs(
            f"published_version: {scope.title} shows {len(rows)} pages and should show {len(pages)}; "
            f"the first that differs has the key {min(wrong).hex() if wrong else 'of a page shown twice'}"
        )
    return len(rows)


def copies(alias: str, generation: int, doc_id: int, pages: Pages, beat: Beat) -> int:
    """Reads back what this generation wrote for a document and compares it with its source; how many pages."""
    sql = (
        "SELECT v.url_key, v.published_id FROM published_interval i JOIN published_version v "
        "ON v.published_id = i.published_id WHERE i.doc_id = %s AND i.gen_from = %s AND i.gen_to > %s"
    )
    ids = {bytes(key): number for key, number in load.execute(alias, sql, [doc_id, generation, generation])}
    for part in _parts(contents(pages, [key for key in ids if key in pages])):
        stored = _stored(alias, [ids[content.url_key] for content in part])
        metas = _stored_metas(alias, [ids[content.url_key] for content in part])
        for content in part:
            number = ids[content.url_key]
            if stored[number] != _comparable(version_row(number, content, _same)[1:16]):
                raise Differs(f"published_version: {content.version.url} differs from what was stored")
            if metas.get(number, []) != [tuple(row) for row in meta_rows(number, content)]:
                raise Differs(f"published_meta: the meta tags of {content.version.url} differ from what was stored")
        beat()
    return len(ids)


def indexed(alias: str, generation: int) -> None:
    missing = backends.backend(alias).missing(generation)
    if missing:
        raise Differs(
            f"published_index: {len(missing)} pages of generation {generation} are not in the full text index"
        )


def sample_queries(alias: str, generation: int) -> int:
    """Five pages, spread over the generation, each searched by words of its own; how many were asked."""
    asked = 0
    for published_id, title, text in _samples(alias, generation):
        words = tuple(words_of(title)[:WORDS_IN_SAMPLE] or words_of(text[:2000])[:WORDS_IN_SAMPLE])
        if not words:
            continue
        query = Query(groups=tuple((Term((word[:64],)),) for word in words))
        if not backends.backend(alias).finds(query, generation, published_id):
            raise Differs(f"the sample query “{' '.join(words)}” does not find the page it was taken from")
        asked += 1
    return asked


def _samples(alias: str, generation: int) -> list[tuple[int, str, str]]:
    pages = load.count(alias, generation)
    found: list[tuple[int, str, str]] = []
    for at in range(SAMPLES) if pages else ():
        sql = (
            "SELECT v.published_id, v.title_str, v.text FROM published_version v WHERE v.published_id = "
            "(SELECT i.published_id FROM published_interval i WHERE i.gen_from <= %s AND i.gen_to > %s "
            "ORDER BY i.published_id LIMIT 1 OFFSET %s)"
        )
        found += load.execute(alias, sql, [generation, generation, at * pages // SAMPLES])
    return list(dict.fromkeys((row[0], row[1], row[2]) for row in found))


def _stored(alias: str, ids: Sequence[int]) -> dict[int, tuple[Any, ...]]:
    marks = ", ".join(["%s"] * len(ids))
    sql = f"SELECT published_id, {', '.join(COMPARED)} FROM published_version WHERE published_id IN ({marks})"  # noqa: S608
    return {row[0]: _comparable(row[1:]) for row in load.execute(alias, sql, ids)}


def _stored_metas(alias: str, ids: Sequence[int]) -> dict[int, list[tuple[Any, ...]]]:
    marks = ", ".join(["%s"] * len(ids))
    sql = (
        "SELECT published_meta_id, published_id, name_str, content_str FROM published_meta "  # noqa: S608
        f"WHERE published_id IN ({marks}) ORDER BY published_meta_id"
    )
    found: dict[int, list[tuple[Any, ...]]] = {}
    for row in load.execute(alias, sql, ids):
        found.setdefault(row[1], []).append(tuple(row))
    return found


def _comparable(row: Iterable[Any]) -> tuple[Any, ...]:
    return tuple(bytes(value) if isinstance(value, memoryview) else value for value in row)


def _same(moment: datetime) -> datetime:
    return moment


def _parts(items: Iterable[Content]) -> Iterable[list[Content]]:
    remaining = iter(items)
    while part := list(islice(remaining, _CHUNK)):
        yield part
