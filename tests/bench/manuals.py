"""Owns: judged sets made by the authors of real manuals: what their printed index says, and the page it points to.

A question is an entry of the index in its own words; right answers are the pages the entry links to. The index
pages themselves are left out of the crawl. Does not: search. Called by: relevance.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import html
from lxml.html import HtmlElement

DOC = Path(os.environ.get("DOC_FOLDER", "/usr/share/doc"))  # elsewhere: packages unpacked, not installed


@dataclass(frozen=True, slots=True)
class Manual:
    """A documentation package of Debian, its index, and what is not crawled."""

    name: str
    package: str
    folder: Path
    kind: str  # who wrote the index: sphinx or docbook
    index: tuple[str, ...]
    start: str = "index.html"

    @property
    def left_out(self) -> tuple[str, ...]:
        return (*self.index, "contents.html", "py-modindex.html", "search.html", "_sources/*")


MANUALS = {
    "python": Manual("python", "python3.11-doc", DOC / "python3.11/html", "sphinx", ("genindex*",)),
    "postgresql": Manual(
        "postgresql", "postgresql-doc-15", DOC / "postgresql-doc-15/html", "docbook", ("bookindex.html",)
    ),
    "django": Manual("django", "python-django-doc", DOC / "python-django-doc/html", "sphinx", ("genindex*",)),
}


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    pages: frozenset[str]  # paths from the folder of the manual


def questions(manual: Manual) -> list[Question]:
    """The entries of the manual's index, each text once, with every page any of its links names."""
    read = _sphinx if manual.kind == "sphinx" else _docbook
    answers: dict[str, set[str]] = {}
    for text, href in read(manual):
        page = href.partition("#")[0]
        if (manual.folder / page).is_file() and re.search(r"\w", text):
            answers.setdefault(text, set()).add(page)
    return [Question(text, frozenset(pages)) for text, pages in answers.items()]


def _trees(manual: Manual) -> Iterator[HtmlElement]:
    files = sorted({file for pattern in manual.index for file in manual.folder.glob(pattern) if file.suffix == ".html"})
    whole = [file for file in files if file.stem == "genindex-all"]
    for file in whole or files:
        yield html.fromstring(file.read_bytes())


def _sphinx(manual: Manual) -> Iterator[tuple[str, str]]:
    """An entry is a list item; a sub-entry is asked for together with the entry above it."""
    for tree in _trees(manual):
        for item in tree.xpath(".//table[starts-with(@class,'indextable')]//td/ul/li"):
            yield from _sphinx_item(item, "")


def _sphinx_item(item: HtmlElement, above: str) -> Iterator[tuple[str, str]]:
    own = next((link.text_content() for link in item.iterfind("a")), item.text or "")
    if own.startswith("("):  # another owner of the same name, not more of it
        above = above.partition(" (")[0]
    text = " ".join(f"{above} {own}".split())
    yield from ((text, link.get("href", "")) for link in item.iterfind("a"))
    for below in item.iterfind("ul/li"):
        yield from _sphinx_item(below, text)


def _docbook(manual: Manual) -> Iterator[tuple[str, str]]:
    """A term is the text before its links (the links are titles of sections: they would give the answer away)."""
    for tree in _trees(manual):
        for listing in tree.iterfind(".//div[@class='indexdiv']/dl"):
            yield from _docbook_list(listing, "")


def _docbook_list(listing: HtmlElement, above: str) -> Iterator[tuple[str, str]]:
    text = above
    for child in listing:
        if child.tag == "dt":
            text = " ".join(f"{above} {(child.text or '').strip().rstrip(',')}".split())
            yield from ((text, link.get("href", "")) for link in child.iterfind("a[@class='indexterm']"))
        elif child.tag == "dd":
            for below in child.iterfind("dl"):
                yield from _docbook_list(below, text)
