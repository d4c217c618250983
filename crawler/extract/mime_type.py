"""Content-Type, read as the WHATWG MIME Sniffing and Fetch standards say."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_TOKEN = re.compile(r"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_QUOTABLE = re.compile(r"[\t\x20-\x7e\x80-\xff]*")
_WHITE = "\t\n\r "


class MimeType(NamedTuple):
    essence: str  # type/subtype, lower case
    parameters: dict[str, str]

    def __str__(self) -> str:
        return self.essence + "".join(f";{name}={_quoted(value)}" for name, value in self.parameters.items())


def parse_mime_type(text: str) -> MimeType | None:
    """One MIME type; None when it is none."""
    essence, _, rest = text.strip(_WHITE).partition(";")
    kind, slash, subtype = essence.partition("/")
    subtype = subtype.rstrip(_WHITE)
    if not slash or not _TOKEN.fullmatch(kind) or not _TOKEN.fullmatch(subtype):
        return None
    return MimeType(f"{kind}/{subtype}".lower(), _parameters(rest))


def content_type(values: Iterable[str]) -> MimeType | None:
    """The type that several Content-Type headers come to: the last usable one, keeping an earlier charset."""
    essence, charset, result = "", "", None
    for value in _separate(", ".join(values)):
        found = parse_mime_type(value)
        if found is None or found.essence == "*/*":
            continue
        result = found
        if found.essence != essence:
            charset, essence = found.parameters.get("charset", ""), found.essence
        elif "charset" not in found.parameters and charset:
            result.parameters["charset"] = charset
    return result


def _parameters(text: str) -> dict[str, str]:
    found: dict[str, str] = {}
    position = 0
    while position < len(text):
        end = _first_of(text, ";=", position)
        name = text[position:end].lstrip(_WHITE).lower()
        if end < len(text) and text[end] == ";":
            position = end + 1
            continue
        position = end + 1
        if position < len(text) and text[position] == '"':
            value, position = _quoted_string(text, position)
            position = _first_of(text, ";", position) + 1
        else:
            end = _first_of(text, ";", position)
            value, position = text[position:end].rstrip(_WHITE), end + 1
            if not value:
                continue
        if _TOKEN.fullmatch(name) and _QUOTABLE.fullmatch(value):
            found.setdefault(name, value)
    return found


def _first_of(text: str, characters: str, position: int) -> int:
    while position < len(text) and text[position] not in characters:
        position += 1
    return position


def _quoted_string(text: str, position: int) -> tuple[str, int]:
    """The value of the quoted string that begins here, and the position behind it."""
    value: list[str] = []
    position += 1
    while position < len(text) and text[position] != '"':
        if text[position] == "\\" and position + 1 < len(text):
            position += 1
        value.append(text[position])
        position += 1
    return "".join(value), position + 1


def _separate(text: str) -> list[str]:
    """The values of a combined header: commas inside quotes do not separate."""
    values, start, position = [], 0, 0
    while position < len(text):
        if text[position] == '"':
            position = _quoted_string(text, position)[1]
            continue
        if text[position] == ",":
            values.append(text[start:position].strip("\t "))
            start = position + 1
        position += 1
    return [*values, text[start:].strip("\t ")]


def _quoted(value: str) -> str:
    if _TOKEN.fullmatch(value):
        return value
    return '"' + value.replace("\\", "\\\\").replace('"', '\\"') + '"'
