"""A plain reader of HTML for pages that libxml2 cannot take: nested deeper than its limit, or a tag of thousands
of attributes (which costs it quadratic time). Builds no tree; its cost is linear whatever the page is.

Yields what a reader of pages needs: start tags with attributes, end tags and text, in the tokenizer's order.
"""

import re
from collections.abc import Generator, Iterator
from html import unescape
from typing import NamedTuple

ATTRIBUTES_AT_MOST = 500
_NAME = re.compile(r"[A-Za-z][^\s/>]*")
_ALWAYS = {"href", "xlink:href", "src", "data", "rel", "content"}
_BETWEEN = re.compile(r"[\s/]*")
_ATTRIBUTE = re.compile(r"""([^\s/>][^\s/>=]*)(?:\s*=\s*(?:"([^"]*)"|'([^']*)'|([^\s>"'][^\s>]*)))?""")
_OPEN_QUOTE = re.compile(r"""\s*=\s*["']""")
_RAW = {"script", "style", "textarea", "title", "xmp", "iframe", "noembed", "template"}


class Token(NamedTuple):
    kind: str  # start, end, text
    name: str  # of the tag, in lower case; the text itself for text
    attributes: dict[str, str]


_NONE: dict[str, str] = {}


def tokens(page: str) -> Iterator[Token]:
    """The tokens of a page; what stands in comments, scripts, styles and templates is left out."""
    position, size = 0, len(page)
    while position < size:
        opening = page.find("<", position)
        if opening < 0:
            opening = size
        if opening > position:
            yield Token("text", unescape(page[position:opening]), _NONE)
        if opening == size:
            return
        position = yield from _markup(page, opening)


def _markup(page: str, opening: int) -> Generator[Token, None, int]:
    """One tag or comment; returns the position behind it."""
    following = page[opening + 1 : opening + 2]
    if following in ("!", "?"):
        ending = "-->" if page.startswith("<!--", opening) else ">"
        return _behind(page, ending, opening + 2)
    closes = following == "/"
    name = _NAME.match(page, opening + 1 + closes)
    if name is None:
        if closes:
            return _behind(page, ">", opening + 2)
        yield Token("text", "<", _NONE)
        return opening + 1
    end, attributes = _attributes(page, name.end())
    tag = name[0].lower()
    if end < 0:
        return len(page)
    yield Token("end" if closes else "start", tag, attributes)
    if not closes and tag in _RAW:
        end = yield from _raw(page, tag, end)
    return end


def _attributes(page: str, position: int) -> tuple[int, dict[str, str]]:
    """The attributes from here on, and the position behind the tag; -1 when the page ends inside it."""
    found: dict[str, str] = {}
    while (position := _skipped(page, position)) < len(page) and page[position] != ">":
        match = _ATTRIBUTE.match(page, position)
        if match is None or (match.lastindex == 1 and _OPEN_QUOTE.match(page, match.end())):
            return -1, found  # a quote that nobody closes swallows the rest
        if len(found) < ATTRIBUTES_AT_MOST or match[1].lower() in _ALWAYS:
            found.setdefault(match[1].lower(), unescape(match[2] or match[3] or match[4] or ""))
        position = match.end()
    return (position + 1 if position < len(page) else -1), found


def _skipped(page: str, position: int) -> int:
    between = _BETWEEN.match(page, position)
    return between.end() if between else position


def _raw(page: str, tag: str, position: int) -> Generator[Token, None, int]:
    """The contents of an element that holds no markup; only a title's are of interest."""
    ending = re.compile(rf"</{tag}(?=[\s/>])", re.IGNORECASE).search(page, position)
    end = ending.start() if ending else len(page)
    if tag in ("title", "textarea"):
        yield Token("text", unescape(page[position:end]), _NONE)
    return end


def _behind(page: str, ending: str, position: int) -> int:
    found = page.find(ending, position)
    return len(page) if found < 0 else found + len(ending)
