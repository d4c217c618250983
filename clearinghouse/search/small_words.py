"""Owns: which words of a query are small: how, the, of. Pages are found without them, unless nothing else was typed.

Pure; the list stands in small_words.txt with its origin. Called by: the query parser.
"""

from functools import cache
from pathlib import Path

_LIST = Path(__file__).with_suffix(".txt")
_OPERATORS = {"and", "or", "not"}  # typed in capitals they are meant for the search, and not as a name


@cache
def known() -> frozenset[str]:
    lines = _LIST.read_text(encoding="utf-8").splitlines()
    return frozenset(word for line in lines if not line.startswith("#") for word in line.split())


def is_small(words: tuple[str, ...], typed: str, *, all_capitals: bool) -> bool:
    """Not a name: WHO and IT are none of them, unless everything is typed in capitals."""
    if not known().issuperset(words):
        return False
    name = len(typed) > 1 and typed.isupper() and not all_capitals
    return not name or words[0] in _OPERATORS
