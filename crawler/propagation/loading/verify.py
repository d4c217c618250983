"""Owns: the proof that a target holds the generation before it is shown: counts, digests, contents, sample queries.

Does not: repair. Called by: work. Raises Differs with a table of what differs and the first differing address.
"""

import re
from collections.abc import Iterable, Sequence
from datetime import datetime
from itertools import islice
from typing import Any
from unicodedata import normalize

from clearinghouse.published.models import PublishedInterval, PublishedVersion
from clearinghouse.search import backends
from clearinghouse.search.query import Query, Term
from clearinghouse.search.words import fold
from clearinghouse.web.plurals import plural
from crawler.models import PageVersion

from ..pinned_scope import DocumentScope
from ..step_failures import Differs
from . import load
from .collect import Beat, contents
from .packed_pages import Pages, WantedPages
from .published_rows import COMPARED, meta_rows, version_row

SAMPLES = 5
WORDS_IN_SAMPLE = 3
_PLAIN = re.compile(r"(?<!\S)[^\W\d_]{2,40}(?=[\s.,;:]|$)")
_CHUNK = 50


def document(alias: str, generation: int, scope: DocumentScope, pages: Pages) -> int:
    """Checks that one document shows exactly these pages in this generation; how many there are."""
    wanted, rows, wrong, met = WantedPages(pages), 0, b"", bytearray(len(pages))
    for row in load.held(alias, scope.doc_id, generation):
        rows += 1
        good = row.url_key in wanted and wanted[row.url_key].digest == row.digest
        if good:
            met[pages.place_of(row.url_key)] = 1
        elif not wrong or row.url_key < wrong:
            wrong = row.url_key
    if (lacking := met.find(0)) >= 0:
        key = next(islice(pages, lacking, None))
        wrong = min(wrong, key) if wrong else key
    if wrong or rows != len(pages):
        raise Differs(
            f"published_version: {scope.title} shows {plural(rows, 'page')} and should show {len(pages)}; "
            f"the first that differs is {_named(wrong, pages) if wrong else 'a page shown twice'}"
        )
    return rows


def _named(key: bytes, pages: Pages) -> str:
    """The address behind a key, where a version still has it."""
    page = pages.get(key)
    rows = PageVersion.objects.filter(id=page.version_id) if page else PageVersion.objects.filter(url_key=key)
    return rows.values_list("url", flat=True).first() or f"the page with the key {key.hex()}"


def copies(alias: str, generation: int, doc_id: int, pages: Pages, beat: Beat) -> int:
    """Reads back what this generation wrote for a document and compares it with its source; how many pages."""
    sql = (
        "SELECT v.url_key, v.published_id FROM published_interval i JOIN published_version v "
        "ON v.published_id = i.published_id WHERE i.doc_id = %s AND i.gen_from = %s AND i.gen_to > %s "
        "ORDER BY i.published_id"
    )
    written, compared = load.streamed(alias, sql, [doc_id, generation, generation]), 0
    while rows := list(islice(written, _CHUNK)):
        compared += len(rows)
        ids = {bytes(key): number for key, number in rows}
        part = list(contents(pages, [key for key in ids if key in pages]))
        if not part:
            continue
        stored = _stored(alias, [ids[content.url_key] for content in part])
        metas = _stored_metas(alias, [ids[content.url_key] for content in part])
        for content in part:
            number = ids[content.url_key]
            if stored[number] != _comparable(version_row(number, content, _same)[1:16]):
                raise Differs(f"published_version: {content.version.url} differs from what was stored")
            if metas.get(number, []) != [tuple(row) for row in meta_rows(number, content)]:
                raise Differs(f"published_meta: the meta tags of {content.version.url} differ from what was stored")
        beat()
    return compared


def indexed(alias: str, generation: int) -> None:
    missing = backends.backend(alias).missing(generation)
    if missing:
        raise Differs(
            f"published_index: generation {generation} has {plural(len(missing), 'page')} not in the full text index"
        )


def sample_queries(alias: str, generation: int) -> int:
    """Five pages, spread over the generation, each searched by words of its own; how many were asked."""
    asked = 0
    for published_id, title, text in _samples(alias, generation):
        words = _words_to_ask(title) or _words_to_ask(text[:2000])
        if not words:
            continue
        query = Query(groups=tuple((Term((word,)),) for word in words))
        if not backends.backend(alias).finds(query, generation, published_id):
            raise Differs(f"the sample query “{' '.join(words)}” does not find the page it was taken from")
        asked += 1
    return asked


def _words_to_ask(text: str) -> tuple[str, ...]:
    """Words that every server takes for one and the same word: what stands between is white space, or a full stop.

    An odd text proves nothing about an index, and must not keep a generation from being shown.
    """
    words = dict.fromkeys(fold(word) for word in _PLAIN.findall(text))
    plain = [word for word in words if word.isascii()]
    other = [word for word in words if word.islower() and normalize("NFKD", word) == word]
    return tuple((plain or other)[:WORDS_IN_SAMPLE])


def _samples(alias: str, generation: int) -> list[tuple[int, str, str]]:
    pages = load.count(alias, generation)
    shown = PublishedInterval.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    ids = shown.order_by("published_id").values_list("published_id", flat=True)
    chosen = {ids[at * pages // SAMPLES] for at in range(SAMPLES) if pages}
    rows = PublishedVersion.objects.using(alias).filter(pk__in=chosen).order_by("pk")
    return list(rows.values_list("pk", "title", "text"))


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
