"""Owns: the few words of a page around the words that were searched, with marks. Pure.

Does not: trust a page: everything is escaped first, and only our own mark tags are put around words.
Called by: the engine and the screens.
"""

import re
from bisect import bisect_right
from collections.abc import Sequence

from django.utils.html import format_html, format_html_join
from django.utils.safestring import SafeString

from ..query import Term
from ..words import FOREIGN_LETTER, FOREIGN_WORD, beginning, fold, stem, words_of

LENGTH = 260  # characters shown
LOOKED_AT = 60_000  # characters of a text searched for the best place
_LEAD = 40  # characters before the first marked word
_LOOKED_FROM, _LOOKED_AHEAD = 200, 20  # marked words tried as the beginning, and counted behind it
_MERGE = 1  # marked words this close get one mark
# Menus and tables of contents are lists of names: sentences have signs behind their words, in every language.
_SIGN = r"(?:[^\W\d_][)\"”’]?[.,;:!?](?=\s)|[。、，；])"
_APART = LENGTH // 2  # characters between two of them, at most
_SENTENCES = re.compile(rf"{_SIGN}.{{0,{_APART}}}?{_SIGN}", re.DOTALL)
_PROSE = 3.0  # worth as much as one more of the words: a menu that names the page often is no answer
_BEGINNING = 8_000  # characters in which the first sentences are looked for
# What a manual's headings end with, to link to themselves; before a number ¶ is a word of lawyers, and stays.
_BARS = re.compile(r"[|«»›►]")  # between the entries of a menu
_PERMALINK = re.compile(r"(?<=\S)[¶\uf0c1🔗⚓](?=\s|$)")


class Marker:
    """Knows which words of a text were searched for."""

    def __init__(self, terms: Sequence[Term]) -> None:
        self.stems = {stem(word) for term in terms for word in (term.words[:-1] if term.prefix else term.words)}
        self.phrases = [tuple(map(stem, term.words)) for term in terms if len(term.words) > 1]
        self.beginnings = tuple(term.words[-1] for term in terms if term.prefix)

        begun = sorted({*map(beginning, self.stems), *self.beginnings} - {""}) or [r"(?!)"]
        # Most words of a text begin otherwise: what may be meant is looked for first, and only that is stemmed.
        self._likely = rf"(?:{'|'.join(begun)})[^\W_]*"
        self._known: dict[str, bool] = {}

    def hits(self, word: str) -> bool:
        known = self._known.get(word)
        if known is None:
            plain = fold(word)
            known = stem(plain) in self.stems or (bool(self.beginnings) and plain.startswith(self.beginnings))
            self._known[word] = known
        return known

    def worth(self, spans: Sequence[list[str]]) -> float:
        """How well marked pieces, each as its stems, answer: phrases first, then different words, then how many."""
        different = len(set().union(*spans))
        whole = sum(any(_holds(span, phrase) for span in spans) for phrase in self.phrases)
        return 6 * whole + 3 * different + 0.5 * len(spans)

    def spans(self, text: str) -> list[tuple[int, int]]:
        """Where the searched words stand, neighbours as one span."""
        spans: list[tuple[int, int]] = []
        for start, end in self._candidates(text):
            if not self.hits(text[start:end]):
                continue
            if spans and start - spans[-1][1] <= _MERGE and text[spans[-1][1] : start].strip() == "":
                spans[-1] = (spans[-1][0], end)
            else:
                spans.append((start, end))
        return spans

    def _candidates(self, text: str) -> list[tuple[int, int]]:
        """Words that may be meant: those that begin alike, and those whose letters must be folded first."""
        if text.isascii():  # a pattern that begins with plain letters is looked for twice as fast
            small = text.lower()
            matches = re.finditer(self._likely, small)
            return [match.span() for match in matches if not small[match.start() - 1 : match.start()].isalnum()]
        found = [match.span() for match in re.finditer(rf"(?<![^\W_]){self._likely}", text, re.IGNORECASE)]
        if not FOREIGN_LETTER.search(text):
            return found
        return sorted({*found, *(match.span() for match in FOREIGN_WORD.finditer(text))})


def marked(text: str, marker: Marker) -> SafeString:
    """The text escaped, the searched words in <mark>."""
    pieces: list[str] = []
    position = 0
    for start, end in marker.spans(text):
        pieces += [text[position:start], format_html("<mark>{}</mark>", text[start:end])]
        position = end
    pieces.append(text[position:])
    return format_html_join("", "{}", ((piece,) for piece in pieces))


def without_permalinks(text: str) -> str:
    """As people read it: headings without the sign with which they link to themselves."""
    return _PERMALINK.sub("", text)


def excerpt(text: str, marker: Marker, length: int = LENGTH) -> str:
    """The piece of the text with the most different searched words, rather of sentences than of a menu; cut at words,
    with … where it was cut.
    """
    looked = text[:LOOKED_AT]
    start = _best_start(looked, marker, length)
    end = min(len(text), start + length)
    if start:
        start = _next_word(text, start)
    if end < len(text):
        end = max(text.rfind(" ", start, end), text.rfind("\n", start, end), start + length // 2)
    piece = " ".join(without_permalinks(text[start:end]).split())
    return ("… " if start else "") + piece + (" …" if end < len(text) else "")


def _best_start(text: str, marker: Marker, length: int) -> int:
    spans = marker.spans(text)[:_LOOKED_FROM]
    if not spans:
        return _first_sentences(text)
    stems = [[stem(word) for word in words_of(text[start:end])] for start, end in spans]
    ends = [end for _, end in spans]
    best, most = 0, -1.0
    for index, (start, _) in enumerate(spans):
        behind = min(bisect_right(ends, start + length - _LEAD), index + _LOOKED_AHEAD)
        worth = marker.worth(stems[index:behind])
        if worth + _PROSE <= most:  # it cannot be better, whatever stands there
            continue
        begin = max(0, start - _LEAD)
        if _SENTENCES.search(text, begin, begin + length):
            worth += _PROSE
        if worth > most:
            best, most = start, worth
    return _behind_bars(text, max(0, best - _LEAD), best)


def _first_sentences(text: str) -> int:
    """Where nothing was searched for: behind the menu with which a page may begin."""
    found = _SENTENCES.search(text, 0, _BEGINNING)
    return _behind_bars(text, max(0, found.start() - _APART), found.start()) if found else 0


def _behind_bars(text: str, begin: int, end: int) -> int:
    """Not in the middle of a menu."""
    return max((bar.end() for bar in _BARS.finditer(text, begin, end)), default=begin)


def _holds(words: list[str], phrase: tuple[str, ...]) -> bool:
    return any(tuple(words[at : at + len(phrase)]) == phrase for at in range(len(words) - len(phrase) + 1))


def _next_word(text: str, position: int) -> int:
    while position > 0 and position < len(text) and not text[position - 1].isspace():
        position += 1
    return position


def snippet(text: str, terms: Sequence[Term]) -> SafeString:
    """The excerpt with marks, safe for a page."""
    marker = Marker(terms)
    return marked(excerpt(text, marker), marker)
