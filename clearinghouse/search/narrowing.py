"""Owns: which of the pages found are meant: the filters of the query and the facets chosen beside it. Pure.

Called by: the engine.
"""

from collections.abc import Callable, Sequence
from dataclasses import dataclass, fields
from datetime import datetime
from itertools import compress
from typing import Any

from .page_facts import FacetKey, PageFacts, ages_of_day, midnight
from .query import Filters
from .words import fold, words_of

Documents = dict[int, tuple[str, str]]  # title and project


@dataclass(frozen=True, slots=True)
class Narrow:
    """What was chosen on the page beside the query: each facet a list of which any may match, and the order."""

    projects: tuple[str, ...] = ()
    doc_ids: tuple[int, ...] = ()
    types: tuple[int, ...] = ()
    sites: tuple[str, ...] = ()
    languages: tuple[str, ...] = ()
    crawled: tuple[str, ...] = ()  # week, month, year, older
    folder: str = ""  # only pages of this folder of a site, all of them
    similar_to: int = 0  # only pages like this published page, without itself
    sort: str = "best"  # best, newest, title

    def __bool__(self) -> bool:
        return any(getattr(self, one.name) for one in fields(self) if one.name != "sort")


def narrowed(
    rows: Sequence[int], facts: PageFacts, asked: Filters, narrow: Narrow, documents: Documents, today: datetime
) -> Sequence[int]:
    """Those of the rows that every filter leaves, in the same order."""
    kept: Sequence[int] = rows
    kinds = _kinds(facts, asked, narrow, documents)
    if kinds is not None:
        meant = bytes(group.kind in kinds for group in facts.groups)
        kept = list(compress(kept, map(meant.__getitem__, map(facts.group.__getitem__, kept))))
    if asked.after:
        kept = [row for row in kept if facts.crawled[row] >= midnight(asked.after)]
    if asked.before:
        kept = [row for row in kept if facts.crawled[row] < midnight(asked.before)]
    if narrow.crawled:
        days = set(map(facts.day.__getitem__, kept))
        wanted = {day for day in days if not set(narrow.crawled).isdisjoint(ages_of_day(day, today))}
        kept = [row for row in kept if facts.day[row] in wanted]
    if narrow.folder:
        kept = [row for row in kept if facts.folders[facts.folder[row]] == narrow.folder]
    if narrow.similar_to:
        one = facts.row_of.get(narrow.similar_to)
        kept = [row for row in kept if one is not None and facts.alike[row] == facts.alike[one]]
        kept = [row for row in kept if one is not None and facts.same[row] != facts.same[one]]
    return kept


def _kinds(facts: PageFacts, asked: Filters, narrow: Narrow, documents: Documents) -> set[int] | None:
    """The places of the kinds that are left; None where all are."""
    filters: list[tuple[tuple[Any, ...], Callable[[FacetKey], bool]]] = [
        (asked.sites, lambda kind: _on_site(kind.host, asked.sites)),
        (narrow.sites, lambda kind: kind.host in narrow.sites),  # those a facet counted
        (asked.types, lambda kind: kind.type_id in asked.types),
        (narrow.types, lambda kind: kind.type_id in narrow.types),
        (narrow.languages, lambda kind: kind.language in narrow.languages),
        (narrow.doc_ids, lambda kind: kind.doc_id in narrow.doc_ids),
        (narrow.projects, lambda kind: documents.get(kind.doc_id, ("", ""))[1] in narrow.projects),
        (asked.documents, lambda kind: _named(asked.documents, kind.doc_id, documents)),
        (asked.projects, lambda kind: _of_project(asked.projects, kind.doc_id, documents)),
    ]
    used = [holds for given, holds in filters if given]
    if not used:
        return None
    return {place for place, kind in enumerate(facts.kinds) if all(holds(kind) for holds in used)}


def _on_site(host: str, sites: tuple[str, ...]) -> bool:
    """As people type it: with the sites below it, and without a port at any port."""
    names = (host, host.rpartition(":")[0] or host)
    return any(name == site or name.endswith("." + site) for site in sites for name in names)


def _named(wanted: tuple[str, ...], doc_id: int, documents: Documents) -> bool:
    """A document is named by its number, or by words of its title."""
    words = set(words_of(documents.get(doc_id, ("", ""))[0]))
    return any(value == str(doc_id) or (words_of(value) and words.issuperset(words_of(value))) for value in wanted)


def _of_project(wanted: tuple[str, ...], doc_id: int, documents: Documents) -> bool:
    project = fold(documents.get(doc_id, ("", ""))[1])
    return any(fold(name) in project for name in wanted)
