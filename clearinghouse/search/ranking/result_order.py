"""Owns: the order of the best candidates: the index counts words, this looks at where they stand. Pure.

A page is about what its title, the name of its file, its address and a line of its headings say together, and what
its text says often and in one place; a word that few of the candidates carry tells more than one they all do; a page
with the very forms that were typed comes before one with other inflections. The weights were learned from entries and
questions of some manuals and judged by others (tests/bench/relevance). Does not: find candidates.
Called by: the engine.
"""

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import unquote

from ..query import Query
from ..words import beginning, for_index, stem, words_of
from .word_places import Finder, Standing, near, often

POOL = 60  # candidates looked at
LOOKED_AT = 20_000  # characters of each of their texts
_LINES, _WORDS_IN_LINE = 400, 12  # of headings and of anchors; what stands further down says little
# What a full match is worth, beside the index's own score, of which the best candidate's is 1.
WEIGHTS = {
    "title": 1.1, "address": 0.24, "name": 0.52, "inside": 0.45, "heading": 0.48, "headline": 0.85, "anchor": 0.8,
    "exact": 0.53, "beside": 0.37, "near": 0.58, "often": 1.0, "covered": 0.07, "length": 0.53,
}  # fmt: skip
_LONG = 12.0  # the logarithm of the characters of a very long text
_SHORT = 3  # letters: shorter words stand inside of too many others
_OPEN_LINE = 0.6  # the share a line keeps that says much besides
_TYPOGRAPHY = re.compile("[\u00a0-\u00a9\u00ab-\u00b1\u00b4\u00b6-\u00b8\u00bb\u2000-\u203e\u2190-\u21ff\u2500-\u27bf]")
_SITE = re.compile(r"^[a-z]+://[^/]*", re.IGNORECASE)
_ENDING = re.compile(r"\.\w{1,5}$")

Words = tuple[str, ...]


@dataclass(frozen=True, slots=True)
class RankedPage:
    published_id: int
    score: float  # the index's
    title: str
    headings: str
    anchors: str
    url: str
    text: str = ""


@dataclass(frozen=True, slots=True)
class Place:
    """The stems of a candidate, line by line."""

    title: Words
    address: Words
    name: Words  # what stands behind the last slash of the address
    headings: tuple[Words, ...]
    anchors: tuple[Words, ...]

    @property
    def all(self) -> set[str]:
        return {*self.title, *self.address, *(word for line in (*self.headings, *self.anchors) for word in line)}


class PreparedQuery:
    """What was asked for, prepared for looking at many candidates."""

    def __init__(self, query: Query) -> None:
        terms = query.words
        self.terms = list(dict.fromkeys(tuple(map(stem, term.words)) for term in terms))
        self.words = list(dict.fromkeys(word for term in terms for word in term.words))
        self.single = list(dict.fromkeys((word,) for words in self.terms for word in words))
        self.stems = {word for (word,) in self.single}
        self.beginnings = tuple(beginning(word) for word in self.stems)
        self.finder = Finder(self.stems, {term.words[-1] for term in terms if term.prefix})
        self.open = {term.words[-1] for term in terms if term.prefix}
        self._begun = tuple((word, stem(word)) for word in self.open)
        in_order = [word for group in query.required for word in group[0].words]
        self.pairs = {(one, two): _pair(one, two) for one, two in pairwise(in_order) if one != two}

    def stem_of(self, word: str) -> str:
        """Of a word that begins as was asked, the stem of the beginning."""
        return next((known for start, known in self._begun if word.startswith(start)), stem(word))


def _pair(one: str, two: str) -> re.Pattern[str]:
    return re.compile(rf"{one}(?:[^\w\n]|_){{1,3}}{two}(?![^\W_])")


def stands(word: str, text: str, *, open_end: bool = False) -> bool:
    """Whether the text has this very word, or one that begins so."""
    at = text.find(word)
    while at >= 0:
        end = at + len(word)
        if not text[at - 1 : at].isalnum() and (open_end or not text[end : end + 1].isalnum()):
            return True
        at = text.find(word, end)
    return False


def ranked(query: Query, candidates: Sequence[RankedPage]) -> list[tuple[int, float]]:
    """The candidates best first, each with its score."""
    if not candidates or not query.groups:
        return [(one.published_id, one.score) for one in candidates]
    scores = [sum(WEIGHTS.get(name, 1.0) * value for name, value in one.items()) for one in evidence(query, candidates)]
    order = sorted(range(len(scores)), key=lambda at: (-scores[at], candidates[at].published_id))
    return [(candidates[at].published_id, scores[at]) for at in order]


