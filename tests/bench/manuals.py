"""Owns: judged sets over real manuals: what their printed index says and the page it points to, and questions in
people's words with the pages that answer them (questions/MANUAL.tuned.txt, questions/MANUAL.held.txt).

Sets that are held back were chosen before anything was tuned, and nothing is ever tuned on them. The index pages
themselves are left out of the crawl. Does not: search. Called by: relevance, search.
"""

import os
import re
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

from lxml import html
from lxml.html import HtmlElement

DOC = Path(os.environ.get("DOC_FOLDER", "/usr/share/doc"))  # elsewhere: packages unpacked, not installed
QUESTIONS = Path(__file__).parent / "questions"
TUNED, HELD = "tuned on", "held back"


@dataclass(frozen=True, slots=True)
class Manual:
    """A documentation package of Debian, its index, and what is not crawled."""

    name: str
    package: str
    folder: Path
    kind: str  # how its index is written: sphinx, docbook, keywords; empty: it has none
    index: tuple[str, ...]
    tuned: bool = False  # on the entries of its index
    start: str = "index.html"

    @property
    def left_out(self) -> tuple[str, ...]:
        return (*self.index, "contents.html", "py-modindex.html", "search.html", "_sources/*")


MANUALS = {
    one.name: one
    for one in (
        Manual("python", "python3.11-doc", DOC / "python3.11/html", "sphinx", ("genindex*",), tuned=True),
        Manual("postgresql", "postgresql-doc-15", DOC / "postgresql-doc-15/html", "docbook", ("bookindex.html",)),
        Manual("django", "python-django-doc", DOC / "python-django-doc/html", "sphinx", ("genindex*",)),
        Manual("sqlite", "sqlite3-doc", DOC / "sqlite3", "keywords", ("keyword_index.html", "doc_*"), tuned=True),
        Manual("git", "git-doc", DOC / "git-doc", "", ()),
    )
}
SENTENCES = ("python", "postgresql", "django")  # of which the pages of search are made, since its first figures


@dataclass(frozen=True, slots=True)
class Question:
    text: str
    pages: frozenset[str]  # paths from the folder of the manual


def judged(manual: Manual) -> dict[str, list[Question]]:
    """Every set of a manual by what it is called."""
    sets = {f"index entries, {TUNED if manual.tuned else HELD}": entries(manual)} if manual.kind else {}
    for part, told in (("tuned", TUNED), ("held", HELD)):
        file = QUESTIONS / f"{manual.name}.{part}.txt"
        if file.exists():
            sets[f"questions, {told}"] = [question(line) for line in file.read_text().splitlines()]
    return sets


def question(line: str) -> Question:
    """How do I …? -> page.html another.html"""
    text, arrow, pages = line.partition(" -> ")
    if not text or not arrow or not pages.split():
        raise ValueError(f"not a question with its pages: {line}")
    return Question(text, frozenset(pages.split()))


def entries(manual: Manual) -> list[Question]:
    """The entries of the manual's index, each text once, with every page any of its links names."""
    answers: dict[str, set[str]] = {}
    for text, href in _ENTRIES[manual.kind](manual):
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


def _keywords(manual: Manual) -> Iterator[tuple[str, str]]:
    """A list of links, each named by its keyword; those named by an address ask for nothing in words."""
    for tree in _trees(manual):
        links = [(link.text_content(), link.get("href", "")) for link in tree.iterfind(".//li/a")]
        yield from ((text, href) for text, href in links if ".html" not in text)


_ENTRIES = {"sphinx": _sphinx, "docbook": _docbook, "keywords": _keywords, "": lambda manual: ()}
