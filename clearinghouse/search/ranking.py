"""Owns: the order of the best candidates: the index counts words, this looks at where they stand. Pure.

A page is about what its title, its address and a line of its headings say together; a word that few of the
candidates carry tells more than one they all do. Tuned on the index of one manual (tests/bench/relevance).
Does not: find candidates. Called by: the engine.
"""

import math
import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from urllib.parse import unquote

from .query import Term
from .words import stem, words_of

POOL = 60  # candidates looked at
_LINES, _WORDS_IN_LINE = 400, 12  # of headings and of anchors; what stands further down says little
# What a full match is worth, beside the index's own score, of which the best candidate's is 1.
_TITLE, _ADDRESS, _HEADING, _ANCHOR = 0.4, 0.7, 1.0, 0.1
_OPEN_LINE = 0.6  # the share a line keeps that says much besides
_SITE = re.compile(r"^[a-z]+://[^/]*", re.IGNORECASE)
_ENDING = re.compile(r"\.\w{1,5}$")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class Candidate:
    published_id: int
    score: float  # the index's
    title: str
    headings: str
    anchors: str
    url: str


@dataclass(frozen=True, slots=True)
class Place:
    """The stems of a candidate, line by line."""

    title: Words
    address: Words
    headings: tuple[Words, ...]
    anchors: tuple[Words, ...]

    @property
    def all(self) -> set[str]:
        return {*self.title, *self.address, *(word for line in (*self.headings, *self.anchors) for word in line)}


def ranked(terms: Sequence[Term], candidates: Sequence[Candidate]) -> list[tuple[int, float]]:
    """The candidates best first, each with its score."""
    if not candidates or not terms:
        return [(one.published_id, one.score) for one in candidates]
    asked = list(dict.fromkeys(tuple(map(stem, term.words)) for term in terms))
    single = list(dict.fromkeys((word,) for words in asked for word in words))
    wanted = {word for (word,) in single}
    places = [place_of(one, wanted) for one in candidates]
    carried = [place.all for place in places]
    asked_weights, single_weights = _weights(asked, carried), _weights(single, carried)
    best = max(one.score for one in candidates) or 1.0
    scores = [
        one.score / best
        + _TITLE * _share([place.title], single_weights)
        + _ADDRESS * _share([place.address], single_weights)
        + _HEADING * _share(place.headings, asked_weights)
        + _ANCHOR * _share(place.anchors, asked_weights)
        for one, place in zip(candidates, places, strict=True)
    ]
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], candidates[at].published_id))
    return [(candidates[at].published_id, scores[at]) for at in order]


def place_of(one: Candidate, wanted: set[str]) -> Place:
    path = _ENDING.sub("", _SITE.sub("", one.url).partition("?")[0])
    return Place(_stems(one.title), _stems(unquote(path)), _lines(one.headings, wanted), _lines(one.anchors, wanted))


def _lines(text: str, wanted: set[str]) -> tuple[Words, ...]:
    """The different lines that hold a wanted word."""
    lines = dict.fromkeys(_stems(line) for line in text.split("\n", _LINES)[:_LINES])
    return tuple(line for line in lines if not wanted.isdisjoint(line))


def _stems(text: str) -> Words:
    return tuple(map(stem, words_of(text[:200])[:_WORDS_IN_LINE]))


def _weights(asked: Iterable[Words], carried: Sequence[set[str]]) -> dict[Words, float]:
    """How telling each term is among these candidates, as a share of all that was asked."""
    count = len(carried)
    telling = {
        words: math.log(1 + (count + 1) / (sum(page.issuperset(words) for page in carried) + 0.5)) for words in asked
    }
    total = sum(telling.values())
    return {words: value / total for words, value in telling.items()}


def _share(lines: Iterable[Words], weights: dict[Words, float]) -> float:
    """The most of what was asked for that one line says; less where the line says much besides."""
    best = 0.0
    for line in lines:
        found = [words for words in weights if holds(line, words)]
        if found:
            filled = min(1.0, sum(map(len, found)) / len(line))
            best = max(best, sum(weights[words] for words in found) * (_OPEN_LINE + (1 - _OPEN_LINE) * filled))
    return best


def holds(line: Words, words: Words) -> bool:
    """Whether these words stand in the line beside each other."""
    if len(words) == 1:
        return words[0] in line
    return any(line[at : at + len(words)] == words for at in range(len(line) - len(words) + 1))
