"""Owns: words of the index that begin like what is typed, and words near one that no page contains.

Both come from the table `lexicon` of the target that serves the public; while it is empty nothing is suggested.
Does not: fill it. Called by: the public search.
"""

import math
import time
from collections import OrderedDict
from collections.abc import Iterable
from threading import Lock

from django.db import connections
from django.db.models import QuerySet
from django.db.models.functions import Length

from clearinghouse.published.models import LexiconWord

from ..words import fold, words_of

LEAST_LETTERS = 2  # suggestions begin here
MOST_SUGGESTED = 8
MOST_CANDIDATES = 4000  # words compared with one misspelt word
MOST_KEPT = 5000
_SHORTEST = 4  # shorter words are too near to too many
_LETTERS = "abcdefghijklmnopqrstuvwxyz0123456789"
_FARTHEST = 2
_WORTH_OF_A_STEP = 2.0  # powers of ten of pages that one step of distance weighs
_LAST = "\U0010ffff"

_KEPT_SECONDS = 300  # the lexicon goes on being filled for a while after the switch
_kept: OrderedDict[tuple[str, int, str, int], list[str]] = OrderedDict()
_lock = Lock()


def completions(alias: str, generation: int, text: str) -> list[str]:
    """What is typed with its last word completed, the words of most pages first. Kept for some minutes."""
    last = text.rpartition(" ")[2].lstrip('"-(')
    beginning = fold(last)
    if len(beginning) < LEAST_LETTERS or words_of(beginning) != [beginning] or len(text) > 100:
        return []
    lead = text[: len(text) - len(last)]
    return [lead + word for word in _beginning(alias, generation, beginning)]


def _beginning(alias: str, generation: int, beginning: str) -> list[str]:
    key = (alias, generation, beginning, int(time.monotonic() / _KEPT_SECONDS))
    with _lock:
        if key in _kept:
            _kept.move_to_end(key)
            return _kept[key]
    rows = _with_beginning(alias, beginning).filter(pages__gt=0).order_by("-pages", "word")
    found = list(rows.values_list("word", flat=True)[:MOST_SUGGESTED])
    if not found:
        return []
    with _lock:
        _kept[key] = found
        while len(_kept) > MOST_KEPT:
            _kept.popitem(last=False)
    return found


def _with_beginning(alias: str, beginning: str) -> QuerySet[LexiconWord]:
    rows = LexiconWord.objects.using(alias)
    if connections[alias].vendor == "sqlite":  # its LIKE ignores case and therefore the index
        return rows.filter(word__gte=beginning, word__lt=beginning + _LAST)
    return rows.filter(word__startswith=beginning)


def forget() -> None:
    """Another library stands behind the targets: for tests."""
    with _lock:
        _kept.clear()


def is_filled(alias: str) -> bool:
    return LexiconWord.objects.using(alias).exists()


def known(alias: str, words: Iterable[str]) -> set[str]:
    """Those of these words that stand on a page."""
    rows = LexiconWord.objects.using(alias).filter(word__in=set(words), pages__gt=0)
    return set(rows.values_list("word", flat=True))


def nearest(alias: str, word: str) -> str:
    """The word of the index that was probably meant; empty when none is near."""
    if len(word) < _SHORTEST or word.isdigit():
        return ""
    rows: dict[str, int] = {}
    one_step = one_step_away(word)
    # Any letter may be wrong where the rest is right; two mistakes are looked for behind a right first letter.
    for start in range(0, len(one_step), 500):
        found = LexiconWord.objects.using(alias).filter(word__in=one_step[start : start + 500], pages__gt=0)
        rows |= dict(found.values_list("word", "pages"))
    alike = _with_beginning(alias, word[0]).filter(pages__gt=0).annotate(letters=Length("word"))
    alike = alike.filter(letters__gte=len(word) - _FARTHEST, letters__lte=len(word) + _FARTHEST).order_by("-pages")
    rows |= dict(alike.values_list("word", "pages")[:MOST_CANDIDATES])
    return best_of(word, rows.items())


def best_of(word: str, candidates: Iterable[tuple[str, int]]) -> str:
    """The nearest by steps, a step being worth a hundred times the pages. Pure."""
    farthest = _FARTHEST if len(word) > 4 else 1
    letters = set(word)
    best, most = "", -math.inf
    for other, pages in candidates:
        if other == word or abs(len(other) - len(word)) > farthest or len(letters.symmetric_difference(other)) > 4:
            continue
        steps = distance(word, other, farthest)
        worth = math.log10(pages) - _WORTH_OF_A_STEP * steps if pages > 0 else -math.inf
        if steps <= farthest and (worth, other) > (most, best):
            best, most = other, worth
    return best


def one_step_away(word: str) -> list[str]:
    """Every text one letter more, less, other or swapped away. Pure."""
    cuts = [(word[:at], word[at:]) for at in range(len(word) + 1)]
    found = {left + right[1:] for left, right in cuts if right}
    found |= {left + right[1] + right[0] + right[2:] for left, right in cuts if len(right) > 1}
    found |= {left + letter + right[1:] for left, right in cuts if right for letter in _LETTERS}
    found |= {left + letter + right for left, right in cuts for letter in _LETTERS}
    return sorted(found - {word})


def distance(one: str, other: str, farthest: int) -> int:
    """Letters added, left out, changed or swapped with their neighbour; farthest + 1 when it is more. Pure."""
    before: list[int] = []
    row = list(range(len(other) + 1))
    for at, letter in enumerate(one, 1):
        older, before, row = before, row, [at]
        for to, wanted in enumerate(other, 1):
            cost = min(before[to] + 1, row[to - 1] + 1, before[to - 1] + (letter != wanted))
            if at > 1 and to > 1 and letter == other[to - 2] and one[at - 2] == wanted:
                cost = min(cost, older[to - 2] + 1)
            row.append(cost)
        if min(row) > farthest:
            return farthest + 1
    return min(row[-1], farthest + 1)
