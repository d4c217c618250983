"""Charsets, in the order of the WHATWG standards: byte order mark, HTTP header, what the page says, then a guess."""

import re
from collections.abc import Iterator
from typing import NamedTuple

import endec

from .charset_guess import guess
from .charset_labels import encoding_of

_PRESCANNED = 1024  # bytes in which a page must name its charset
_PRESCANNED_LATE = 64_000
_WHITE = b"\t\n\x0c\r "
_SPACE_OR_SLASH = _WHITE + b"/"
_XML_DECLARATION = re.compile(rb"""<\?xml[^>]*?\sencoding[\t\n\r ]*=[\t\n\r ]*["']([A-Za-z0-9._\-]+)["']""")
# How nearly every page begins; reading it byte by byte costs twenty times as much. White space belongs to what stands
# before it, or many empty lines could be shared out among the parts in endless ways.
_PLAIN_PAGE = re.compile(
    rb"""\s*(?:<!DOCTYPE html>\s*)?(?:<html(?:\s+[a-z:\-]+="[^"<>]*")*\s*>\s*)?(?:<head>\s*)?"""
    rb"""<meta charset="([A-Za-z0-9\-]+)"\s*/?>""",
    re.IGNORECASE,
)
_CHARSET = re.compile(rb"charset[\t\n\x0c\r ]*=[\t\n\x0c\r ]*", re.IGNORECASE)
_TAG = re.compile(rb"</?[A-Za-z]")
_MARKS = (b"\xef\xbb\xbf", b"\xfe\xff", b"\xff\xfe")
_UTF16 = {"utf-16be", "utf-16le"}
_NOT_ASCII = _UTF16 | {"iso-2022-jp", "replacement"}  # whose bytes below 0x80 may mean something else
# The bytes of a query as an address holds them (URL Standard, "special-query percent-encode set").
_SENT = [chr(byte) if 0x20 < byte < 0x7F and byte not in b"\"#<>'" else f"%{byte:02X}" for byte in range(256)]
_REFERENCE = re.compile(rb"&#(\d+);")  # no query holds a "#" of its own
_REFERENCE_BESIDE_JIS = re.compile(rb"\x1b\$.*?(?=\x1b\()|&#(\d+);", re.DOTALL)  # its encoder always goes back to ASCII


class _EndOfBytes(Exception):
    """The bytes end inside a tag: what it seemed to say does not count."""


class _Attribute(NamedTuple):
    name: bytes
    value: bytes
    end: int


def as_utf8(body: bytes, declared: str = "") -> tuple[bytes, str]:
    """The body as valid UTF-8 without byte order mark, and the name of the charset it was in."""
    name = detect(body, declared)
    body = _without_mark(body, name)
    if name == "utf-8" or (name not in _NOT_ASCII and body.isascii()):
        try:
            body.decode()
            return body, name
        except UnicodeDecodeError:
            return body.decode("utf-8", "replace").encode(), name
    return endec.decode(body, name, "replace", bom="ignore").encode("utf-8", "replace"), name


def encode(text: str, name: str) -> bytes:
    """Text as a browser sends it from a page in this charset: what the charset has not as a character reference."""
    return endec.encode(text.encode("utf-8", "replace").decode(), name, "xmlcharrefreplace")


def query_bytes(href: str, name: str) -> str:
    """A link with its query escaped in the page's own charset, as browsers send it (the path is always UTF-8)."""
    if "?" not in href or (href.isascii() and name != "iso-2022-jp"):  # which has no shifts and escapes but its own
        return href
    before, mark, query = href.partition("?")
    query, hash_mark, fragment = query.partition("#")
    references = _REFERENCE_BESIDE_JIS if name == "iso-2022-jp" else _REFERENCE
    sent = references.sub(_escaped_reference, encode(query, name))
    return before + mark + "".join(map(_SENT.__getitem__, sent)) + hash_mark + fragment


def _escaped_reference(found: re.Match[bytes]) -> bytes:
    """What stands for a character the charset has not; two bytes of JIS that look like "&#" are left alone."""
    return b"%%26%%23%s%%3B" % found[1] if found[1] else found[0]


def is_said(body: bytes, declared: str = "") -> bool:
    """Does the server, a mark or the beginning of the page name the charset?"""
    return body.startswith(_MARKS) or bool(encoding_of(declared)) or bool(prescan(body[:_PRESCANNED]))


def detect(body: bytes, declared: str = "") -> str:
    """The charset of a page's bytes; `declared` is the label of its Content-Type, if it has one."""
    if body.startswith(b"\xef\xbb\xbf"):
        return "utf-8"
    if body.startswith(b"\xfe\xff"):
        return "utf-16be"
    if body.startswith(b"\xff\xfe"):
        return "utf-16le"
    return (encoding_of(declared) if declared else "") or prescan(body[:_PRESCANNED]) or _late(body) or guess(body)


