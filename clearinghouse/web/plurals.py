"""Owns: how a number is written, and the word beside it. Pure. Called by: whoever says how many; templates as filters.

Nothing else puts an s behind a word: tests/house/test_sentences.py finds it.
"""

from typing import Any


def number(value: Any) -> str:
    """1,038; a real minus; an empty value is a dash."""
    if value is None or value == "":
        return "–"
    return f"{value:,}".replace("-", "−")


def plural(count: int, words: str) -> str:
    """412 pages, 1 page; words is "page" or "match,matches"."""
    one, _, many = words.partition(",")
    return f"{number(count)} {one if count == 1 else many or one + 's'}"
