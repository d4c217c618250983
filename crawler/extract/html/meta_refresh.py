"""Meta refresh, read as the HTML standard's shared declarative refresh steps say. Pure."""

import re

_TIME = re.compile(r"[\t\n\f\r ]*([0-9]+|(?=\.))[0-9.]*")
_URL = re.compile(r"[\t\n\f\r ]*(?:[;,][\t\n\f\r ]*)?")
_KEY = re.compile(r"[uU][rR][lL][\t\n\f\r ]*=[\t\n\f\r ]*")


def parse_refresh(content: str) -> tuple[int, str] | None:
    """Seconds and address, as written, of a refresh; the address is empty when the page only reloads itself."""
    time = _TIME.match(content)
    if time is None:
        return None
    seconds = int(time[1][:9] or 0)
    rest = content[time.end() :]
    if rest and rest[0] not in ";,\t\n\f\r ":
        return None
    rest = rest[_separator(rest) :]
    key = _KEY.match(rest)
    if key is not None:
        rest = rest[key.end() :]
    if rest[:1] in ("'", '"'):
        rest = rest[1:].partition(rest[0])[0]
    return seconds, rest


def _separator(rest: str) -> int:
    found = _URL.match(rest)
    return found.end() if found else 0
