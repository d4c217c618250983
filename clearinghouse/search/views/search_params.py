"""Owns: what the address of a search page asks for, and the addresses that ask for more or less. Pure.

Called by: the views. Unknown names and values in an address are ignored: a public page never fails on them.
"""

from collections import Counter
from dataclasses import dataclass, replace
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.http import urlencode
from django.utils.translation import get_language_info

from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.search.engine import Narrow, Results
from clearinghouse.search.query import TYPE_WORDS

from ..page_facts import MONTH, OLDER, WEEK, YEAR

TYPES = {
    "web": "Web page", "pdf": "PDF", "word": "Word", "excel": "Excel", "powerpoint": "PowerPoint",
    "odt": "OpenDocument", "ods": "OpenDocument spreadsheet", "odp": "OpenDocument presentation",
    "rtf": "RTF", "text": "Text", "xml": "XML", "csv": "CSV",
}  # fmt: skip
SORTS = {"best": "Best match", "newest": "Newest", "title": "Title"}
PER_PAGE = 10
LAST_PAGE = 100
SHOWN = 6  # values of a facet before "more"
SHOWN_MORE = 100
CRAWLED = {WEEK: "Last week", MONTH: "Last month", YEAR: "Last year", OLDER: "Older"}
_FACETS = ("project", "document", "type", "site", "crawled", "language")
_SINGLE = ("folder", "similar")  # what a result leads to: all pages of its folder, all pages like it
_MOST = 20  # chosen values of one facet that are looked at
_DIGITS = 18  # of the number of a document or a published page; one more, and a server may refuse it


class Value(NamedTuple):
    """One line of a facet."""

    label: str
    href: str
    pages: int
    chosen: bool


class Facet(NamedTuple):
    name: str
    title: str
    values: list[Value]
    more: str = ""  # the address that lists all of them, where some are left out
    left: int = 0  # how many those are


class Chip(NamedTuple):
    label: str
    href: str  # the same search without it


