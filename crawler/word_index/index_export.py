"""Owns: the word index of a generation as one text file, in the tables and formats of the seed's indexer.

Each table is its heading, a line "key TAB value" for each row, and an empty line. Values with several parts are
written as the seed writes them: "2;5;" and "7 3;9 1;" (id and frequency). Times are in UTC; a page whose site
named no time has the seed's initial value, the beginning of 1970. Stopwords are left out.
Memory is bounded: what has to be turned round is sorted in parts on disk. Does not: choose the generation.
Called by: the command export_index.
"""

from collections.abc import Iterable, Iterator
from contextlib import ExitStack
from dataclasses import asdict, dataclass
from datetime import UTC, datetime
from heapq import merge
from itertools import groupby
from operator import itemgetter
from tempfile import TemporaryFile
from typing import IO

from clearinghouse.published.models import LexiconWord, PublishedDocument, PublishedVersion

from ..bulk_sql import chunks
from . import lexicon
from . import parents_children as links
from .indexed_page import shown
from .words_in_text import frequencies

IN_MEMORY = 300_000  # rows sorted at once, some 40 MB
_TEXTS = 8
_START = datetime(1970, 1, 1, tzinfo=UTC)
_DAYS = ("Mon", "Tue", "Wed", "Thu", "Fri", "Sat", "Sun")
_MONTHS = ("Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec")
_SPACES = str.maketrans("\t\r\n", "   ")

Three = tuple[int, int, int]


@dataclass(slots=True)
class Exported:
    """How much was written."""

    pages: int = 0
    words: int = 0
    links: int = 0
    postings: int = 0

    def to_json(self) -> dict[str, int]:
        return asdict(self)


class Turned:
    """Rows of three numbers, given in any order, given back in the order of the first two."""

    def __init__(self, stack: ExitStack) -> None:
        self._stack = stack
        self._rows: list[Three] = []
        self._parts: list[IO[str]] = []

    def add(self, row: Three) -> None:
        self._rows.append(row)
        if len(self._rows) >= IN_MEMORY:
            self._put_away()

    def _put_away(self) -> None:
        part = self._stack.enter_context(TemporaryFile("w+", encoding="ascii"))  # noqa: SIM115 - the stack closes it
        part.writelines(f"{first} {second} {third}\n" for first, second, third in sorted(self._rows))
        part.seek(0)
        self._parts.append(part)
        self._rows = []

    def rows(self) -> Iterator[Three]:
        return merge(sorted(self._rows), *map(_read, self._parts))


def export(alias: str, generation: int, file: IO[str]) -> Exported:
    """Writes everything; the words of the generation must be in the lexicon."""
    done = Exported()
    with ExitStack() as stack:
        _pages(alias, generation, file, done)
        _words(alias, file, done)
        _links(alias, generation, file, done, Turned(stack))
        _postings(alias, generation, file, done, Turned(stack))
    return done


def time_words(moment: datetime | None) -> str:
    """EEE MMM dd HH:mm:ss zzz yyyy, in English whatever the machine speaks."""
    at = (moment or _START).astimezone(UTC)
    return f"{_DAYS[at.weekday()]} {_MONTHS[at.month - 1]} {at:%d %H:%M:%S} UTC {at.year}"


def _pages(alias: str, generation: int, file: IO[str], done: Exported) -> None:
    rows = shown(alias, generation).order_by("pk")
    pairs = rows.values_list("page_id", "url")
    _table(file, "PageIDtoURL(PageID, URL)", ((number, url) for number, url in pairs.iterator()))
    _table(file, "URLtoPageID(URL, PageID)", ((url, number) for number, url in pairs.iterator()))
    times = rows.values_list("page_id", "last_modified").iterator()
    done.pages = _table(
        file, "PageIDtoTime(PageID, LastModifiedTime)", ((number, time_words(at)) for number, at in times)
    )


def _words(alias: str, file: IO[str], done: Exported) -> None:
    rows = LexiconWord.objects.using(alias).filter(pages__gt=0).order_by("pk").values_list("pk", "word")
    _table(file, "WordIDtoWord(WordID, Word)", rows.iterator())
    done.words = _table(file, "WordtoWordID(Word, WordID)", ((word, number) for number, word in rows.iterator()))


def _links(alias: str, generation: int, file: IO[str], done: Exported, turned: Turned) -> None:
    def rows() -> Iterator[tuple[int, str]]:
        for parent, children in _children(alias, generation):
            done.links += len(children)
            for child in children:
                turned.add((child, parent, 0))
            yield parent, "".join(f"{child};" for child in children)

    _table(file, "ParenttoChild(ParentPageID, ChildPageID)", rows())
    _table(file, "ChildtoParent(ChildPageID, ParentPageID)", _grouped(turned, "{1};"))


def _children(alias: str, generation: int) -> Iterator[tuple[int, list[int]]]:
    """Every page that links to another one, with the ids of those; document by document."""
    live = PublishedDocument.objects.using(alias).filter(gen_from__lte=generation, gen_to__gt=generation)
    for doc_id in live.order_by("doc_id").values_list("doc_id", flat=True):
        pages = shown(alias, generation).filter(doc_id=doc_id).values_list("pk", "url_key", "page_id")
        own: dict[int, int] = {}
        ids: dict[bytes | None, int] = {}
        for number, key, page_id in pages.iterator():
            own[number] = ids[bytes(key)] = page_id
        for number, targets in links.targets_of(alias, generation, doc_id, links.LinkKeys(doc_id)):
            if children := sorted(ids[key] for key in targets if key in ids):
                yield own[number], children


def _postings(alias: str, generation: int, file: IO[str], done: Exported, turned: Turned) -> None:
    def rows() -> Iterator[tuple[int, str]]:
        for page_id, counts in _counts(alias, generation):
            done.postings += len(counts)
            for word_id, frequency in counts:
                turned.add((word_id, page_id, frequency))
            yield page_id, "".join(f"{word_id} {frequency};" for word_id, frequency in counts)

    _table(file, "PageIDtoWordID(PageID, WordID)", rows())
    _table(file, "WordIDtoPageID(WordID, PageID)", _grouped(turned, "{1} {2};"))


def _counts(alias: str, generation: int) -> Iterator[tuple[int, list[tuple[int, int]]]]:
    """Every page with the ids of its words and their frequencies, by the id of the word."""
    ids = list(shown(alias, generation).order_by("pk").values_list("pk", flat=True))
    for part in chunks(ids, _TEXTS):
        rows = PublishedVersion.objects.using(alias).filter(pk__in=part).order_by("pk")
        found = [(page_id, frequencies(text)) for page_id, text in rows.values_list("page_id", "text")]
        known = lexicon.ids_of(alias, {word for _, counts in found for word in counts})
        for page_id, counts in found:
            yield page_id, sorted((known[word], count) for word, count in counts.items() if word in known)


def _grouped(turned: Turned, pattern: str) -> Iterator[tuple[int, str]]:
    for first, rows in groupby(turned.rows(), key=itemgetter(0)):
        yield first, "".join(pattern.format(*row) for row in rows)


def _read(part: IO[str]) -> Iterator[Three]:
    for line in part:
        first, second, third = map(int, line.split())
        yield first, second, third


def _table(file: IO[str], heading: str, rows: Iterable[tuple[object, object]]) -> int:
    file.write(f"{heading}\n")
    count = 0
    for key, value in rows:
        file.write(f"{str(key).translate(_SPACES)}\t{str(value).translate(_SPACES)}\n")
        count += 1
    file.write("\n")
    return count
