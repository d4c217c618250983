"""XML: feeds and sitemaps with their links, other XML with its text. A DOCTYPE is refused before anything expands."""

import re
import zlib
from typing import Any

from lxml import etree

from clearinghouse.addresses.parse import Resolver
from crawler.values import Extracted, Link

from . import charset, lenient
from .html import TITLE_AT_MOST
from .kind import GZIP_MAGIC
from .libxml import NODES_AT_MOST, nodes_in
from .links import LINKS_AT_MOST, packable
from .text import keep_text, squeezed

_WHITE = re.compile(rb"\s*")
UNPACKED_AT_MOST = 10_000_000  # bytes, as for XML that comes plain
_PIECE = 65_536
# References to surrogates: libxml2 makes bytes of them that are no UTF-8, and lxml stumbles over those.
_SURROGATE = re.compile(
    rb"&#(?:[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2}|0*5(?:529[6-9]|5[3-9]\d\d|6\d{3}|7[0-2]\d\d|73[0-3]\d|734[0-3]));?"
)
_XML_BASE = "{http://www.w3.org/XML/1998/namespace}base"
_A = "{http://www.w3.org/1999/xhtml}a"
_FOLLOWED = frozenset({"", "alternate", "next", "canonical"})  # relations of Atom and sitemap links


def read_xml(body: bytes, url: str, declared_charset: str, page: Extracted) -> Extracted:
    """Fill `page` from an XML document found at `url`."""
    data, page.charset = charset.as_utf8(_unpacked(body, page), declared_charset)
    root = _tree(_not_too_many(data.replace(b"\0", b""), page))
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


def _not_too_many(data: bytes, page: Extracted) -> bytes:
    """As much as a tree of bounded size can hold. (The largest sitemaps there may be are smaller.)"""
    if nodes_in(data) <= 2 * NODES_AT_MOST:
        return data
    share = 2 * NODES_AT_MOST / nodes_in(data)
    page.flags.append("body_cut")
    return data[: data.find(b"<", int(len(data) * share))]


def _tree(data: bytes) -> Any:
    """The tree, or None for what is no XML or brings its own grammar and entities."""
    data = data[_prolog(data) :]
    if data.startswith(b"<!"):
        return None
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, recover=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    if b"&#" in data:
        data = _SURROGATE.sub(b"\xef\xbf\xbd", data)
    try:
        root = etree.fromstring(data, parser)
    except etree.XMLSyntaxError:
        return None
    return None if root is None or root.getroottree().docinfo.internalDTD is not None else root


def _prolog(data: bytes) -> int:
    """Where the root element begins, or a DOCTYPE. (One regular expression for this takes 100 bytes for each byte.)"""
    position = 0
    while (white := _WHITE.match(data, position)) is not None:
        position = white.end()
        ending = b"?>" if data.startswith(b"<?", position) else b"-->"
        if ending == b"-->" and not data.startswith(b"<!--", position):
            break
        end = data.find(ending, position + 2 if ending == b"?>" else position + 4)
        if end < 0:
            break
        position = end + len(ending)
    return position


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
        href = element.get("href")
        if element.tag.rpartition("}")[2] == "a":
            if element.tag != _A or href is None:
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
