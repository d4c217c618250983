"""XML: feeds and sitemaps with their links, other XML with its text. A DOCTYPE is refused before anything expands."""

import re
import zlib
from typing import Any

from lxml import etree

from clearinghouse.addresses.parse import Resolver
from crawler.values import Extracted, Link

from . import charset, lenient
from .html import LINKS_AT_MOST, TITLE_AT_MOST
from .kind import GZIP_MAGIC
from .links import packable
from .text import keep_text, squeezed

# What may stand before the root element; whatever follows decides.
_PROLOG = re.compile(rb"(?:\s+|<\?(?:[^?]|\?(?!>))*\?>|<!--(?:[^-]|-(?!->))*-->)*")
UNPACKED_AT_MOST = 10_000_000  # bytes, as for XML that comes plain
_PIECE = 65_536
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_XHTML = "http://www.w3.org/1999/xhtml"
_FOLLOWED = frozenset({"", "alternate", "next", "canonical"})  # relations of Atom and sitemap links


def read_xml(body: bytes, url: str, declared_charset: str, page: Extracted) -> Extracted:
    """Fill `page` from an XML document found at `url`."""
    data, page.charset = charset.as_utf8(_unpacked(body, page), declared_charset)
    root = _tree(data.replace(b"\0", b""))
    if root is None:
        page.flags.append("no_text")
        return page
    title = next((element for element in root.iter("{*}title")), None)
    if title is not None:
        page.title = squeezed("".join(title.itertext()))
        if len(page.title) > TITLE_AT_MOST:
            page.title = page.title[:TITLE_AT_MOST]
            page.flags.append("title_cut")
    keep_text(_text(root), page)
    page.links = _links(root, url)
    if len(page.links) > LINKS_AT_MOST:
        page.flags.append("links_cut")
        del page.links[LINKS_AT_MOST:]
    return page


def _unpacked(body: bytes, page: Extracted) -> bytes:
    """The XML inside a packed file (sitemap.xml.gz), cut at what any XML may be; as much as can be read of a broken
    one."""
    if not body.startswith(GZIP_MAGIC):
        return body
    unpack = zlib.decompressobj(wbits=31)
    pieces: list[bytes] = []
    size, rest = 0, body
    try:
        while rest and not unpack.eof and size <= UNPACKED_AT_MOST:
            pieces.append(unpack.decompress(rest, _PIECE))
            size, rest = size + len(pieces[-1]), unpack.unconsumed_tail
    except zlib.error:
        rest = b""
    if not unpack.eof:
        page.flags.append("body_cut")
    return b"".join(pieces)[:UNPACKED_AT_MOST]


def _tree(data: bytes) -> Any:
    """The tree, or None for what is no XML or brings its own grammar and entities."""
    prolog = _PROLOG.match(data)
    if prolog is None or data[prolog.end() :][:2] == b"<!":
        return None
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, recover=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    try:
        root = etree.fromstring(data[prolog.end() :], parser)
    except etree.XMLSyntaxError:
        return None
    return None if root is None or root.getroottree().docinfo.internalDTD is not None else root


def _text(root: Any) -> str:
    """The words of all elements; what feeds carry as escaped HTML is read as such."""
    pieces = []
    for piece in root.itertext():
        if "<" in piece and ">" in piece:
            piece = lenient.Reader().read(piece)[1]
        pieces.append(piece)
    return squeezed(" ".join(pieces))


def _links(root: Any, url: str) -> list[Link]:
    links: list[Link] = []
    resolvers: dict[str, Resolver] = {}
    for element in root.iter("{*}loc", "{*}link", "{*}a"):
        name = etree.QName(element)
        href = element.get("href")
        if name.localname == "a":
            if name.namespace != _XHTML or href is None:
                continue
        elif href is None:
            href = element.text or ""
        elif (element.get("rel") or "").lower() not in _FOLLOWED:
            continue
        if href.strip():
            base = element.base if _is_web(element.base) else ""
            resolve = resolvers.setdefault(base, Resolver(base or url))
            links.append(Link(packable([resolve(href.strip())])[0], squeezed(element.get("title") or "")[:1_000]))
    return links


def _is_web(base: str | None) -> bool:
    return base is not None and base.startswith(("http://", "https://"))
