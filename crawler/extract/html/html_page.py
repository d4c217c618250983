"""HTML: title, meta tags, headings, links and text of a page, from the tree of lexbor or libxml2, or from none."""

from functools import partial
from typing import Any

from clearinghouse.addresses import Address
from clearinghouse.addresses.parsing import Resolver, parse
from crawler.values import USER_AGENT, Extracted, Link

from ..charsets import charset
from ..packed_links import LINKS_AT_MOST, packable
from ..plain_text import all_squeezed, keep_text, squeezed, tidied
from . import html_without_tree, lexbor_tree, libxml_tree
from .elements import PageElements

METAS_AT_MOST = 200
TITLE_AT_MOST, META_NAME_AT_MOST, META_CONTENT_AT_MOST = 255, 512, 8_000
_ANCHOR_AT_MOST = 1_000
_WORDS_WITH_VALUES = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
_UNICODE = {"utf-8", "utf-16le", "utf-16be"}
_link: Any = partial(tuple.__new__, Link)  # half the cost of Link(...), and there are millions


def read_html(body: bytes, url: str, declared_charset: str, page: Extracted) -> Extracted:
    """Fill `page` from the bytes of an HTML page that was found at `url`."""
    data, page.charset = charset.as_utf8(body, declared_charset)
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    if not data or data.isspace():
        return page
    found, text = _read(data, page)
    if found.unframed:
        _note_unframed(found)
    keep_text(tidied(text), page)
    _settle(found, url, page)
    return page


def _read(data: bytes, page: Extracted) -> tuple[PageElements, str]:
    """By the quickest of three readers that can take the page."""
    read = None
    if not libxml_tree.has_monster_tag(data):
        if lexbor_tree.suits(data) and (read := lexbor_tree.read(data)) is not None:
            return read
        if libxml_tree.nodes_in(data) > libxml_tree.NODES_AT_MOST:
            return html_without_tree.TokenReader().read(data.decode())
        read = libxml_tree.read(data)
    if read is None:
        page.flags.append("deep")
        read = html_without_tree.TokenReader().read(data.decode())
    return read


def _note_unframed(found: PageElements) -> None:
    """The links in <noframes>."""
    known = {href for href, _, _ in found.links}
    inside, _ = html_without_tree.TokenReader().read("".join(found.unframed))
    found.links += [link for link in inside.links if link[0] not in known]


def _settle(found: PageElements, url: str, page: Extracted) -> None:
    """Bring what was found into its stored form: canonical links, cut texts, flags."""
    resolve = Resolver(url)
    if found.base is not None:
        base = parse(resolve(found.base))
        if isinstance(base, Address):
            resolve = Resolver(base.href)
    page.language = squeezed(found.language)[:64]
    title = squeezed(found.title or "")
    if len(title) > TITLE_AT_MOST:
        title = title[:TITLE_AT_MOST]
        page.flags.append("title_cut")
    page.title = title
    page.headings = "\n".join(all_squeezed(found.headings))
    page.canonical = resolve(found.canonical.strip()) if found.canonical else ""
    if len(found.links) > LINKS_AT_MOST:
        page.flags.append("links_cut")
        del found.links[LINKS_AT_MOST:]
    page.links = _links(found.links, resolve, page.charset)
    page.metas = _cut_metas(found.metas, page)
    obey_robots(found.robots, page)


def _links(found: list[tuple[str, str, bool]], resolve: Resolver, name: str) -> list[Link]:
    hrefs = [href for href, _, _ in found]
    if name not in _UNICODE:
        hrefs = [charset.query_bytes(href, name) for href in hrefs]
    anchors = all_squeezed([anchor for _, anchor, _ in found])
    if max(map(len, anchors), default=0) > _ANCHOR_AT_MOST:
        anchors = [anchor[:_ANCHOR_AT_MOST] for anchor in anchors]
    nofollows = [nofollow for _, _, nofollow in found]
    return list(map(_link, zip(packable(resolve.many(hrefs)), anchors, nofollows, strict=True)))


def _cut_metas(metas: list[tuple[str, str]], page: Extracted) -> list[tuple[str, str]]:
    stored = [(squeezed(name), squeezed(content)) for name, content in metas[:METAS_AT_MOST]]
    too_long = any(len(name) > META_NAME_AT_MOST or len(content) > META_CONTENT_AT_MOST for name, content in stored)
    if too_long or len(metas) > METAS_AT_MOST:
        page.flags.append("metas_cut")
        stored = [(name[:META_NAME_AT_MOST], content[:META_CONTENT_AT_MOST]) for name, content in stored]
    return stored


def obey_robots(directives: list[str], page: Extracted) -> None:
    """Page-level robots words, from meta tags or X-Robots-Tag headers; a line for another robot is not for us."""
    for text in directives:
        agent, colon, rest = text.lower().partition(":")
        if colon and "," not in agent and agent.strip() not in _WORDS_WITH_VALUES:
            text = rest if agent.strip() == USER_AGENT.lower() else ""
        words = {word.strip() for word in text.lower().split(",")}
        page.nofollow = page.nofollow or not words.isdisjoint({"nofollow", "none"})
        page.noindex = page.noindex or not words.isdisjoint({"noindex", "none"})
