"""Reading cases out of the source of other languages: the texts in it, and the tests they stand in."""

import re
from collections.abc import Iterator

STRING = r'"(?:[^"\\]|\\.)*"'
_ESCAPE = re.compile(rb"\\(u[0-9a-fA-F]{4}|x[0-9a-fA-F]{1,2}|[0-7]{1,3}|.)", re.DOTALL)
_PLAIN = {b"n": b"\n", b"r": b"\r", b"t": b"\t", b"f": b"\f", b"v": b"\v", b"b": b"\b", b"a": b"\a"}


def blocks_of(text: str, heading: str) -> Iterator[tuple[str, str]]:
    """The name and the source of each test, from its heading to the next."""
    found = list(re.finditer(heading, text))
    for one, following in zip(found, [*found[1:], None], strict=False):
        yield one[1], text[one.end() : following.start() if following else len(text)]


def joined(source: str) -> str:
    """Literals that stand beside each other are one text."""
    return b"".join(unescaped(literal) for literal in re.findall(STRING, source)).decode("utf-8", "replace")


def unescaped(literal: str) -> bytes:
    """The bytes of a literal of C, C++ or Java between its quotes."""
    return _ESCAPE.sub(_one, literal[1:-1].encode())


def _one(found: re.Match[bytes]) -> bytes:
    what = found[1]
    if what[:1] == b"u":
        return chr(int(what[1:], 16)).encode("utf-8", "surrogatepass")
    if what[:1] == b"x":
        return bytes([int(what[1:], 16)])
    if what.isdigit():
        return bytes([int(what, 8) & 255])
    return _PLAIN.get(what, what)