def evidence(query: Query, candidates: Sequence[RankedPage]) -> list[dict[str, float]]:
    """What speaks for each candidate, from 0 to 1 each."""
    asked = PreparedQuery(query)
    places = [place_of(one, asked) for one in candidates]
    carried = [place.all for place in places]
    by_term, by_word = _weights(asked.terms, carried), _weights(asked.single, carried)
    looks = [_look(one, asked) for one in candidates]
    anywhere = [page | {word for _, word in look.standing} for page, look in zip(carried, looks, strict=True)]
    told = {words[0]: weight for words, weight in _weights(asked.single, anywhere).items()}
    best = max(one.score for one in candidates) or 1.0
    return [
        {
            "score": one.score / best,
            "title": _share([place.title], by_word),
            "address": _share([place.address], by_word),
            "name": _alone(place.name, told),
            "inside": _inside(place.name, told),
            "heading": _share(place.headings, by_term),
            "headline": max((_alone(line, told) for line in place.headings), default=0.0),
            "anchor": _share(place.anchors, by_term),
            "near": near(look.standing, told),
            "often": often(look.standing, told, len(one.text)),
            "length": math.log1p(len(one.text)) / _LONG,
            **_said(look.said, asked, by_word),
        }
        for one, place, look in zip(candidates, places, looks, strict=True)
    ]


class Look(NamedTuple):
    """What a candidate says, folded, and where the words stand in its title and text."""

    said: str
    standing: Standing


def _look(one: RankedPage, asked: PreparedQuery) -> Look:
    text, beside = _folded(f"{one.title}\n{one.text}"), _folded(f"{one.headings}\n{one.anchors}")
    return Look(f"{beside}\n{text}", asked.finder.standing(text))


def _folded(text: str) -> str:
    text = _TYPOGRAPHY.sub(" ", text)  # of most texts nothing else is foreign
    return text.lower() if text.isascii() else for_index(text) or ""


def _said(said: str, asked: PreparedQuery, weights: dict[Words, float]) -> dict[str, float]:
    """How much of what was typed stands anywhere in the page, in any form, in its very form, and side by side."""
    exact = {word for word in asked.words if stands(word, said, open_end=word in asked.open)}
    covered = {stem(word) for word in exact}
    covered |= {word for word in asked.stems - covered if beginning(word) in said}
    of_stem = weights.get
    return {
        "exact": sum(of_stem((stem(word),), 0.0) for word in exact) / max(1.0, len(asked.words) / len(asked.single)),
        "covered": sum(of_stem((word,), 0.0) for word in covered),
        "beside": _beside(said, asked, weights),
    }


def _beside(said: str, asked: PreparedQuery, weights: dict[Words, float]) -> float:
    """The share of neighbours in the question that are neighbours here; a pair tells what its lesser word does."""
    telling = {pair: min(weights.get((stem(word),), 0.0) for word in pair) for pair in asked.pairs}
    found = sum(telling[pair] for pair, form in asked.pairs.items() if _holds_pair(said, form))
    return found / (sum(telling.values()) or 1.0)


def _holds_pair(said: str, form: re.Pattern[str]) -> bool:
    return any(not said[found.start() - 1 : found.start()].isalnum() for found in form.finditer(said))


def place_of(one: RankedPage, asked: PreparedQuery) -> Place:
    path = unquote(_ENDING.sub("", _SITE.sub("", one.url).partition("?")[0]))
    name = path.rstrip("/").rpartition("/")[2]
    title, address, file = (_stems(text, asked) for text in (one.title, path, name))
    return Place(title, address, file, _lines(one.headings, asked), _lines(one.anchors, asked))


def _lines(text: str, asked: PreparedQuery) -> tuple[Words, ...]:
    """The different lines that hold a wanted word."""
    text = text.lower() if text.isascii() else text
    wanted = [line for line in text.split("\n", _LINES)[:_LINES] if _may_hold(line, asked.beginnings)]
    lines = dict.fromkeys(_stems(line, asked) for line in wanted)
    return tuple(line for line in lines if not asked.stems.isdisjoint(line))


def _may_hold(line: str, beginnings: Iterable[str]) -> bool:
    return not line.isascii() or any(word in line for word in beginnings)


def _stems(text: str, asked: PreparedQuery) -> Words:
    words = words_of(text[:200])[:_WORDS_IN_LINE]
    return tuple(map(asked.stem_of if asked.open else stem, words))


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


def _alone(line: Words, weights: Mapping[str, float]) -> float:
    """How much the line says of what was asked, and how little besides: the harmonic mean of both shares."""
    found = [word for word in line if word in weights]
    told = sum(weights[word] for word in set(found))
    filled = len(found) / max(1, len(line))
    return 2 * told * filled / (told + filled) if found else 0.0


def _inside(name: Words, weights: Mapping[str, float]) -> float:
    """Names of files write words together: gitignore, createtable."""
    joined = "".join(name)
    return sum(weight for word, weight in weights.items() if len(word) > _SHORT and beginning(word) in joined)


def holds(line: Words, words: Words) -> bool:
    """Whether these words stand in the line beside each other."""
    if len(words) == 1:
        return words[0] in line
    return any(line[at : at + len(words)] == words for at in range(len(line) - len(words) + 1))
