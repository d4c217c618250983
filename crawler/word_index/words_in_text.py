"""Owns: what stands in a text: words, how often, where. Pure. Called by: the other modules of this room.

A word is what clearinghouse.search.words makes of it; a longer one than the lexicon holds is known by its beginning.
The first word of a text has position 1.
"""

from collections import Counter

from clearinghouse.search.words import words_of

from .stopwords import STOPWORDS

LONGEST = 64  # characters of a word the lexicon holds
# What separates words in nearly every text; one with nothing else beside ASCII is split five times as fast.
_TYPOGRAPHY = "’‘“”–—…•·©®\u00a0"
_SEPARATORS = {code: " " for code in range(128) if not chr(code).isalnum()}


def split(text: str) -> list[str]:
    """The words of a text in order, as words_of gives them."""
    if not text.isascii():
        plain = text
        for mark in _TYPOGRAPHY:
            plain = plain.replace(mark, " ")
        if not plain.isascii():
            return words_of(text)
        text = plain
    return text.lower().translate(_SEPARATORS).split()


def indexed(text: str) -> set[str]:
    """The different words of a text that the lexicon knows."""
    words = set(split(text))
    if words and max(map(len, words)) > LONGEST:
        words = {word[:LONGEST] for word in words}
    return words - STOPWORDS


def frequencies(text: str) -> Counter[str]:
    """How often each word stands in a text."""
    found = Counter(word[:LONGEST] for word in split(text))
    for word in STOPWORDS & found.keys():
        del found[word]
    return found


def positions(text: str) -> dict[str, list[int]]:
    """Where each word stands in a text."""
    found: dict[str, list[int]] = {}
    for place, word in enumerate(split(text), 1):
        found.setdefault(word[:LONGEST], []).append(place)
    for word in STOPWORDS & found.keys():
        del found[word]
    return found


def places_of(word: str, text: str) -> list[int]:
    """Where one word stands in a text; a stopword stands nowhere."""
    if word in STOPWORDS or (text.isascii() and word not in text.lower()):  # most candidates end here
        return []
    return [place for place, one in enumerate(split(text), 1) if one[:LONGEST] == word]


def words_asked(typed: str) -> list[str]:
    """The words somebody typed, as the lexicon spells them."""
    return [word[:LONGEST] for word in words_of(typed)]
