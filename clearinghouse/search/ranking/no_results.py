"""Owns: what is done for a search that found nothing: which of its words no page contains, what was probably meant.

Does not: search (it is given the count of a search) or make pages. Called by: the public search.
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from ..query import Query
from ..words import words_of
from . import spelling

MOST_WORDS = 6  # of a query that are looked at
_AROUND = "\"'()[].,;:!?"

Count = Callable[[str], int]  # pages that a query finds


@dataclass(frozen=True, slots=True)
class SecondLook:
    unknown: tuple[str, ...] = ()  # words no page contains
    without: str = ""  # the query without them; empty when nothing would be left
    meant: str = ""  # with near words instead, without words nothing is near; empty when that finds nothing, too
    meant_pages: int = 0


def look(text: str, query: Query, alias: str, count: Count, count_word: Count) -> SecondLook:
    """`count` asks with the filters of the search, `count_word` without. Without a lexicon nothing is said."""
    asked = _single_words(query) if spelling.is_filled(alias) else []
    missing = [word for word in asked if word not in spelling.known(alias, asked)]
    unknown = tuple(word for word in missing[:MOST_WORDS] if not count_word(word))
    if not unknown:
        return SecondLook()
    near = {word: spelling.nearest(alias, word) for word in unknown}
    meant = _with(text, near) if any(near.values()) else ""
    pages = count(meant) if meant else 0
    without = _with(text, dict.fromkeys(unknown, "")) if len(query.required) > len(unknown) else ""
    return SecondLook(unknown, without, meant if pages else "", pages)


def _single_words(query: Query) -> list[str]:
    """The whole words that a page must have, also those of phrases."""
    words = [word for term in query.words for word in (term.words[:-1] if term.prefix else term.words)]
    return list(dict.fromkeys(words))


def _with(text: str, instead: dict[str, str]) -> str:
    """The text with these words replaced; with nothing instead, they are left out where they stand alone."""
    return " ".join(piece for piece in _pieces(text, instead) if piece)


def _pieces(text: str, instead: dict[str, str]) -> Iterator[str]:
    in_phrase = False
    for piece in text.split():
        words = words_of(piece)
        quotes = piece.count('"')
        alone = not in_phrase and quotes in (0, 2) and not piece.startswith("-")
        in_phrase ^= quotes % 2 == 1
        if len(words) != 1 or words[0] not in instead or ":" in piece:
            yield piece
        elif other := instead[words[0]]:
            bare = piece.strip(_AROUND)
            yield piece.replace(bare, other)
        elif not alone:
            yield piece
