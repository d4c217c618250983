"""The head of an answer: its status and its headers, read from the lines libcurl hands over. Pure.

Read all at once: a call of Python for each line of each head took a tenth of the loop's time. libcurl bounds what
there is to read (300 KB for one answer, 6 MB with all its interim ones).
"""

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from functools import lru_cache

_LINES = 500
_BYTES = 256_000
_INTERIM_ANSWERS = 10  # 1xx answers before the real one
_STATUS = re.compile(rb"HTTP/[0-9.]+ +([0-9]{3})(?=[ \r\n])")
_NAME = re.compile(rb"[!#$%&'*+\-.^_`|~0-9A-Za-z]+")
_EMPTY = (b"\r\n", b"\n")
_COMMON = 200  # bytes; longer lines are hardly sent twice, and would fill the memory


@dataclass(slots=True)
class Head:
    status: int = 0
    fields: list[tuple[str, str]] = field(default_factory=list)  # names in lower case, in order
    ended: bool = False  # by an empty line; libcurl takes the end of the connection for it, too
    trouble: str = ""  # why the answer is not usable


def read_head(lines: Sequence[bytes]) -> Head:
    """The last head among these lines: interim answers come before it."""
    head, answers, bare = Head(), 0, False
    for line in lines:
        before, bare = bare, line[-2:] != b"\r\n"  # without a carriage return
        if line in _EMPTY:
            head.ended = True
            if bare != before:
                return _unusable(head, "it is not clear where its headers end")
        elif line.startswith(b"HTTP/"):
            status = _STATUS.match(line)
            answers += 1
            if status is None:
                return _unusable(head, "its status line is not usable")
            if answers > _INTERIM_ANSWERS:
                return _unusable(head, "more than ten interim answers")
            head = Head(int(status[1]))
        elif b":" in line:
            named = _field(line) if len(line) <= _COMMON else _read_field(line)
            if named is None:
                return _unusable(head, "a header's name is not usable")
            head.fields.append(named)
    if len(head.fields) > _LINES or sum(map(len, lines)) > _BYTES:
        return _unusable(head, "its headers are endless")
    return head


def _unusable(head: Head, trouble: str) -> Head:
    head.trouble = trouble
    return head


def _read_field(line: bytes) -> tuple[str, str] | None:
    name, _, value = line.partition(b":")
    if not _NAME.fullmatch(name):
        return None
    return name.decode("ascii").lower(), readable(value.strip().replace(b"\0", b""))


_field = lru_cache(1024)(_read_field)  # most lines of a site's answers are the same


def readable(value: bytes) -> str:
    """A header's value: UTF-8 where it is that (addresses in Location often are), else as HTTP once said."""
    try:
        return value.decode()
    except UnicodeDecodeError:
        return value.decode("latin-1")