@dataclass(frozen=True, slots=True)
class SearchParams:
    """The search an address asks for."""

    text: str
    facets: dict[str, tuple[str, ...]]
    sort: str
    page: int
    more: str = ""  # the facet of which all values are listed
    folder: str = ""
    similar: str = ""  # the number of a page

    @property
    def narrow(self) -> Narrow:
        types = {number for word in self.facets["type"] for number in TYPE_WORDS.get(word, ())}
        return Narrow(
            projects=self.facets["project"],
            doc_ids=tuple(int(value) for value in self.facets["document"]),
            types=tuple(sorted(types)),
            sites=self.facets["site"],
            languages=self.facets["language"],
            crawled=self.facets["crawled"],
            folder=self.folder,
            similar_to=int(self.similar or 0),
            sort=self.sort,
        )

    def href(self, page: int = 1, **changed: Any) -> str:
        """This search with other values; any change goes back to its first page."""
        single = {name: getattr(self, name) for name in _SINGLE}
        values: dict[str, Any] = {"q": self.text, **self.facets, **single, "sort": self.sort, **changed}
        pairs = [("q", values["q"])]
        pairs += [(name, value) for name in _FACETS for value in values[name]]
        pairs += [(name, str(values[name])) for name in _SINGLE if values[name]]
        if values["sort"] != "best":
            pairs.append(("sort", values["sort"]))
        if page > 1:
            pairs.append(("page", str(page)))
        if changed.get("more"):
            pairs.append(("more", changed["more"]))
        return "?" + urlencode(pairs)

    @property
    def here(self) -> str:
        """This page of this search."""
        return self.href(page=self.page)

    def toggled(self, name: str, value: str) -> str:
        now = self.facets[name]
        changed: dict[str, Any] = {name: tuple(v for v in now if v != value) if value in now else (*now, value)}
        return self.href(**changed)

    @property
    def newest_first(self) -> "SearchParams":
        return replace(self, sort="newest", page=1)

    @property
    def plain(self) -> str:
        """The same words without any filter."""
        return replace(self, facets=dict.fromkeys(_FACETS, ()), folder="", similar="", sort="best").href()

    def without(self, name: str) -> str:
        """The same search with nothing chosen of this facet."""
        return replace(self, facets=self.facets | {name: ()}).href()

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The filters as form fields, for the forms that change something else."""
        found = [(name, value) for name in _FACETS for value in self.facets[name]]
        return found + [(name, getattr(self, name)) for name in _SINGLE if getattr(self, name)]


def chosen(data: QueryDict) -> SearchParams:
    facets = {name: tuple(dict.fromkeys(data.getlist(name)))[:_MOST] for name in _FACETS}
    facets["document"] = tuple(value for value in facets["document"] if _whole(value))
    facets["type"] = tuple(value for value in facets["type"] if value in TYPES)
    facets["project"] = tuple(_clean(value) for value in facets["project"])
    facets["site"] = tuple(_clean(value).lower() for value in facets["site"])
    facets["crawled"] = tuple(value for value in facets["crawled"] if value in CRAWLED)
    facets["language"] = tuple(_clean(value).lower() for value in facets["language"])
    sort, page = data.get("sort", "best"), data.get("page", "1")
    similar = data.get("similar", "")
    return SearchParams(
        text=data.get("q", "").strip(),
        facets=facets,
        more=data.get("more", ""),
        folder=_clean(data.get("folder", "")),
        similar=similar if _whole(similar) else "",
        sort=sort if sort in SORTS else "best",
        page=max(1, min(int(page), LAST_PAGE)) if _whole(page) else 1,
    )


def _whole(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= _DIGITS


def _clean(value: str) -> str:
    return "".join(letter for letter in value if letter.isprintable())[:255]


def facets(asked: SearchParams, results: Results) -> list[Facet]:
    """The facets with their counts, largest first."""
    types = Counter({word: sum(results.types[number] for number in TYPE_WORDS[word]) for word in TYPES})
    titles = {str(doc_id): title for doc_id, title in results.titles.items()}
    documents = Counter({str(doc_id): pages for doc_id, pages in results.documents.items()})
    found = [
        _facet(asked, "project", "Project", results.projects, {}),
        _facet(asked, "document", "Document", documents, titles),
        _facet(asked, "type", "Type", types, TYPES),
        _facet(asked, "site", "Site", results.sites, {}),
        _facet(asked, "crawled", "Date crawled", _in_order(results.crawled), CRAWLED),
        _facet(asked, "language", "Language", results.languages, {code: language(code) for code in results.languages}),
    ]
    return [facet for facet in found if facet.values]


def _in_order(counts: Counter[str]) -> Counter[str]:
    """From the newest; an age that only repeats the one before says nothing."""
    ages = {name: counts[name] for name in CRAWLED}
    before = 0
    for name, pages in list(ages.items()):
        if name != OLDER and pages == before:
            ages[name] = 0
        before = pages
    return Counter(ages)


def language(code: str) -> str:
    """Its name; the code itself where nobody knows one."""
    try:
        return str(get_language_info(code)["name"])
    except KeyError:
        return code


def _facet(asked: SearchParams, name: str, title: str, counts: Counter[str], labels: dict[str, str]) -> Facet:
    """The largest values, and those that were chosen; ages from the newest."""
    ordered = counts.items() if name == "crawled" else counts.most_common(SHOWN_MORE)
    rows = [(key, pages) for key, pages in ordered if pages]
    most = len(rows) if asked.more == name else SHOWN
    shown = rows[:most] + [row for row in rows[most:] if row[0] in asked.facets[name]]
    left = len(rows) - len(shown)
    values = [_value(asked, name, key, labels.get(key, key), pages) for key, pages in shown]
    return Facet(name, title, values, asked.href(more=name) if left else "", left)


def _value(asked: SearchParams, name: str, key: str, label: str, pages: int) -> Value:
    return Value(label, asked.toggled(name, key), pages, key in asked.facets[name])


def chips(asked: SearchParams, results: Results) -> list[Chip]:
    """The filters in use; each link takes one away."""
    found = []
    for name, value in asked.hidden:
        found.append(Chip(_label(name, value, results), _less(asked, name, value)))
    return found


def _less(asked: SearchParams, name: str, value: str) -> str:
    return asked.href(**{name: ""}) if name in _SINGLE else asked.toggled(name, value)


def _label(name: str, value: str, results: Results) -> str:
    if name == "document":
        return _document_label(value, results)
    if name == "language":
        return language(value)
    named = {"type": TYPES, "crawled": CRAWLED}.get(name, {}).get(value, value)
    return {"folder": f"In {value}", "similar": "Pages like one of the results"}.get(name, named)


def _document_label(value: str, results: Results) -> str:
    return results.titles.get(int(value), f"Document {value}") if _whole(value) else value


def type_tag(type_id: int) -> str:
    """The tag behind a title: nothing for web pages."""
    for word, numbers in TYPE_WORDS.items():
        if type_id in numbers and word in TYPES:
            return "" if word == "web" else TYPES[word]
    return PAGE_TYPES.get(type_id, "")