def prescan(beginning: bytes) -> str:
    """The charset named by a meta tag or an XML declaration in the first bytes; empty for none."""
    if beginning.startswith(b"<\0?\0x\0"):
        return "utf-16le"
    if beginning.startswith(b"\0<\0?\0x"):
        return "utf-16be"
    plain = _PLAIN_PAGE.match(beginning)
    try:
        found = (encoding_of(plain[1].decode("ascii")) if plain else "") or next(_metas(beginning), "")
    except _EndOfBytes:
        found = ""
    if not found:
        declaration = _XML_DECLARATION.match(beginning.lstrip(_WHITE))
        found = encoding_of(declaration[1].decode("ascii")) if declaration else ""
    if found in _UTF16:
        return "utf-8"  # the label itself was readable as ASCII, so it is wrong
    return "windows-1252" if found == "x-user-defined" else found


def _metas(data: bytes) -> Iterator[str]:
    """The charsets that meta tags name, in order: the standard's "prescan a byte stream"."""
    position = 0
    while (position := data.find(b"<", position)) >= 0:
        if data.startswith(b"<!--", position):
            end = data.find(b"-->", position + 2)
            if end < 0:
                return
            position = end + 3
        elif data[position : position + 5].lower() == b"<meta" and data[position + 5 : position + 6] in _ENDS_OF_META:
            name, position = _meta(data, position + 5)
            if name:
                yield name
        elif _TAG.match(data, position):
            position = _skip_tag(data, position)
        elif data[position + 1 : position + 2] in (b"!", b"/", b"?"):
            position = data.find(b">", position)
            if position < 0:
                return
        else:
            position += 1


_ENDS_OF_META = tuple(_SPACE_OR_SLASH[index : index + 1] for index in range(len(_SPACE_OR_SLASH)))


def _meta(data: bytes, position: int) -> tuple[str, int]:
    """The charset one meta tag names, and where its attributes end."""
    seen: set[bytes] = set()
    pragma, need_pragma, charset = False, None, ""
    while (attribute := _attribute(data, position)) is not None:
        position = attribute.end
        if attribute.name in seen:
            continue
        seen.add(attribute.name)
        if attribute.name == b"http-equiv":
            pragma = attribute.value == b"content-type"
        elif attribute.name == b"content" and not charset:
            charset = _charset_in(attribute.value)
            need_pragma = True if charset else need_pragma
        elif attribute.name == b"charset":
            charset, need_pragma = encoding_of(attribute.value.decode("latin-1")), False
    if need_pragma is None or (need_pragma and not pragma):
        return "", position
    return charset, position


def _charset_in(content: bytes) -> str:
    """The standard's "extracting a character encoding from a meta element"."""
    found = _CHARSET.search(content)
    if found is None:
        return ""
    rest = content[found.end() :]
    if rest[:1] in (b'"', b"'"):
        end = rest.find(rest[:1], 1)
        return encoding_of(rest[1:end].decode("latin-1")) if end > 0 else ""
    return encoding_of(re.split(rb"[\t\n\x0c\r ;]", rest, maxsplit=1)[0].decode("latin-1"))


def _skip_tag(data: bytes, position: int) -> int:
    """Behind the attributes of the tag that begins here."""
    while position < len(data) and data[position] not in _WHITE + b">":
        position += 1
    while (attribute := _attribute(data, position)) is not None:
        position = attribute.end
    return position


def _attribute(data: bytes, position: int) -> _Attribute | None:
    """The standard's "get an attribute", names and values in lower case; None at the end of the tag."""
    size = len(data)
    position = _behind(_SPACE_OR_SLASH, data, position)
    if data[position] == 0x3E:
        return None
    start = position
    while data[position] not in b"=/>" + _WHITE or (data[position] == 0x3D and position == start):
        position = _next(position, size)
    name = data[start:position].lower()
    position = _behind(_WHITE, data, position)
    if data[position] != 0x3D:
        return _Attribute(name, b"", position)
    position = _behind(_WHITE, data, position + 1)
    if data[position] in b"\"'":
        end = data.find(data[position : position + 1], position + 1)
        if end < 0:
            raise _EndOfBytes
        return _Attribute(name, data[position + 1 : end].lower(), end + 1)
    start = position
    while data[position] not in b">" + _WHITE:
        position = _next(position, size)
    return _Attribute(name, data[start:position].lower(), position)


def _behind(characters: bytes, data: bytes, position: int) -> int:
    """The position of the first byte that is none of these."""
    position -= 1
    while data[position := _next(position, len(data))] in characters:
        pass
    return position


def _next(position: int, size: int) -> int:
    if position + 1 >= size:
        raise _EndOfBytes
    return position + 1


def _late(body: bytes) -> str:
    """The charset of a meta tag further down: browsers begin anew when they meet it."""
    beginning = body[:_PRESCANNED_LATE]
    return prescan(beginning) if len(body) > _PRESCANNED and b"charset" in beginning.lower() else ""


def _without_mark(body: bytes, name: str) -> bytes:
    if name == "utf-8":
        return body.removeprefix(b"\xef\xbb\xbf")
    return body.removeprefix(b"\xfe\xff" if name == "utf-16be" else b"\xff\xfe") if name in _UTF16 else body
