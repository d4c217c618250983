"""What is gathered on the way through a page, and how its elements are read: the same for all readers of HTML."""

from collections.abc import Callable
from dataclasses import dataclass, field

from .meta_refresh import parse_refresh

Get = Callable[[str], str | None]  # an element's attributes, by name

HEADINGS = frozenset({"h1", "h2", "h3", "h4", "h5", "h6", "dt"})  # a term that is defined heads what follows it
# Blocks: the words before, in and after them must not grow together. And what holds no words of the page.
SEPARATE = frozenset({
    "address", "article", "aside", "blockquote", "br", "button", "caption", "center", "dd", "details", "dialog", "dir",
    "div", "dl", "dt", "fieldset", "figcaption", "figure", "footer", "form", "frame", "frameset", "h1", "h2", "h3",
    "h4", "h5", "h6", "header", "hr", "iframe", "img", "input", "label", "legend", "li", "main", "map", "menu", "nav",
    "noscript", "ol", "option", "p", "pre", "search", "section", "select", "summary", "table", "tbody", "td",
    "textarea", "tfoot", "th", "thead", "tr", "ul", "video", "audio",
})  # fmt: skip
SILENT = frozenset({"script", "style", "template", "title", "noframes"})
_RELATIONS = frozenset({"next", "alternate", "canonical"})  # of link elements, those that lead to pages
_ROBOTS = ("robots", "clearinghousewebcrawl")
LEADING = ("area", "embed", "frame", "iframe", "link", "object")  # to pages, beside <a>
_SHOWN = ("image/", "video/", "audio/", "application/x-shockwave-flash", "application/x-java")  # embedded, but no page


@dataclass(slots=True)
class PageElements:
    title: str | None = None
    base: str | None = None
    metas: list[tuple[str, str]] = field(default_factory=list)
    headings: list[str] = field(default_factory=list)
    links: list[tuple[str, str, bool]] = field(default_factory=list)  # address as written, anchor text, nofollow
    canonical: str = ""
    robots: list[str] = field(default_factory=list)
    language: str = ""
    unframed: list[str] = field(default_factory=list)  # markup for readers without frames, which a tree holds as text


def address_of(get: Get) -> str | None:
    """Where an <a> leads; in a drawing it may say so in the way of XLink."""
    href = get("href")
    return get("xlink:href") if href is None else href


def is_nofollow(get: Get) -> bool:
    relation = get("rel")
    return relation is not None and "nofollow" in relation.lower().split()


def note_meta(get: Get, found: PageElements) -> None:
    content, equivalent = get("content"), get("http-equiv")
    name = get("name") or get("property") or get("itemprop") or equivalent
    if name is None or content is None:
        return
    found.metas.append((name, content))
    if equivalent is not None and equivalent.strip().lower() == "refresh":
        refresh = parse_refresh(content)
        if refresh is not None and refresh[1].strip():
            found.links.append((refresh[1], "", False))
    elif name.strip().lower() in _ROBOTS:
        found.robots.append(content)


def note_link(tag: str, get: Get, found: PageElements) -> None:
    """An element other than <a> that leads to a page."""
    if tag == "link":
        _note_relation(get, found)
    elif tag == "area":
        href = get("href")
        if href is not None:
            found.links.append((href, get("alt") or "", is_nofollow(get)))
    elif not (get("type") or "").strip().lower().startswith(_SHOWN):
        source = get("data" if tag == "object" else "src")
        if source and source.strip():
            found.links.append((source, get("title") or get("name") or "", False))


def _note_relation(get: Get, found: PageElements) -> None:
    href, relations = get("href"), (get("rel") or "").lower().split()
    if href is None or _RELATIONS.isdisjoint(relations) or "stylesheet" in relations:
        return
    if "canonical" in relations and not found.canonical:
        found.canonical = href
    found.links.append((href, get("title") or "", "nofollow" in relations))


class Budget:
    """How much text of headings and links is copied, a multiple of the page: where each of a thousand holds all the
    others, copying their text a thousand times would take minutes and gigabytes."""

    __slots__ = ("left",)

    def __init__(self, page: bytes) -> None:
        self.left = 4 * len(page) + 50_000
