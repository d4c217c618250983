"""Owns: what a word is: splitting, folding of accents and case, a light English stem.

Does not: rank. Called by: the query parser, the snippets, the ranking, the backends (what they index went through
here too, so that both sides agree). Letters and digits make words, everything else separates them; each character
of Chinese and Japanese is a word of its own, because these write no spaces: a word of theirs is a phrase.
"""

import re
import unicodedata
from functools import lru_cache

_WIDE = "\u3005-\u3007\u3040-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uf900-\ufaff\U00020000-\U0003ffff"
_ONE = f"(?=[^\\W_])[{_WIDE}]"  # the middle dot between two of them is no word
WORD = re.compile(f"{_ONE}|[^\\W_{_WIDE}]+")
FOREIGN_LETTER = re.compile(r"[^\W\x00-\x7f]")
FOREIGN_WORD = re.compile(f"{_ONE}|(?<![^\\W_])[a-zA-Z0-9]*[^\\W\x00-\x7f_{_WIDE}][^\\W_{_WIDE}]*")
_WIDE_LETTER = re.compile(_ONE)
# Marks put on a letter, Hebrew and Arabic points; the sound marks of Japanese make another letter and stay.
_MARKS = re.compile("[\u0300-\u036f\u0591-\u05c7\u0610-\u061a\u064b-\u065f\u1ab0-\u1aff\u1dc0-\u1dff\u20d0-\u20ff]")
# Letters that Unicode does not take apart, as people without such a key write them.
_LETTERS = {
    "ø": "o", "Ø": "o", "ł": "l", "Ł": "l", "đ": "d", "Đ": "d", "ð": "d", "Ð": "d", "þ": "th", "Þ": "th",
    "æ": "ae", "Æ": "ae", "œ": "oe", "Œ": "oe", "ħ": "h", "Ħ": "h", "ı": "i", "ŧ": "t", "Ŧ": "t",
}  # fmt: skip
_TO_LETTERS, _ANY_LETTER = str.maketrans(_LETTERS), re.compile(f"[{''.join(_LETTERS)}]")
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
    if _ANY_LETTER.search(text):
        text = text.translate(_TO_LETTERS)
    plain = _MARKS.sub("", unicodedata.normalize("NFKD", text))
    return unicodedata.normalize("NFC", plain.casefold())


def fold(text: str) -> str:
    """Lower case, without accents."""
    return _fold_short(text) if len(text) <= 40 else _fold(text)


def for_index(text: str | None) -> str | None:
    """The text as an index of the database splits it into the same words."""
    if text is None or text.isascii():
        return text
    return _WIDE_LETTER.sub(r" \g<0> ", _fold(text))


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
    if len(word) > 3 and word[-1] in "ey":
        word = word[:-1] if word[-1] == "e" else word[:-1] + "i"
    return word


def beginning(stemmed: str) -> str:
    """What every form of a stemmed word begins with."""
    return stemmed[:-1] if len(stemmed) > 3 else stemmed
