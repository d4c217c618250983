"""HTML: title, meta tags, headings, links and text of a page, from libxml2's tree."""

from functools import partial
from typing import Any

from lxml import etree

from clearinghouse.addresses import Address
from clearinghouse.addresses.parse import Resolver, parse
from crawler.values import USER_AGENT, Extracted, Link

from . import charset, lenient
from .found import HEADINGS, Found, is_nofollow, note_link, note_meta
from .links import packable
from .text import keep_text, squeezed

LINKS_AT_MOST = 100_000
METAS_AT_MOST = 200
TITLE_AT_MOST, META_NAME_AT_MOST, META_CONTENT_AT_MOST = 255, 512, 8_000
_ANCHOR_AT_MOST = 1_000
_DEPTH_OF_LIBXML2 = 2_048
NODES_AT_MOST = 500_000  # elements and attributes in a tree, each of which may take 300 bytes
_LONG_PAGE, _LONG_TAG, _MANY_ATTRIBUTES = 64_000, 16_000, 2_000
_WORDS_WITH_VALUES = {"unavailable_after", "max-snippet", "max-image-preview", "max-video-preview"}
_UNICODE = {"utf-8", "utf-16le", "utf-16be"}
_READ = ("area", "base", "link", "meta", "title", "frame", "iframe", *sorted(HEADINGS))
_SEPARATE = (
    "address|article|aside|blockquote|br|button|caption|center|dd|details|dialog|dir|div|dl|dt|fieldset|figcaption|"
    "figure|footer|form|frame|frameset|h1|h2|h3|h4|h5|h6|header|hr|iframe|img|input|label|legend|li|main|map|menu|nav|noscript|"
    "ol|option|p|pre|search|section|select|summary|table|tbody|td|textarea|tfoot|th|thead|tr|ul|video|audio"
)
_link: Any = partial(tuple.__new__, Link)  # half the cost of Link(...), and there are millions


def _parser() -> Any:
    return etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)


_PARSER: Any = _parser()
# Written in XSLT because that runs in C: the words of neighbouring blocks must not grow together.
_TEXT: Any = etree.XSLT(
    etree.XML(
        f"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text" encoding="utf-8"/>
<xsl:template match="/"><xsl:variable name="all"><xsl:apply-templates/></xsl:variable>
<xsl:value-of select="normalize-space($all)"/></xsl:template>
<xsl:template match="script|style|template|title|noframes"/>
<xsl:template match="{_SEPARATE}"><xsl:text> </xsl:text><xsl:apply-templates/><xsl:text> </xsl:text></xsl:template>
</xsl:stylesheet>"""
    )
)


def read_html(body: bytes, url: str, declared_charset: str, page: Extracted) -> Extracted:
    """Fill `page` from the bytes of an HTML page that was found at `url`."""
    data, page.charset = charset.as_utf8(body, declared_charset)
    if b"\0" in data:
        data = data.replace(b"\0", b"")
    if not data or data.isspace():
        return page
    hard = _has_monster_tag(data)
    root = None
    if not hard and nodes_in(data) <= NODES_AT_MOST:
        root, hard = _tree(data)
    if hard:
        page.flags.append("deep")
    if root is None:
        found, text = lenient.Reader().read(data.decode())
    else:
        if b"<template" in data:
            etree.strip_elements(root, "template", with_tail=False)
        found = _gather(root, _Words(4 * len(data) + 50_000), b"nofollow" in data.lower())
        text = text_of(root)
    keep_text(text, page)
    _settle(found, url, page)
    return page


def _tree(data: bytes) -> tuple[Any, bool]:
    """libxml2's tree, None for a page without an element; and whether libxml2 gave the page up for being too deep."""
    if data.count(b"<") < _DEPTH_OF_LIBXML2:
        return etree.fromstring(data, _PARSER), False
    parser = _parser()  # one of its own, for its error log
    root = etree.fromstring(data, parser)
    problem = parser.error_log.last_error
    gave_up = problem is not None and problem.type_name == "ERR_RESOURCE_LIMIT"
    return (None, True) if gave_up else (root, False)


def nodes_in(data: bytes) -> int:
    """At most so many nodes would libxml2 make of this markup; 0 for what is too short to be dangerous."""
    return data.count(b"<") + data.count(b"=") if len(data) > NODES_AT_MOST else 0


def _has_monster_tag(data: bytes) -> bool:
    """Is there a tag with thousands of attributes? Only long pages and long tags are looked at."""
    if len(data) < _LONG_PAGE:
        return False
    for piece in data.split(b">"):
        if len(piece) > _LONG_TAG and len(piece[piece.rfind(b"<") :].split(None, _MANY_ATTRIBUTES)) > _MANY_ATTRIBUTES:
            return True
    return False


def text_of(root: Any) -> str:
    """The words of a tree, blocks kept apart."""
    text = str(_TEXT(root))
    return text if text.isascii() else " ".join(text.split())


def _gather(root: Any, words: "_Words", has_nofollow: bool) -> Found:
    found = Found(language=root.get("lang") or root.get("xml:lang") or "")
    for element in root.iter(*_READ):
        tag = element.tag
        if tag == "meta":
            note_meta(element.get, found)
        elif tag in HEADINGS:
            found.headings.append(words.of(element))
        elif tag == "title":
            if found.title is None:
                found.title = "".join(element.itertext())
        elif tag == "base":
            if found.base is None:
                found.base = element.get("href")
        else:
            note_link(tag, element.get, found)
    links = found.links
    for element in root.iter("a"):  # apart from the others, because there are so many
        href = element.get("href")
        if href is not None:
            links.append((href, words.of(element), has_nofollow and is_nofollow(element.get)))
    return found


class _Words:
    """The words of headings and links, up to a multiple of the page: where each of a thousand holds all the others,
    copying their text a thousand times would take minutes and gigabytes."""

    def __init__(self, budget: int) -> None:
        self._left = budget

    def of(self, element: Any) -> str:
        if not len(element):
            return element.text or ""
        if self._left <= 0:
            return ""
        text = "".join(element.itertext())
        self._left -= len(text)
        return text


def _settle(found: Found, url: str, page: Extracted) -> None:
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
    page.headings = "\n".join(squeezed(heading) for heading in found.headings)
    page.canonical = resolve(found.canonical.strip()) if found.canonical else ""
    if len(found.links) > LINKS_AT_MOST:
        page.flags.append("links_cut")
        del found.links[LINKS_AT_MOST:]
    hrefs = [href for href, _, _ in found.links]
    if page.charset not in _UNICODE:
        hrefs = [charset.query_bytes(href, page.charset) for href in hrefs]
    addresses = packable(resolve.many(hrefs))
    page.links = [
        _link((address, " ".join(anchor.split())[:_ANCHOR_AT_MOST], nofollow))
        for address, (_, anchor, nofollow) in zip(addresses, found.links, strict=True)
    ]
    page.metas = _cut_metas(found.metas, page)
    obey_robots(found.robots, page)


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
