"""HTML of any length, from libxml2's tree: for pages that are too long for lexbor, or would make it build too much."""

from typing import Any

from lxml import etree

from .elements import (
    HEADINGS,
    LEADING,
    SEPARATE,
    SILENT,
    Budget,
    PageElements,
    address_of,
    is_nofollow,
    note_link,
    note_meta,
)

_DEPTH_OF_LIBXML2 = 2_048
NODES_AT_MOST = 500_000  # elements and attributes in a tree, each of which may take 300 bytes
_LONG_PAGE, _LONG_TAG, _MANY_ATTRIBUTES = 64_000, 16_000, 2_000
_READ = ("base", "meta", "noframes", "title", *LEADING, *sorted(HEADINGS))
_TITLES_AT_MOST = 50  # looked at for one that belongs to no drawing


def _parser() -> Any:
    return etree.HTMLParser(encoding="utf-8", huge_tree=True, remove_comments=True, remove_pis=True)


_PARSER: Any = _parser()
# Written in XSLT because that runs in C.
_TEXT: Any = etree.XSLT(
    etree.XML(
        f"""<xsl:stylesheet version="1.0" xmlns:xsl="http://www.w3.org/1999/XSL/Transform">
<xsl:output method="text" encoding="utf-8"/>
<xsl:template match="/"><xsl:variable name="all"><xsl:apply-templates/></xsl:variable>
<xsl:value-of select="normalize-space($all)"/></xsl:template>
<xsl:template match="{"|".join(sorted(SILENT))}"/>
<xsl:template match="{"|".join(sorted(SEPARATE))}">
<xsl:text> </xsl:text><xsl:apply-templates/><xsl:text> </xsl:text></xsl:template>
</xsl:stylesheet>"""
    )
)
# In C: where a thousand links stand in each other, Python would look at every node a thousand times.
_STRING = etree.XPath("string()", smart_strings=False)


def read(data: bytes) -> tuple[PageElements, str] | None:
    """What the page holds, and its text with blocks kept apart; None for what is too deep for libxml2."""
    root, gave_up = _tree(data)
    if gave_up:
        return None
    if root is None:
        return PageElements(), ""
    if b"<template" in data:
        etree.strip_elements(root, "template", with_tail=False)
    return _gather(root, Budget(data), b"nofollow" in data.lower()), str(_TEXT(root))


def suits(data: bytes) -> bool:
    """Whether the tree is of bounded size and made in bounded time."""
    return nodes_in(data) <= NODES_AT_MOST and not has_monster_tag(data)


def nodes_in(data: bytes) -> int:
    """At most so many nodes would libxml2 make of this markup; 0 for what is too short to be dangerous."""
    return data.count(b"<") + data.count(b"=") if len(data) > NODES_AT_MOST else 0


def has_monster_tag(data: bytes) -> bool:
    """Is there a tag with thousands of attributes? Only long pages and long tags are looked at."""
    if len(data) < _LONG_PAGE:
        return False
    for piece in data.split(b">"):
        if len(piece) > _LONG_TAG and len(piece[piece.rfind(b"<") :].split(None, _MANY_ATTRIBUTES)) > _MANY_ATTRIBUTES:
            return True
    return False


def _tree(data: bytes) -> tuple[Any, bool]:
    """libxml2's tree, None for a page without an element; and whether libxml2 gave the page up for being too deep."""
    if data.count(b"<") < _DEPTH_OF_LIBXML2:
        return etree.fromstring(data, _PARSER), False
    parser = _parser()  # one of its own, for its error log
    root = etree.fromstring(data, parser)
    problem = parser.error_log.last_error
    gave_up = problem is not None and problem.type_name == "ERR_RESOURCE_LIMIT"
    return (None, True) if gave_up else (root, False)


def _gather(root: Any, budget: Budget, has_nofollow: bool) -> PageElements:
    found, titles = PageElements(language=root.get("lang") or root.get("xml:lang") or ""), 0
    for element in root.iter(*_READ):
        tag = element.tag
        if tag == "meta":
            note_meta(element.get, found)
        elif tag in HEADINGS:
            found.headings.append(_words(element, budget))
        elif tag == "title":
            titles += 1
            if found.title is None and titles <= _TITLES_AT_MOST and next(element.iterancestors("svg"), None) is None:
                found.title = "".join(element.itertext())
        elif tag == "noframes":
            found.unframed.append(_words(element, budget))
        elif tag == "base":
            if found.base is None:
                found.base = element.get("href")
        else:
            note_link(tag, element.get, found)
    links = found.links
    for element in root.iter("a"):  # apart from the others, because there are so many
        href = address_of(element.get)
        if href is not None:
            links.append((href, _words(element, budget), has_nofollow and is_nofollow(element.get)))
    return found


def _words(element: Any, budget: Budget) -> str:
    if not len(element):
        return element.text or ""
    if budget.left <= 0:
        return ""
    text = str(_STRING(element))
    budget.left -= len(text)
    return text
