"""Owns: when two pages are alike, which folder of a site a page stands in, which language it is in. Pure.

Called by: the backends when they index a page. Does not: fold results (folding).
"""

import re
from hashlib import blake2b
from urllib.parse import urlsplit

from ..words import fold

ALONE = 0  # of a page with too little text to be like another one
_WORDS_IN_SENTENCE = 5  # shorter pieces (menus, dates, counters) may differ
_MOSTLY = 0.8  # of the text must stand in such sentences; else all of it counts
_FEWEST = 40  # characters
_END = 1  # a byte that stands for the sign at the end of a sentence
_TO_ENDS = bytes(_END if chr(one) in ".!?:;|" else one for one in range(256))
_ENDS = (b"\x01 ", "» ".encode())
_TO_WORDS = bytes(one if one > 127 or chr(one).isalnum() else 32 for one in range(256))
_ASCII = bytes(range(128))
_LAST_SIGN = "\u30ff"  # behind it stand the letters of China, Japan and Korea
_LONGEST_FOLDER = 300


def likeness(title: str, text: str) -> int:
    """The same number for pages whose title and sentences are the same, menus and other short pieces aside."""
    plain, head = fold(text), fold(title)
    if len(plain) < _FEWEST:
        return ALONE
    whole = _bytes(plain)
    sentences = [piece for piece in _pieces(whole) if piece.count(b" ") >= _WORDS_IN_SENTENCE - 1]
    if sum(map(len, sentences)) < _MOSTLY * len(whole):
        sentences = [whole]
    said = _words_alone(b"\n".join([_bytes(head), *sentences]))
    return int.from_bytes(blake2b(said, digest_size=7).digest(), "big") or 1


def _bytes(text: str) -> bytes:
    """Profiled, as every page is read here: bytes take a third of the time of letters."""
    return text.encode(errors="replace")


def _pieces(plain: bytes) -> list[bytes]:
    """Between the ends of sentences. A pattern in place of this takes twice as long."""
    plain = plain.translate(_TO_ENDS)
    for end in _ENDS:
        if end[:-1] in plain:
            plain = plain.replace(end, b"\n")
    return plain.split(b"\n")


def _words_alone(said: bytes) -> bytes:
    """One space between two words, and nothing else but words."""
    for letter in set(said.translate(None, _ASCII).decode()):
        if letter <= _LAST_SIGN and not letter.isalnum():
            said = said.replace(letter.encode(), b" ")
    said = said.translate(_TO_WORDS)
    return b" ".join(said.split()) if b"  " in said else said.strip()


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
