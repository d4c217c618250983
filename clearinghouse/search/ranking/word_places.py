"""Owns: where the words of a query stand in a text: how often each does, and how many of them in one place. Pure.

Called by: the ranking.
"""

import re
from collections import Counter
from collections.abc import Iterable, Mapping

from ..words import beginning, stem

PLACE = 300  # characters
_OFTEN = 4000  # characters of a text in which a word may well stand once more

Standing = list[tuple[int, str]]  # where, and the stem of which word


class Finder:
    """Finds every form of some words, and for open words whatever begins so."""

    def __init__(self, stems: Iterable[str], open_words: Iterable[str]) -> None:
        self._stems = {one: one for one in stems}
        self._open = {word: stem(word) for word in open_words}
        begun = sorted({*map(beginning, self._stems), *self._open} - {""}, key=len, reverse=True) or [r"(?!)"]
        self._likely = re.compile(rf"(?:{'|'.join(begun)})[^\W_]*")

    def standing(self, text: str) -> Standing:
        """Of a folded text."""
        found = []
        for match in self._likely.finditer(text):
            at, word = match.start(), match.group()
            known = self._stems.get(stem(word)) or self._begun(word)
            if known and not text[at - 1 : at].isalnum():
                found.append((at, known))
        return found

    def _begun(self, word: str) -> str:
        return next((known for start, known in self._open.items() if word.startswith(start)), "")


def often(standing: Standing, weights: Mapping[str, float], length: int) -> float:
    """The share of what the words tell, each counting the more the oftener it stands, and the less the longer the
    text is."""
    counts = Counter(word for _, word in standing)
    return sum(weights.get(word, 0.0) * count / (count + 1 + length / _OFTEN) for word, count in counts.items())


def near(standing: Standing, weights: Mapping[str, float]) -> float:
    """The most that different words tell in one place of the text."""
    inside: Counter[str] = Counter()
    best = told = 0.0
    first = 0
    for at, word in standing:
        told += 0.0 if inside[word] else weights.get(word, 0.0)
        inside[word] += 1
        while standing[first][0] < at - PLACE:
            gone = standing[first][1]
            inside[gone] -= 1
            told -= 0.0 if inside[gone] else weights.get(gone, 0.0)
            first += 1
        best = max(best, told)
    return best
