"""Owns: the query language: words, "phrases", -not, +must, OR, beginnings*, filters title: site: type: document:
project: after: before:. Pure, and never an error: what cannot be read is left out, and `notes` says so.

Does not: know a database. Called by: the engine, the screens, the tests.
"""

import re
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from datetime import date

from clearinghouse.published.types import CSV, DOCX, HTML, ODP, ODS, ODT, PDF, PPTX, RTF, TEXT, XHTML, XLSX, XML

from .small_words import is_small
from .words import words_of

MAX_CHARACTERS = 1000
MAX_TERMS = 32
MAX_WORDS_IN_PHRASE = 16
MAX_WORD = 64

TYPE_WORDS = {
    "html": (HTML, XHTML), "web": (HTML, XHTML), "page": (HTML, XHTML), "pdf": (PDF,), "word": (DOCX,),
    "docx": (DOCX,), "excel": (XLSX,), "xlsx": (XLSX,), "powerpoint": (PPTX,), "pptx": (PPTX,), "odt": (ODT,),
    "ods": (ODS,), "odp": (ODP,),
    "rtf": (RTF,), "text": (TEXT,), "txt": (TEXT,), "xml": (XML,), "csv": (CSV,),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Term:
    """One word, or several that must stand beside each other."""

    words: tuple[str, ...]
    prefix: bool = False  # the last word may go on
    title: bool = False  # only in titles
    typed: str = ""
    strict: bool = False  # in quotes or with +: never left out, never taken apart
    small: bool = False  # how, the, of: pages without it are found as well


Groups = tuple[tuple[Term, ...], ...]


@dataclass(frozen=True, slots=True)
class Filters:
    """What narrows the pages without being searched for."""

    sites: tuple[str, ...] = ()
    types: tuple[int, ...] = ()
    documents: tuple[str, ...] = ()  # an id, or words of a title
    projects: tuple[str, ...] = ()
    after: date | None = None
    before: date | None = None

    def __bool__(self) -> bool:
        return bool(self.sites or self.types or self.documents or self.projects or self.after or self.before)


@dataclass(frozen=True, slots=True)
class Query:
    """Every required group must match (its terms are alternatives), no term of `without` may."""

    groups: Groups = ()
    without: tuple[Term, ...] = ()
    filters: Filters = field(default_factory=Filters)
    notes: tuple[str, ...] = ()  # what was changed, in sentences
    shown: str = ""  # the query as it was understood
    choices: tuple[Groups, ...] = ()  # where given: one of these must match, not every group (relax)

    @property
    def required(self) -> Groups:
        """Without small words, unless there are no others."""
        return tuple(group for group in self.groups if not group[0].small) or self.groups

    @property
    def words(self) -> tuple[Term, ...]:
        return tuple(term for group in self.required for term in group)

    def __bool__(self) -> bool:
        return bool(self.groups or self.without or self.filters)


@dataclass(slots=True)
class _Reading:
    """What the parser has so far."""

    groups: list[list[Term]] = field(default_factory=list)
    without: list[Term] = field(default_factory=list)
    filters: dict[str, list[str]] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    shown: list[str] = field(default_factory=list)
    count: int = 0
    all_capitals: bool = False

    def note(self, sentence: str) -> None:
        if sentence not in self.notes:
            self.notes.append(sentence)


_PIECE = re.compile(
    r"""\s*(?:
        (?P<or>OR\b|\|+)(?=\s|$)
      | (?:(?P<not>-(?=[^\s-]))|(?P<must>\+(?=[^\s+])))?
        (?:(?P<field>title|site|type|document|doc|project|after|before):)?
        (?:"(?P<phrase>[^"]*)"(?P<star>\*?) | (?P<word>[^\s"]+))
    )""",
    re.VERBOSE | re.IGNORECASE,
)
_QUOTES = str.maketrans({"“": '"', "”": '"', "„": '"', "«": '"', "»": '"', "＂": '"', "−": "-", "–": "-", "’": "'"})
_UNPRINTABLE = re.compile(r"[\x00-\x1f\x7f\ud800-\udfff\u200b-\u200f\u202a-\u202e\ufeff]")


def parse(text: str | Query) -> Query:
    """What the text asks for; every text has an answer. What was read already stays as it is."""
    if isinstance(text, Query):
        return text
    reading = _Reading()
    text = _prepared(text, reading)
    reading.all_capitals = text.isupper()
    join = False
    for piece in _pieces(text):
        if piece["or"] is not None and (piece["or"] == "OR" or piece["or"][0] == "|"):
            join = bool(reading.groups)
            continue
        join = _take(piece, reading, join=join)
        if reading.count >= MAX_TERMS:
            reading.note(f"Only the first {MAX_TERMS} words were used.")
            break
    return Query(
        groups=tuple(tuple(group) for group in reading.groups),
        without=tuple(reading.without),
        filters=_filters(reading),
        notes=tuple(reading.notes),
        shown=" ".join(reading.shown),
    )


def _prepared(text: str, reading: _Reading) -> str:
    text = _UNPRINTABLE.sub(" ", text).translate(_QUOTES).strip()
    if len(text) > MAX_CHARACTERS:
        text = text[:MAX_CHARACTERS].rsplit(" ", 1)[0]
        reading.note(f"Only the first {MAX_CHARACTERS:,} characters were used.")
    if text.count('"') % 2:
        text += '"'
        reading.note("A quotation mark was missing and has been closed.")
    return text


def _pieces(text: str) -> Iterator[dict[str, str | None]]:
    position = 0
    while position < len(text):
        found = _PIECE.match(text, position)
        if found is None or found.end() == position:
            position += 1
            continue
        position = found.end()
        yield found.groupdict()


def _take(piece: dict[str, str | None], reading: _Reading, *, join: bool) -> bool:
    """Adds one piece; returns whether the next one is still an alternative (this one was nothing)."""
    raw = piece["phrase"] if piece["phrase"] is not None else piece["or"] or piece["word"] or ""
    name = (piece["field"] or "").lower()
    if name and name != "title":
        return _take_filter(name, raw.strip(), piece, reading)
    phrase = piece["phrase"] is not None
    prefix = piece["star"] == "*" if phrase else raw.endswith("*")
    term = _term(raw, prefix=prefix, title=name == "title", strict=phrase or bool(piece["must"]))
    if term is None:
        if words_left := raw.strip():
            reading.note(f"“{words_left[:40]}” has no letters or digits and was left out.")
        return join
    reading.count += len(term.words)
    if not (term.strict or term.prefix or term.title):
        term = replace(term, small=is_small(term.words, term.typed, all_capitals=reading.all_capitals))
    shown = f'"{" ".join(raw.split())}"' + ("*" if prefix else "") if phrase else raw
    shown = ("+" if piece["must"] else "") + ("title:" if name else "") + shown
    without = bool(piece["not"])
    if without and not phrase and len(raw) == 1:  # an option of a command
        reading.note(f'“-{raw}” was searched for as typed; to leave a letter out, write -"{raw}".')
        without = False
    if without:
        reading.without.append(term)
        reading.shown.append(f"-{shown}")
    elif join and reading.groups:
        reading.groups[-1].append(term)
        reading.shown.append(f"OR {shown}")
    else:
        reading.groups.append([term])
        reading.shown.append(shown)
    return False


def _term(raw: str, *, prefix: bool, title: bool, strict: bool) -> Term | None:
    words = tuple(word[:MAX_WORD] for word in words_of(raw))[:MAX_WORDS_IN_PHRASE]
    if not words:
        return None
    return Term(words, prefix=prefix, title=title, typed=raw.strip().rstrip("*"), strict=strict)


def _take_filter(name: str, value: str, piece: dict[str, str | None], reading: _Reading) -> bool:
    name = "document" if name == "doc" else name
    problem = _problem(name, value)
    if piece["not"]:
        problem = f"-{name}: is not supported and was left out."
    if problem:
        reading.note(problem)
        return False
    reading.filters.setdefault(name, []).append(value)
    shown = f'"{value}"' if piece["phrase"] is not None else value
    reading.shown.append(f"{name}:{shown}")
    return False


def _problem(name: str, value: str) -> str:
    if not value:
        return f"{name}: without a value was left out."
    if name == "type" and value.lower() not in TYPE_WORDS:
        return f"“{value[:40]}” is not a type of page; try pdf, word, html or text."
    if name in {"after", "before"} and _day(value) is None:
        return f"“{value[:40]}” is not a date; write it like 2026-11-18."
    return ""


def _day(value: str) -> date | None:
    parts = [*value.split("-"), "1", "1"]
    if not all(part.isascii() and part.isdigit() and len(part) <= 4 for part in parts[:3]) or value.count("-") > 2:
        return None
    try:
        return date(int(parts[0]), int(parts[1]), int(parts[2]))
    except ValueError:
        return None


def _filters(reading: _Reading) -> Filters:
    given = reading.filters
    types = tuple(sorted({number for word in given.get("type", []) for number in TYPE_WORDS[word.lower()]}))
    return Filters(
        sites=tuple(value.lower().removeprefix("www.").strip("/") for value in given.get("site", [])),
        types=types,
        documents=tuple(given.get("document", [])),
        projects=tuple(given.get("project", [])),
        after=_day(given["after"][-1]) if "after" in given else None,
        before=_day(given["before"][-1]) if "before" in given else None,
    )
