"""Owns: word -> pages, with frequency and positions, of one generation of a target.

The full text index names the pages that may hold the word (it knows stems); what counts is the stored text. Pages
come in the order of their ids, some at a time: a common word of a large library never fills the memory.
Does not: write. Called by: the command word, the screens, the tests.
"""

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import NamedTuple

from clearinghouse.published.models import PublishedInterval, PublishedVersion
from clearinghouse.search.backends import backend
from clearinghouse.search.query import Query, Term

from ..bulk_sql import chunks
from .words_in_text import LONGEST, places_of

AT_ONCE = 100  # candidates read together
_TEXTS = 8  # texts read together: one may have 10 MB


class Posting(NamedTuple):
    """One page that holds the word."""

    published_id: int
    page_id: int
    doc_id: int
    url: str
    title: str
    frequency: int
    positions: list[int]


@dataclass(slots=True)
class Postings:
    """Some of the pages that hold a word, and where the rest begins: 0 when there is no rest."""

    rows: list[Posting] = field(default_factory=list)
    after: int = 0


def postings(
    alias: str, generation: int, word: str, *, after: int = 0, docs: frozenset[int] | None = None
) -> Iterator[Posting]:
    """All pages of the generation that hold the word, behind the page `after`."""
    for posting in candidates(alias, generation, word, after=after, docs=docs):
        if posting.frequency:
            yield posting


def some(found: Iterator[Posting], limit: int, looked_at: int) -> Postings:
    """At most `limit` pages, found by looking at no more than `looked_at` candidates."""
    result = Postings()
    for number, posting in enumerate(found, 1):
        if posting.frequency:
            result.rows.append(posting)
        if len(result.rows) > limit:
            result.rows.pop()
            return Postings(result.rows, result.rows[-1].published_id if result.rows else 0)
        if number >= looked_at:
            return Postings(result.rows, posting.published_id)
    return result


def candidates(
    alias: str, generation: int, word: str, *, after: int = 0, docs: frozenset[int] | None = None
) -> Iterator[Posting]:
    """The pages the full text index names, those that do not hold the word itself with frequency 0."""
    index = backend(alias)
    if not generation or not index.exists():
        return
    query = Query(groups=((Term((word,), prefix=len(word) >= LONGEST),),))
    while ids := index.holding(query, after=after, limit=AT_ONCE):
        for part in chunks(_shown(alias, generation, ids, docs), _TEXTS):
            yield from _looked_at(alias, part, word)
        after = ids[-1]


def _shown(alias: str, generation: int, ids: list[int], docs: frozenset[int] | None) -> list[int]:
    """Those of the generation, and of these documents."""
    rows = PublishedInterval.objects.using(alias).filter(published_id__in=ids)
    rows = rows.filter(gen_from__lte=generation, gen_to__gt=generation).order_by("published_id")
    return [number for number, doc_id in rows.values_list("published_id", "doc_id") if docs is None or doc_id in docs]


def _looked_at(alias: str, ids: list[int], word: str) -> Iterator[Posting]:
    rows = PublishedVersion.objects.using(alias).filter(pk__in=ids).order_by("pk")
    for number, page_id, doc_id, url, title, text in rows.values_list(
        "pk", "page_id", "doc_id", "url", "title", "text"
    ):
        places = places_of(word, text)
        yield Posting(number, page_id, doc_id, url, title, len(places), places)
