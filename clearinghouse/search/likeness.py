"""Owns: when two pages are alike, which folder of a site a page stands in, which language it is in. Pure.

Called by: the backends when they index a page. Does not: fold results (folding).
"""

import re
from hashlib import blake2b
from urllib.parse import urlsplit

from .words import fold

ALONE = 0  # of a page with too little text to be like another one
_WORDS_IN_SENTENCE = 5  # shorter pieces (menus, dates, counters) may differ
_MOSTLY = 0.8  # of the text must stand in such sentences; else all of it counts
_FEWEST = 40  # characters
_ENDS = (". ", "! ", "? ", ": ", "; ", "| ", "» ")
_SIGNS = {number: " " for number in range(0x3100) if not chr(number).isalnum()}
_LONGEST_FOLDER = 300


def likeness(title: str, text: str) -> int:
    """The same number for pages whose title and sentences are the same, menus and other short pieces aside."""
    plain = fold(f"{text}")
    if len(plain) < _FEWEST:
        return ALONE
    sentences = [piece for piece in _pieces(plain) if piece.count(" ") >= _WORDS_IN_SENTENCE - 1]
    if sum(map(len, sentences)) < _MOSTLY * len(plain):
        sentences = [plain]
    said = " ".join("\n".join([fold(title), *sentences]).translate(_SIGNS).split())
    return int.from_bytes(blake2b(said.encode(errors="replace"), digest_size=7).digest(), "big") or 1


def _pieces(plain: str) -> list[str]:
    """Between the ends of sentences. Profiled: a pattern in place of this was a third of the time of indexing."""
    for end in _ENDS:
        plain = plain.replace(end, "\n")
    return plain.split("\n")


def folder_of(url: str) -> str:
    """The site, and the first folder of its path: ex.gov/measures/."""
    try:
        parts = urlsplit(url)
    except ValueError:
        return ""
    first, slash, _ = parts.path.removeprefix("/").partition("/")
    return f"{parts.netloc}/{first + slash if slash else ''}"[:_LONGEST_FOLDER]


def language_of(language: str) -> str:
    """The language without its country: en for en-US."""
    return re.split(r"[-_]", language.strip().lower(), maxsplit=1)[0][:8]
