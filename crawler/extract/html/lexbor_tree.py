"""HTML of ordinary size, in the tree the HTML standard itself describes: lexbor, at two thirds of the cost of libxml2.

A few short pages make that algorithm build a huge tree. They are known by their bytes (see suits) and left to libxml2,
as long pages are. Measured: the two gave the same for each of 3,312 pages of documentation.
"""

import re

from selectolax.lexbor import LexborDocumentOptions, LexborHTMLParser, LexborNode

from .elements import (  # fmt: skip
    HEADINGS,
    LEADING,
    SEPARATE,
    SILENT,
    Budget,
    Get,
    PageElements,
    is_nofollow,
    note_link,
    note_meta,
)

_BYTES_AT_MOST, _TAGS_AT_MOST = 500_000, 4_096
_DRAWN_AT_MOST = 500  # titles in drawings that are told from the page's
_COPIED_AT_MOST = 6_000_000  # bytes of tags; each may take 35 in memory
# Elements that are open when their paragraph ends are made again in every later one, with all their attributes.
_MADE_AGAIN = re.compile(
    rb"""<(?=[bceifnstu])(?:b|big|code|em|font|i|nobr|s|small|strike|strong|tt|u)(?=[\s/>])"""
    rb"""((?:[^>"']+|"[^"]*"|'[^']*')*)(>?)""",
    re.IGNORECASE,
)
_OPTIONS = int(LexborDocumentOptions.WO_EVENTS)


def _numbers(names: frozenset[str]) -> dict[int, str]:
    """Names of elements by lexbor's numbers for them, which cost half as much to ask for."""
    tree = LexborHTMLParser("")
    return {tree.create_node(name).tag_id: name for name in names}


_READ = _numbers(HEADINGS | {"html", "meta", "base", "svg", *LEADING})
_STANDING = _numbers(SEPARATE | {"html", "head", "body"})
_SILENT = _numbers(SILENT)
_LINK, _DRAWING, _UNFRAMED = (next(iter(_numbers(frozenset({name})))) for name in ("a", "svg", "noframes"))


def suits(data: bytes) -> bool:
    """Whether the tree of this page cannot become large out of proportion."""
    if len(data) > _BYTES_AT_MOST:
        return False
    tags = data.count(b"<")
    if tags >= _TAGS_AT_MOST or tags * len(data) <= _COPIED_AT_MOST:
        return tags < _TAGS_AT_MOST
    copied = _MADE_AGAIN.findall(data)
    whole = all(end for _, end in copied)  # a tag whose end is not where it seems cannot be judged
    return whole and tags * sum(len(tag) + len("<strong>") for tag, _ in copied) <= _COPIED_AT_MOST


def read(data: bytes) -> tuple[PageElements, str] | None:
    """What the page holds, and its text with blocks kept apart; None for framesets, whose tree leaves out the rest."""
    tree = LexborHTMLParser(data, options=_OPTIONS)
    root = tree.root
    if root is None or any(child.tag == "frameset" for child in root.iter()):
        return None
    found, budget = PageElements(), Budget(data)
    drawn: set[int] = set()  # titles in drawings: they say what a part of the drawing is
    anchors = []
    for node in list(root.traverse()):
        number = node.tag_id
        if number == _LINK:
            attributes = node.attributes
            written = "href" if "href" in attributes else "xlink:href"
            if written in attributes:
                nofollow = "rel" in attributes and is_nofollow(attributes.get)
                text = node.text_lexbor() if budget.left > 0 else ""
                budget.left -= len(text)
                anchors.append((attributes[written] or "", text, nofollow))
            node.unwrap(True)
        elif number in _SILENT:
            if found.title is None and _SILENT[number] == "title" and node.mem_id not in drawn:
                found.title = node.text_lexbor()
            elif number == _UNFRAMED:
                found.unframed.append(node.text_lexbor())
            node.decompose()
        else:
            if number in _READ:
                _note(_READ[number], node, budget, found)
                if number == _DRAWING and found.title is None and len(drawn) < _DRAWN_AT_MOST:
                    drawn.update(title.mem_id for title in node.css("title"))
            if number not in _STANDING:
                node.unwrap(True)  # what is no block stands in the words of others
    found.links += anchors
    tree.merge_text_nodes()
    return found, root.text(separator=" ", skip_empty=True)


def _note(tag: str, node: LexborNode, budget: Budget, found: PageElements) -> None:
    if tag in HEADINGS:
        found.headings.append(_words(node, budget))
        return
    get = _attributes(node)
    if tag == "meta":
        note_meta(get, found)
    elif tag == "html":
        found.language = get("lang") or get("xml:lang") or ""
    elif tag == "base":
        if found.base is None:
            found.base = get("href")
    elif tag != "svg":
        note_link(tag, get, found)


def _attributes(node: LexborNode) -> Get:
    return {name: value or "" for name, value in node.attributes.items()}.get


def _words(node: LexborNode, budget: Budget) -> str:
    if budget.left <= 0:
        return ""
    text = node.text_lexbor()
    budget.left -= len(text)
    return text
