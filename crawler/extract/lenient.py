"""HTML without a tree, for the pages libxml2 cannot take: links and text are found at any depth."""

from .found import HEADINGS, Found, is_nofollow, note_link, note_meta
from .scanner import Token, tokens

_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip


class Reader:
    """Gathers from one token after another."""

    def __init__(self) -> None:
        self.found = Found()
        self._text: list[str] = []
        self._title: list[str] | None = None
        self._heading: tuple[str, int] | None = None  # the open heading, and where its text begins
        self._link: tuple[str, bool, int] | None = None  # the open link: address, nofollow, where its text begins

    def read(self, page: str) -> tuple[Found, str]:
        """What the page holds, and its text."""
        for token in tokens(page):
            if token.kind == "text":
                self._take(token.name)
            elif token.kind == "start":
                self._start(token)
            else:
                self._end(token.name)
        self._end_link()
        return self.found, " ".join("".join(self._text).split())

    def _take(self, text: str) -> None:
        if self._title is not None:
            self._title.append(text)
        else:
            self._text.append(text)

    def _start(self, token: Token) -> None:
        tag, get = token.name, token.attributes.get
        if tag not in _INLINE:
            self._text.append(" ")
        if tag == "a":
            self._end_link()
            href = get("href")
            if href is not None:
                self._link = (href, is_nofollow(get), len(self._text))
        elif tag == "meta":
            note_meta(get, self.found)
        elif tag in HEADINGS:
            self._heading = (tag, len(self._text))
        elif tag == "title" and self.found.title is None:
            self._title = []
        elif tag == "base" and self.found.base is None:
            self.found.base = get("href")
        elif tag == "html" and not self.found.language:
            self.found.language = get("lang") or ""
        elif tag in ("link", "area", "frame", "iframe"):
            note_link(tag, get, self.found)

    def _end(self, tag: str) -> None:
        if tag not in _INLINE:
            self._text.append(" ")
        if tag == "a":
            self._end_link()
        elif tag == "title" and self._title is not None:
            self.found.title, self._title = "".join(self._title), None
        elif self._heading is not None and tag in HEADINGS:
            self.found.headings.append("".join(self._text[self._heading[1] :]))
            self._heading = None

    def _end_link(self) -> None:
        if self._link is not None:
            href, nofollow, begin = self._link
            self.found.links.append((href, "".join(self._text[begin:]), nofollow))
            self._link = None
