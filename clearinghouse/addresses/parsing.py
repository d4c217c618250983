"""Parsing: one text in, one canonical address out.

Canonical = the WHATWG serialisation without fragment and user info, percent escapes in one spelling
(upper case, letters, digits and -._~ never escaped). Canonical text parses to itself.
"""

import re
from collections.abc import Sequence

from ada_url._ada_wrapper import ffi, lib  # the wrapper's URL class costs twice as much; see resolve

from .address import MAX_LENGTH, Address, Refusal

_RAW_LIMIT = 16 * MAX_LENGTH  # longer texts cannot become an address and are not worth parsing
_WEB = ("http://", "https://")
_DEFAULT_PORTS = {"http": 80, "https": 443}
_SCHEME = re.compile(r"[\x00-\x20]*([A-Za-z][A-Za-z0-9+.\-]*):")
# A letter behind a stray "%" stays escaped: decoding it could complete a new escape, and parsing twice would differ.
_ESCAPE = re.compile(r"(?<!%)(?<!%[0-9A-Fa-f])%([0-9A-Fa-f]{2})|%([0-9A-Fa-f]{2})")
_UNRESERVED = frozenset("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789-._~")
_CACHE_SIZE = 20_000

# Links that need no parser: no scheme, no authority, no dot segment behind the first name, nothing to escape.
_SIMPLE = re.compile(
    r"(/|(?:\.\./)*|\./)((?:[A-Za-z0-9_~\-][A-Za-z0-9_~.\-]*/)*(?:[A-Za-z0-9_~\-][A-Za-z0-9_~.\-]*)?)"
    r"(\?[A-Za-z0-9_.~=&+;,:/\-]*)?"
)


def parse(text: str) -> Address | Refusal:
    """Read one absolute address."""
    if len(text) > _RAW_LIMIT:
        return Refusal("too_long", f"{len(text):,} characters")
    href = _canonical(text)
    if href is None:
        return Refusal("bad_address", text[:MAX_LENGTH])
    if not href.startswith(_WEB):
        return Refusal("scheme_not_allowed", href.partition(":")[0])
    if len(href) > MAX_LENGTH:
        return Refusal("too_long", f"{len(href):,} characters")
    return split(href)


def split(href: str) -> Address:
    """The parts of a text that is canonical already: cutting it needs no second parser."""
    scheme, _, rest = href.partition("://")
    authority, slash, tail = rest.partition("/")
    path, _, query = (slash + tail).partition("?")
    host, port = authority, _DEFAULT_PORTS[scheme]
    colon = authority.rfind(":")
    if colon > authority.rfind("]"):
        host, port = authority[:colon], int(authority[colon + 1 :])
    return Address(href, scheme, host, port, path, query)


def canonical(text: str) -> str:
    """The canonical form of an http or https address; ValueError for everything else."""
    result = parse(text)
    if isinstance(result, Refusal):
        raise ValueError(f"{result.reason}: {result.detail}")
    return result.href


def has_userinfo(text: str) -> bool:
    """Does the address carry a user name or password before its host?"""
    href = _serialise(text, None)
    return href is not None and "@" in _authority(href)


