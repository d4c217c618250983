"""Where feeds, sitemaps and other XML lead, and what they are called.

An address is followed only where it stands so in the bytes. What is no well-formed XML is mended by the parser, and a
mended address is one nobody wrote: `?a=1&lang=2` became `?a=1=2`, and a file cut short ends in half an address. Where
bases may be named (xml:base: in Atom) a mended document's relative addresses are not followed either.
"""

import re
from collections.abc import Iterator
from html import unescape
from itertools import islice
from typing import Any

from lxml import etree

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import Resolver, parse
from crawler.values import Link

from ..packed_links import packable
from ..plain_text import squeezed

_A = "{http://www.w3.org/1999/xhtml}a"
_ABOUT = "{http://www.w3.org/1999/02/22-rdf-syntax-ns#}about"
_FOLLOWED = frozenset({"", "alternate", "next", "canonical"})  # relations of Atom and sitemap links
_PICTURES = ("{http://www.google.com/schemas/sitemap-", "{http://search.yahoo.com/mrss/}")  # their addresses and titles
_MEDIA = ("audio/", "video/", "image/")
_WEB = ("http://", "https://")
_REFERENCE = re.compile(rb"&(?:amp|lt|gt|quot|apos|#[0-9]{1,8}|#x[0-9a-fA-F]{1,8});")
_ADDRESS_AT_MOST, _PIECES_AT_MOST = 8_000, 100  # bytes; texts between the elements inside one that leads somewhere
_LEADING_NAMES = frozenset({"loc", "link", "a", "item", "entry"})
_LEADING = tuple(f"{{*}}{name}" for name in _LEADING_NAMES)
_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_HAS_BASES = etree.XPath("boolean(//@xml:base)")
# None reads beyond the next "<", so all take time that grows with the bytes only.
_ELEMENT = re.compile(
    rb"<((?:[\w.\-]+:)?(?:loc|link|guid))(?:\s[^<>]*)?>(?:\s*<!\[CDATA\[([^<>]*)\]\]>\s*|([^<]*))</\1\s*>"
)
_ATTRIBUTE = re.compile(rb"""\s(?:[\w.\-]+:)?(?:href|src|url|about)\s*=\s*(?:"([^"<]*)"|'([^'<]*)')""")
_TAG = re.compile(rb"<[^<>]*>")


def title_of(root: Any) -> str:
    """What a feed or document calls itself; else the first title there is."""
    channel = next((child for child in root if _name(child) == "channel"), None)
    for parent in (root, channel):
        for child in () if parent is None else parent:
            if _name(child) == "title" and not child.tag.startswith(_PICTURES):
                return "".join(child.itertext())
    title = next((element for element in root.iter("{*}title") if not element.tag.startswith(_PICTURES)), None)
    return "" if title is None else "".join(title.itertext())


def links_in(root: Any, url: str, damaged: bytes | None) -> list[Link]:
    """The pages a document leads to; `damaged` are its bytes when the parser had to mend them."""
    links: list[Link] = []
    whole = None if damaged is None else _whole(damaged)
    based = damaged is not None and (b":base" in damaged or _name(root) in ("feed", "entry"))
    for element, resolve in _with_resolvers(root, Resolver(url)):
        href = _address(element).strip()
        if not href or "\ufffd" in href:
            continue
        if whole is not None and (_plain(href) not in whole or (based and not href.startswith(_WEB))):
            continue
        links.append(Link(packable([resolve(href)])[0], squeezed(element.get("title") or "")[:1_000]))
    return links


def _with_resolvers(root: Any, resolver: Resolver) -> Iterator[tuple[Any, Resolver]]:
    """The elements that may lead somewhere, each with what resolves its address. (libxml2 would put the base of each
    element together anew, from all of those around it.)"""
    if not _HAS_BASES(root):
        yield from ((element, resolver) for element in root.iter(*_LEADING))
        return
    resolvers = [resolver]
    for event, element in etree.iterwalk(root, events=("start", "end")):
        base = element.get(_BASE)
        if event == "end":
            if base is not None:
                resolvers.pop()
            continue
        if base is not None:
            absolute = parse(resolvers[-1](base))
            resolvers.append(Resolver(absolute.href) if isinstance(absolute, Address) else resolvers[-1])
        if _name(element) in _LEADING_NAMES:
            yield element, resolvers[-1]


def _name(element: Any) -> str:
    return str(element.tag).rpartition("}")[2]


def _address(element: Any) -> str:
    """Where one element leads; empty for nowhere."""
    kind, href = _name(element), element.get("href")
    if kind in ("item", "entry"):
        return _instead_of_link(element)
    if element.tag.startswith(_PICTURES):
        return ""
    if kind == "a":
        return href or "" if element.tag == _A else ""
    if href is None:
        text = (element.text or "").strip() or "".join(islice(element.itertext(), _PIECES_AT_MOST))
        return text if len(text) <= _ADDRESS_AT_MOST else ""
    return href if (element.get("rel") or "").lower() in _FOLLOWED else ""


def _instead_of_link(item: Any) -> str:
    """The address of an item of a feed that has no link: its permanent one, what it is about, what it brings."""
    found = {"about": item.get(_ABOUT) or ""}
    for child in item:
        kind = _name(child)
        if kind == "link" and _address(child).strip():
            return ""
        if kind == "guid" and (child.get("isPermaLink") or "true").strip().lower() == "true":
            found["guid"] = child.text or ""
        elif kind == "content":
            found["content"] = child.get("src") or ""
        elif kind in ("enclosure", "link") and not (child.get("type") or "").lower().startswith(_MEDIA):
            brought = child.get("url") if kind == "enclosure" else child.get("href")
            if kind == "enclosure" or (child.get("rel") or "").lower() == "enclosure":
                found.setdefault("enclosure", brought or "")
    if not found.get("guid", "").strip().startswith(_WEB):
        found.pop("guid", None)  # a guid may be anything; only an address is one
    return next((found[kind] for kind in ("guid", "about", "content", "enclosure") if found.get(kind, "").strip()), "")


def _whole(data: bytes) -> set[str]:
    """The addresses that stand whole in these bytes: between tags or quotes, with no reference XML does not know."""
    found = set()
    for match in _ELEMENT.finditer(data):
        packed = match[2] is not None  # in CDATA there are no references
        found.add(match[2] if packed else _unescaped(match[3]))
    for tag in _TAG.finditer(data):
        for match in _ATTRIBUTE.finditer(tag[0]):
            found.add(_unescaped(match[1] if match[1] is not None else match[2]))
    return {_plain(value.decode("utf-8", "replace")) for value in found if value}


def _unescaped(value: bytes) -> bytes:
    """A value with its references resolved; empty when one of them is none of XML's."""
    if len(value) > _ADDRESS_AT_MOST or b"&" in _REFERENCE.sub(b"", value):
        return b""
    return unescape(value.decode("utf-8", "replace")).encode("utf-8", "replace")


def _plain(address: str) -> str:
    """For comparing: white space is written in many ways."""
    return "".join(address.split())
