"""Owns: what a word is: splitting, folding of accents and case, a light English stem.

Does not: rank. Called by: the query parser, the snippets, the PostgreSQL backend. The rule is the one of SQLite's
unicode61: letters and digits make words, everything else separates them.
"""

import re
import unicodedata
from functools import lru_cache

WORD = re.compile(r"[^\W_]+")
_SUFFIXES = (
    ("sses", "ss"), ("ies", "i"), ("ational", "ate"), ("ization", "ize"), ("fulness", "ful"), ("ements", "ement"),
    ("ings", ""), ("edly", ""), ("ing", ""), ("eed", "ee"), ("ed", ""), ("ly", ""), ("es", ""), ("s", ""),
)  # fmt: skip


def words_of(text: str) -> list[str]:
    """The folded words of a text, in order."""
    return WORD.findall(fold(text))


@lru_cache(maxsize=8192)
def _fold_short(text: str) -> str:
    return _fold(text)


def _fold(text: str) -> str:
    if text.isascii():
        return text.lower()
    plain = "".join(c for c in unicodedata.normalize("NFKD", text) if not unicodedata.combining(c))
    return plain.lower()


def fold(text: str) -> str:
    """Lower case, without accents."""
    return _fold_short(text) if len(text) <= 40 else _fold(text)


@lru_cache(maxsize=8192)
def stem(word: str) -> str:
    """A light English stem of a folded word: good enough to mark "measures" for "measure"; the index has its own."""
    if len(word) < 4:
        return word
    for suffix, instead in _SUFFIXES:
        if word.endswith(suffix) and len(word) - len(suffix) + len(instead) >= 3 and not word.endswith("ss"):
            word = word[: len(word) - len(suffix)] + instead
            break
    if len(word) > 3 and word[-1] == word[-2] and word[-1] not in "lsz":
        word = word[:-1]
    return word.removesuffix("e") if len(word) > 3 else word.replace("y", "i") if word.endswith("y") else word
