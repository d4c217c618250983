"""The charset of bytes that nobody named: UTF-16 by its zeros, UTF-8 by being valid, else what Firefox's detector says.

Its name is one of the WHATWG Encoding standard. What is looked at is bounded, so a page of any length and content costs
some milliseconds at most.
"""

import re

from .charset_labels import encoding_found

FALLBACK = "windows-1252"
_LOOKED_AT = 1024  # bytes in which UTF-16 shows
_SAMPLE = 64_000  # bytes given to the detector: it reads 10 to 25 MB/s
_PIECES = 4_000  # of the page in the sample
_BEFORE = 100  # bytes kept before what is no ASCII: letters beside it tell accents from Cyrillic
_HIGH = bytes(range(0x80, 0x100))
_NOT_ASCII = re.compile(rb"[\x80-\xff]")
_ESCAPE = b"\x1b$"  # ISO-2022-JP leaves ASCII with it
_WHOLE_FOR_ONE_BROKEN = 20


def guess(body: bytes) -> str:
    """The encoding these bytes are most probably in."""
    if name := _utf16(body):
        return name
    try:
        body.decode()
    except UnicodeDecodeError as problem:
        if problem.end >= len(body) - 3 and problem.reason == "unexpected end of data":
            return "utf-8"  # cut in the middle of a character
        return _detected(_sample(body))
    if not body.isascii():
        return "utf-8"
    start = body.find(_ESCAPE)
    return FALLBACK if start < 0 or _detected(body[start : start + _SAMPLE]) != "iso-2022-jp" else "iso-2022-jp"


def _utf16(body: bytes) -> str:
    """UTF-16 without a mark, by the zeros of its ASCII."""
    beginning = body[:_LOOKED_AT]
    if b"\0" not in beginning:
        return ""
    low, high = beginning[0::2].count(0), beginning[1::2].count(0)
    if max(low, high) <= len(beginning) // 8 or min(low, high) * 4 > max(low, high):
        return ""
    return "utf-16le" if high > low else "utf-16be"


def _sample(body: bytes) -> bytes:
    """The places where the body is not ASCII, wherever they are, with what stands before them."""
    pieces: list[bytes] = []
    size = end = 0
    while size < _SAMPLE and len(pieces) < _PIECES and (found := _NOT_ASCII.search(body, end)) is not None:
        begin, high = max(end, found.start() - _BEFORE), found.start()
        end = body.find(b">", high, high + _SAMPLE) + 1 or high + _SAMPLE  # no character of two bytes holds a ">"
        pieces.append(body[begin:end])
        size += end - begin
    return b"".join(pieces)


def _detected(sample: bytes) -> str:
    """What the detector says; but a page in UTF-8 of which a few characters are broken is still one."""
    text = sample.decode("utf-8", "replace")
    broken = text.count("\ufffd")
    whole = len(text) - broken - len(sample.translate(None, _HIGH))
    if whole >= broken * _WHOLE_FOR_ONE_BROKEN and whole:
        return "utf-8"
    from chardetng_py import EncodingDetector  # loaded when it is needed: few pages leave their charset to a guess

    detector = EncodingDetector()
    detector.feed(sample, last=True)
    return encoding_found(detector.guess(tld=None, allow_utf8=True)) or FALLBACK
