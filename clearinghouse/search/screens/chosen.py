"""Owns: what the address of a search page asks for, and the addresses that ask for more or less. Pure.

Called by: the views. Unknown names and values in an address are ignored: a public page never fails on them.
"""

from dataclasses import dataclass
from typing import Any, NamedTuple

from django.http import QueryDict
from django.utils.http import urlencode

from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.search.engine import Narrow, Results
from clearinghouse.search.query import TYPE_WORDS

TYPES = {
    "web": "Web page", "pdf": "PDF", "word": "Word", "excel": "Excel", "powerpoint": "PowerPoint",
    "odt": "OpenDocument", "rtf": "RTF", "text": "Text", "xml": "XML", "csv": "CSV",
}  # fmt: skip
SORTS = {"best": "Best match", "newest": "Newest", "title": "Title"}
PER_PAGE = 10
LAST_PAGE = 100
SHOWN = 6  # values of a facet before "more"
_FACETS = ("project", "document", "type", "site")
_MOST = 20  # chosen values of one facet that are looked at
_DIGITS = 9


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


class Chip(NamedTuple):
    label: str
    href: str  # the same search without it


@dataclass(frozen=True, slots=True)
class Chosen:
    """The search an address asks for."""

    text: str
    facets: dict[str, tuple[str, ...]]
    sort: str
    page: int

    @property
    def narrow(self) -> Narrow:
        types = {number for word in self.facets["type"] for number in TYPE_WORDS.get(word, ())}
        return Narrow(
            projects=self.facets["project"],
            doc_ids=tuple(int(value) for value in self.facets["document"]),
            types=tuple(sorted(types)),
            sites=self.facets["site"],
            sort=self.sort,
        )

    def href(self, page: int = 1, **changed: Any) -> str:
        """This search with other values; any change goes back to its first page."""
        values: dict[str, Any] = {"q": self.text, **self.facets, "sort": self.sort, **changed}
        pairs = [("q", values["q"])]
        pairs += [(name, value) for name in _FACETS for value in values[name]]
        if values["sort"] != "best":
            pairs.append(("sort", values["sort"]))
        if page > 1:
            pairs.append(("page", str(page)))
        return "?" + urlencode(pairs)

    def toggled(self, name: str, value: str) -> str:
        now = self.facets[name]
        changed: dict[str, Any] = {name: tuple(v for v in now if v != value) if value in now else (*now, value)}
        return self.href(**changed)

    @property
    def hidden(self) -> list[tuple[str, str]]:
        """The facets as form fields, for the forms that change something else."""
        return [(name, value) for name in _FACETS for value in self.facets[name]]


def chosen(data: QueryDict) -> Chosen:
    facets = {name: tuple(dict.fromkeys(data.getlist(name)))[:_MOST] for name in _FACETS}
    facets["document"] = tuple(value for value in facets["document"] if _whole(value))
    facets["type"] = tuple(value for value in facets["type"] if value in TYPES)
    facets["project"] = tuple(_clean(value) for value in facets["project"])
    facets["site"] = tuple(_clean(value).lower() for value in facets["site"])
    sort, page = data.get("sort", "best"), data.get("page", "1")
    return Chosen(
        text=data.get("q", "").strip(),
        facets=facets,
        sort=sort if sort in SORTS else "best",
        page=max(1, min(int(page), LAST_PAGE)) if _whole(page) else 1,
    )


def _whole(value: str) -> bool:
    return value.isascii() and value.isdigit() and len(value) <= _DIGITS


def _clean(value: str) -> str:
    return "".join(letter for letter in value if letter.isprintable())[:255]


def facets(asked: Chosen, results: Results) -> list[Facet]:
    """The facets with their counts, largest first."""
    types = {word: sum(results.types[number] for number in TYPE_WORDS[word]) for word in TYPES}
    counted = {
        "project": ("Project", [(name, name, pages) for name, pages in results.projects.most_common(SHOWN)]),
        "document": (
            "Document",
            [(str(d), results.titles[d], pages) for d, pages in results.documents.most_common(SHOWN)],
        ),
        "type": ("Type", [(word, TYPES[word], n) for word, n in sorted(types.items(), key=lambda i: -i[1]) if n]),
        "site": ("Site", [(site, site, pages) for site, pages in results.sites.most_common(SHOWN)]),
    }
    found = [
        Facet(name, title, [_value(asked, name, key, label, pages) for key, label, pages in rows])
        for name, (title, rows) in counted.items()
    ]
    return [facet for facet in found if facet.values]


def _value(asked: Chosen, name: str, key: str, label: str, pages: int) -> Value:
    return Value(label, asked.toggled(name, key), pages, key in asked.facets[name])


def chips(asked: Chosen, results: Results) -> list[Chip]:
    """The filters in use; each link takes one away."""
    found = []
    for name, value in asked.hidden:
        label = {"document": _document_label(value, results), "type": TYPES.get(value, value)}.get(name, value)
        found.append(Chip(label, asked.toggled(name, value)))
    return found


def _document_label(value: str, results: Results) -> str:
    return results.titles.get(int(value), f"Document {value}") if _whole(value) else value


def type_tag(type_id: int) -> str:
    """The tag behind a title: nothing for web pages."""
    for word, numbers in TYPE_WORDS.items():
        if type_id in numbers and word in TYPES:
            return "" if word == "web" else TYPES[word]
    return PAGE_TYPES.get(type_id, "")
