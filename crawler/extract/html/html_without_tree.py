"""HTML without a tree, for the pages libxml2 cannot take: links and text are found at any depth."""

from .elements import HEADINGS, LEADING, PageElements, address_of, is_nofollow, note_link, note_meta
from .tag_scanner import Token, tokens

_INLINE = frozenset({
    "a", "abbr", "acronym", "b", "bdi", "bdo", "big", "cite", "code", "data", "del", "dfn", "em", "font", "i", "ins",
    "kbd", "mark", "q", "s", "samp", "small", "span", "strike", "strong", "sub", "sup", "time", "tt", "u", "var", "wbr",
})  # fmt: skip


class TokenReader:
    """Gathers from one token after another."""

    def __init__(self) -> None:
        self.found = PageElements()
        self._text: list[str] = []
        self._title: list[str] | None = None
        self._drawings = 0  # that are open: a title in one is not the page's
        self._unframed: tuple[int, int] | None = None  # of an open <noframes>: texts and headings before it
        self._heading: tuple[str, int] | None = None  # the open heading, and where its text begins
        self._link: tuple[str, bool, int] | None = None  # the open link: address, nofollow, where its text begins

    def read(self, page: str) -> tuple[PageElements, str]:
        """What the page holds, and its text."""
        for token in tokens(page):
            if token.kind == "text":
                self._take(token.name)
            elif token.kind == "start":
                self._start(token)
            else:
                self._end(token.name)
        self._end_link()
        self._end_unframed()
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
            href = address_of(get)
            if href is not None:
                self._link = (href, is_nofollow(get), len(self._text))
        elif tag == "meta":
            note_meta(get, self.found)
        elif tag in HEADINGS:
            self._heading = (tag, len(self._text))
        elif tag == "title":
            self._title = []
        elif tag == "svg":
            self._drawings += 1
        elif tag == "noframes" and self._unframed is None:
            self._end_link()
            self._unframed = len(self._text), len(self.found.headings)
        elif tag == "base" and self.found.base is None:
            self.found.base = get("href")
        elif tag == "html" and not self.found.language:
            self.found.language = get("lang") or ""
        elif tag in LEADING:
            note_link(tag, get, self.found)

    def _end(self, tag: str) -> None:
        if tag not in _INLINE:
            self._text.append(" ")
        if tag == "a":
            self._end_link()
        elif tag == "title" and self._title is not None:
            if self.found.title is None and not self._drawings:
                self.found.title = "".join(self._title)
            self._title = None
        elif tag == "svg":
            self._drawings = max(0, self._drawings - 1)
        elif tag == "noframes":
            self._end_unframed()
        elif self._heading is not None and tag in HEADINGS:
            self.found.headings.append("".join(self._text[self._heading[1] :]))
            self._heading = None

    def _end_unframed(self) -> None:
        """What stood in <noframes> is no text of the page, but its links lead on."""
        if self._unframed is not None:
            self._end_link()
            text, headings = self._unframed
            del self._text[text:], self.found.headings[headings:]
            self._heading, self._unframed = None, None

    def _end_link(self) -> None:
        if self._link is not None:
            href, nofollow, begin = self._link
            self.found.links.append((href, "".join(self._text[begin:]), nofollow))
            self._link = None
