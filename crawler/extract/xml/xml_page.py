"""XML: feeds and sitemaps with their links, other XML with its text. A DOCTYPE is refused before anything expands."""

import re
import zlib
from typing import Any

from lxml import etree

from crawler.values import Extracted

from ..charsets import charset
from ..html import html_without_tree
from ..html.html_page import TITLE_AT_MOST
from ..html.libxml_tree import NODES_AT_MOST, nodes_in
from ..packed_links import LINKS_AT_MOST
from ..page_kind import GZIP_MAGIC, root_at
from ..plain_text import keep_text, squeezed
from . import broken_xml
from .feeds import links_in, title_of

UNPACKED_AT_MOST = 10_000_000  # bytes, as for XML that comes plain
_PIECE = 65_536
_UNREADABLE = b"\xef\xbf\xbd"  # U+FFFD
# References to surrogates: libxml2 makes bytes of them that are no UTF-8, and lxml stumbles over those.
_SURROGATE = re.compile(
    rb"&#(?:[xX]0*[dD][89a-fA-F][0-9a-fA-F]{2}|0*5(?:529[6-9]|5[3-9]\d\d|6\d{3}|7[0-2]\d\d|73[0-3]\d|734[0-3]));?"
)


def read_xml(body: bytes, url: str, declared_charset: str, page: Extracted) -> Extracted:
    """Fill `page` from an XML document found at `url`."""
    body = _unpacked(body, page)
    data, page.charset = charset.as_utf8(body, declared_charset)
    data = _not_too_many(data.replace(b"\0", _UNREADABLE), page)
    root, damaged = _tree(data)
    if root is None:
        page.flags.append("no_text")
        return page
    page.title = squeezed(title_of(root))
    if len(page.title) > TITLE_AT_MOST:
        page.title = page.title[:TITLE_AT_MOST]
        page.flags.append("title_cut")
    keep_text(_text(root), page)
    if page.charset != "utf-8" and not charset.is_said(body, declared_charset) and not body.isascii():
        data, damaged = body, True  # XML of which nobody says otherwise is UTF-8: what was guessed was mended, too
    damaged = damaged or _UNREADABLE in data
    page.links = links_in(root, url, data if damaged else None)
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
        while rest and size <= UNPACKED_AT_MOST:
            pieces.append(unpack.decompress(rest, _PIECE))
            size, rest = size + len(pieces[-1]), unpack.unconsumed_tail
            if unpack.eof and unpack.unused_data.startswith(GZIP_MAGIC):  # a file of several members
                rest, unpack = unpack.unused_data, zlib.decompressobj(wbits=31)
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


def _tree(data: bytes) -> tuple[Any, bool]:
    """The tree, or None for what is no XML or brings its own grammar and entities; and whether it had to be mended."""
    data = data[root_at(data) :]
    if data.startswith(b"<!"):
        return None, False
    root, sound = _parsed(data)
    if not sound and b"&" in data:
        root = None  # two trees at once would be too many
        root, _ = _parsed(broken_xml.without_references(data))
        if root is not None:
            broken_xml.put_back(root)
    if root is None or root.getroottree().docinfo.internalDTD is not None:
        return None, False
    return root, not sound


def _parsed(data: bytes) -> tuple[Any, bool]:
    """A tree, and whether it stands for well-formed XML."""
    parser = etree.XMLParser(
        encoding="utf-8", resolve_entities=False, load_dtd=False, no_network=True, recover=True,
        remove_comments=True, remove_pis=True,
    )  # fmt: skip
    if b"&#" in data and _SURROGATE.search(data):
        return None, False
    try:
        return etree.fromstring(data, parser), not len(parser.error_log)
    except etree.XMLSyntaxError:
        return None, False


def _text(root: Any) -> str:
    """The words of all elements; what feeds carry as escaped HTML is read as such."""
    pieces = []
    for piece in root.itertext():
        if "<" in piece and ">" in piece:
            piece = html_without_tree.TokenReader().read(piece)[1]
        pieces.append(piece)
    return squeezed(" ".join(pieces))
