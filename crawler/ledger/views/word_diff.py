"""Two texts compared word by word. Pure."""

import re
from collections.abc import Sequence
from dataclasses import dataclass
from difflib import SequenceMatcher

from clearinghouse.web.plurals import plural

SAME, ADDED, REMOVED, LEFT_OUT = "same", "added", "removed", "left_out"
# Beyond so many words between the first and the last difference, comparing would keep the server busy for too long.
MOST_WORDS = 3_000
_AROUND = 12  # words of the same text shown on each side of a difference
_WORDS = re.compile(r"\S+")


@dataclass(frozen=True, slots=True)
class Piece:
    kind: str
    text: str


@dataclass(frozen=True, slots=True)
class WordDiff:
    pieces: list[Piece]
    added: int  # words
    removed: int
    complete: bool


def difference(old: str, new: str) -> WordDiff:
    """What was taken out and put in; long stretches of the same words are left out."""
    before, after = _WORDS.findall(old), _WORDS.findall(new)
    head = _alike(before, after)
    tail = _alike(before[head:][::-1], after[head:][::-1])
    first, second = before[head : len(before) - tail], after[head : len(after) - tail]
    complete = max(len(first), len(second)) <= MOST_WORDS
    middle = _compared(first[:MOST_WORDS], second[:MOST_WORDS])
    pieces = [(SAME, before[:head]), *middle]
    if complete:
        pieces.append((SAME, before[len(before) - tail :] if tail else []))
    return WordDiff(
        _shortened([(kind, words) for kind, words in pieces if words]),
        sum(len(words) for kind, words in middle if kind == ADDED),
        sum(len(words) for kind, words in middle if kind == REMOVED),
        complete,
    )


def _alike(one: Sequence[str], other: Sequence[str]) -> int:
    """How many words both begin with."""
    most = min(len(one), len(other))
    return next((k for k in range(most) if one[k] != other[k]), most)


def _compared(old: list[str], new: list[str]) -> list[tuple[str, list[str]]]:
    pieces: list[tuple[str, list[str]]] = []
    for kind, a, b, c, d in SequenceMatcher(None, old, new, autojunk=True).get_opcodes():
        if kind == "equal":
            pieces.append((SAME, old[a:b]))
        else:
            pieces += [(name, words) for name, words in ((REMOVED, old[a:b]), (ADDED, new[c:d])) if words]
    return pieces


def _shortened(pieces: list[tuple[str, list[str]]]) -> list[Piece]:
    if all(kind == SAME for kind, _ in pieces):
        return []
    shown = []
    for number, (kind, words) in enumerate(pieces):
        if kind != SAME or len(words) <= 2 * _AROUND:
            shown.append(Piece(kind, " ".join(words)))
            continue
        begin = " ".join(words[:_AROUND]) if number else ""
        end = " ".join(words[-_AROUND:]) if number < len(pieces) - 1 else ""
        cut = len(words) - _AROUND * (bool(begin) + bool(end))
        parts = (Piece(SAME, begin), Piece(LEFT_OUT, f"{plural(cut, 'word')} alike"), Piece(SAME, end))
        shown += [part for part in parts if part.text]
    return shown
