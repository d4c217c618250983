"""Owns: why a page stands where it stands among the results of a query, in numbers somebody can follow.

The parts are those the ranking itself adds up. Does not: rank. Called by: the page Explain this ranking.
"""

from collections.abc import Sequence
from dataclasses import dataclass, field, replace

from clearinghouse.published.models import PublishedVersion

from .. import engine, public_search
from ..backends import backend
from ..backends.text_index import Generation
from ..engine import Narrow
from ..public_search import PublicResults
from .result_order import POOL, WEIGHTS, evidence, ranked
from .snippets import LOOKED_AT as TEXT_LOOKED_AT
from .snippets import Marker

DEEPEST = 100  # places looked at
PLACES = {
    "title": "Title", "address": "Address", "headings": "Headings", "metas": "Meta tags",
    "anchors": "Links pointing here", "text": "Text",
}  # fmt: skip
PARTS = {
    "score": "Words in the whole page, as the index counts them", "title": "Title", "address": "Address",
    "name": "Last part of the address", "inside": "Words inside the last part of the address", "heading": "Headings",
    "headline": "A heading with few other words", "anchor": "Links pointing here",
    "exact": "Words in exactly the form you typed", "beside": "Words side by side", "near": "Words near each other",
    "often": "How often the words are in the text", "covered": "Words found anywhere",
    "length": "Length of the text",
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class WordFound:
    """One term of the query, and how often it stands in each place of the page."""

    word: str
    counts: tuple[tuple[str, int], ...]  # of PLACES, in their order

    @property
    def total(self) -> int:
        return sum(count for _, count in self.counts)


@dataclass(slots=True)
class Explained:
    row: PublishedVersion
    answer: PublicResults
    place: int | None = None  # among the results; None: further down than is looked at, or not at all
    matches: bool = False
    recommended: bool = False
    score: float = 0.0
    parts: list[tuple[str, float]] = field(default_factory=list)
    words: list[WordFound] = field(default_factory=list)


def explained(text: str, narrow: Narrow, published_id: int) -> Explained | None:
    """None when the public index does not hold this page."""
    found = public_search.answer(text, replace(narrow, sort="best"), limit=DEEPEST)
    row = engine.page(found.alias, found.results.generation, published_id)
    if row is None:
        return None
    query = found.results.query
    told = Explained(row, found, recommended=published_id in {hit.published_id for hit in found.best})
    ids = [hit.published_id for hit in found.results.hits]
    told.place = ids.index(published_id) + 1 if published_id in ids else None
    terms = {" ".join(term.words) + ("*" if term.prefix else ""): term for term in query.words}
    told.words = [_word(word, Marker((term,)), row) for word, term in terms.items()]
    if query.words:
        _score(told, ids)
    return told


def _word(word: str, marker: Marker, row: PublishedVersion) -> WordFound:
    texts = {name: row.url if name == "address" else getattr(row, name) for name in PLACES}
    counts = tuple((label, len(marker.spans(texts[name][:TEXT_LOOKED_AT]))) for name, label in PLACES.items())
    return WordFound(word, counts)


def _score(told: Explained, ids: Sequence[int]) -> None:
    """Beside the best of the results, as the ranking sees them; a page further down is put among them."""
    page = told.row.pk
    results = told.answer.results
    generation = Generation(results.generation, results.indexed_at)
    query, candidates = backend(told.answer.alias).ranked_pages(results.query, generation, [*ids[:POOL], page])
    told.matches = any(one.published_id == page for one in candidates)
    if told.matches:
        told.score = dict(ranked(query, candidates))[page]
        spoken = next(
            part for one, part in zip(candidates, evidence(query, candidates), strict=True) if one.published_id == page
        )
        told.parts = [(label, WEIGHTS.get(name, 1.0) * spoken[name]) for name, label in PARTS.items()]
