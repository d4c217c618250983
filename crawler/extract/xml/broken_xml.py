"""XML that is not well-formed, read all the same.

After its first error libxml2 drops every reference (`a&amp;b` becomes `ab`), so it is given none: they are resolved
here, and what would be markup travels as a character no text has.
"""

import re
from html.entities import html5
from typing import Any

_AT_MOST = 1_000_000  # references; a document of more is left as it is
_NO_REFERENCE = re.compile(rb"&(?!(?:[A-Za-z][A-Za-z0-9]{1,31}|#[0-9]{1,8}|#[xX][0-9A-Fa-f]{1,8});)")
_REFERENCE = re.compile(rb"&(?:([A-Za-z][A-Za-z0-9]*)|#(?:([0-9]+)|[xX]([0-9A-Fa-f]+)));")
_AMPERSAND, _LESS = "\ufdd0", "\ufdd1"  # never in text that is exchanged, by their definition
_COMMON = {b"&amp;": _AMPERSAND, b"&lt;": _LESS, b"&gt;": ">", b"&quot;": '"', b"&apos;": "'"}
_CHARACTERS = (range(0x20, 0xD800), range(0xE000, 0xFFFE), range(0x10000, 0x110000))
_CDATA, _END = b"<![CDATA[", b"]]>"


def without_references(data: bytes) -> bytes:
    """The same with its references resolved, also those of HTML; what is none is text. CDATA has none."""
    if data.count(b"&") > _AT_MOST:
        return data
    pieces, position = [], 0
    while position < len(data):
        start = data.find(_CDATA, position)
        pieces.append(_resolved(data[position : len(data) if start < 0 else start]))
        if start < 0:
            break
        end = data.find(_END, start)
        position = len(data) if end < 0 else end + len(_END)
        pieces.append(data[start:position])
    return b"".join(pieces)


def put_back(root: Any) -> None:
    """Make the characters that travelled what they are."""
    for element in root.iter():
        for part in ("text", "tail"):
            value = getattr(element, part)
            if value and not value.isascii():
                setattr(element, part, _back(value))
        for name, value in element.attrib.items():
            if not value.isascii():
                element.set(name, _back(value))


def _back(value: str) -> str:
    return value.replace(_AMPERSAND, "&").replace(_LESS, "<")


def _sent(text: str) -> str:
    return text.replace("&", _AMPERSAND).replace("<", _LESS)


def _resolved(data: bytes) -> bytes:
    data = _NO_REFERENCE.sub(_AMPERSAND.encode(), data)
    for reference, text in _COMMON.items():
        data = data.replace(reference, text.encode())
    return _REFERENCE.sub(_character, data)


def _character(found: re.Match[bytes]) -> bytes:
    name, decimal, hexadecimal = found.groups()
    if name is not None:
        return _sent(html5.get(name.decode() + ";", found[0].decode())).encode()
    number = int(decimal or hexadecimal, 10 if decimal else 16)
    may_stand = number in (0x9, 0xA, 0xD) or any(number in characters for characters in _CHARACTERS)
    return _sent(chr(number) if may_stand else "\ufffd").encode()