class Resolver:
    """Resolves the links of one page. Make one for each base; the results of all of them share one cache."""

    __slots__ = ("_base", "_folder", "_origin", "_parents")

    def __init__(self, base: str) -> None:
        if "@" in base or "#" in base:
            base = _canonical(base) or base
        self._base = base
        path = base.partition("?")[0]
        self._origin = "/".join(path.split("/", 3)[:3]) if base.startswith(_WEB) else ""
        self._folder = path[: path.rfind("/") + 1] if self._origin else ""
        self._parents = [self._folder]

    def __call__(self, href: str) -> str:
        """Canonical absolute href of a link, or the text as it stands when it cannot be read."""
        cut = href.find("#")
        if cut > 0 and href[cut - 1] > " ":
            href = href[:cut]  # the fragment is no part of the identity
        if not self._origin:
            return self._read(href)
        first = href[:1]
        if first == "/":
            key = (self._origin, href)
        elif href[:3] == "../":
            return self._upwards(href)
        else:
            key = ("", href) if href.startswith(_WEB) else (self._folder, href)
        found = _cache.get(key)
        if found is None:
            found = self._read(href)
            # Everything else depends on more of the base than its key says.
            if first == "/" or key[0] == "" or (first.isalnum() and ":" not in href):
                _remember(key, found)
        return found

    def _upwards(self, href: str) -> str:
        """What is "../x" here is "x" in the folder above, for all the folders in it alike."""
        key = (self._parent(1), href[3:])
        found = _cache.get(key)
        if found is None:
            found = self._read(href)
            if key[1][:1].isalnum() and ":" not in href:
                _remember(key, found)
        return found

    def many(self, hrefs: Sequence[str]) -> list[str]:
        """The links of a page, in their order; most of them are known from other pages, under the keys of __call__."""
        if not self._origin:
            return [self(href) for href in hrefs]
        origin, above, known, found = self._origin, self._parent(1), _cache.get, []
        for href in hrefs:
            if "#" in href and (cut := href.index("#")) and href[cut - 1] > " ":
                href = href[:cut]
            start = href[:3]
            if start == "../":
                found.append(known((above, href[3:])) or self(href))
            else:
                found.append(known(("" if start == "htt" else origin, href)) or self(href))
        return found

    def _read(self, href: str) -> str:
        simple = _SIMPLE.fullmatch(href) if self._origin and href[:1] not in ("", "?") else None
        return _join(self._base, href) if simple is None else self._put_together(simple)

    def _put_together(self, simple: re.Match[str]) -> str:
        lead = simple[1]
        rest = simple[0][len(lead) :]
        if lead == "/":
            return f"{self._origin}/{rest}"
        return self._parent(len(lead) // 3) + rest

    def _parent(self, levels: int) -> str:
        parents = self._parents
        while len(parents) <= levels:
            last = parents[-1]
            upper = last[: last.rfind("/", 0, -1) + 1]
            parents.append(upper if len(upper) > len(self._origin) else last)
        return parents[levels]


_cache: dict[tuple[str, str], str] = {}


def _remember(key: tuple[str, str], href: str) -> None:
    if len(_cache) >= _CACHE_SIZE:
        _cache.clear()
    _cache[key] = href


def resolve(base: str, href: str) -> str:
    """Canonical absolute href of one link on the page `base` (canonical), or the raw text when it cannot be read."""
    return Resolver(base)(href)


def _join(base: str, href: str) -> str:
    if len(href) > _RAW_LIMIT:
        return href
    result = _canonical(href, base)
    return href if result is None else result


def _canonical(text: str, base: str | None = None) -> str | None:
    href = _serialise(text, base)
    if href is None:
        return None
    if "#" in href:
        href = href[: href.index("#")]
    if "@" in href and (authority := _authority(href)) and "@" in authority:
        href = href.replace(authority, authority.rpartition("@")[2], 1)
    if "%" in href and href.startswith(_WEB):
        href = _ESCAPE.sub(_one_spelling, href)
    return href


def _authority(href: str) -> str:
    """What stands between "//" and the path of a serialised address."""
    _, slashes, rest = href.partition("://")
    return re.split(r"[/?#]", rest, maxsplit=1)[0] if slashes else ""


def _one_spelling(escape: re.Match[str]) -> str:
    if escape[1] is None:
        return "%" + escape[2].upper()
    character = chr(int(escape[1], 16))
    return character if character in _UNRESERVED else "%" + escape[1].upper()


def _serialise(text: str, base: str | None) -> str | None:
    """The WHATWG parser itself. Text that is not Unicode (lone surrogates) is repaired as browsers do."""
    data = _utf8(text)
    if base is None:
        parsed = lib.ada_parse(data, len(data))
    else:
        base_data = _utf8(base)
        parsed = lib.ada_parse_with_base(data, len(data), base_data, len(base_data))
    try:
        if not lib.ada_is_valid(parsed):
            return None
        href = lib.ada_get_href(parsed)
        return str(ffi.unpack(href.data, href.length).decode())
    finally:
        lib.ada_free(parsed)


def _utf8(text: str) -> bytes:
    try:
        return text.encode()
    except UnicodeEncodeError:
        return text.encode("utf-16", "surrogatepass").decode("utf-16", "replace").encode()
