"""Owns: what all lists share: the filter and the order in an address, each declared once; the page of the rows.

Does not: know a list, draw one (templates), write one as CSV (csv_output). Called by: screens, queries with a filter.
"""

from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from dataclasses import field, fields
from typing import Any, Self, TypeVar

from django.core.paginator import Page, Paginator
from django.http import HttpRequest, QueryDict

USUAL_ROWS = 50
ROWS_COOKIE = "rows"
ROWS = ("20", "50", "100")
_DIGITS = 18  # more would not fit into a column
Item = TypeVar("Item")


def whole_number(text: str | None, digits: int = _DIGITS) -> int | None:
    """None for nothing and for nonsense."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= digits else None


def number_in(query: Mapping[str, str], name: str) -> int | None:
    return whole_number(query.get(name))


def text_in(query: Mapping[str, str], name: str, most: int = 200) -> str:
    """A filter may stand within another address or be kept: no middleware has taken the NUL out of it."""
    return query.get(name, "").replace("\0", "").strip()[:most]


def choice_in(query: Mapping[str, str], name: str, choices: Collection[str], default: str = "") -> str:
    value = query.get(name, default)
    return value if value in choices else default


def sort_in(query: Mapping[str, str], columns: Collection[str], default: str) -> str:
    """The column to sort by; a leading minus turns the order around."""
    value = query.get("sort", "")
    return value if value.removeprefix("-") in columns else default


class ListFilter:
    """Of frozen dataclasses: what the address of a list asks for. Nonsense is ignored, empty means everything.

    Each field is declared with how it is read; `given` are those that cannot be read alone.
    """

    __slots__ = ()

    @classmethod
    def read(cls, query: Any, **given: Any) -> Self:
        known = {one.name: one.metadata["read"](query) for one in fields(cls) if one.metadata}  # type: ignore[arg-type]
        return cls(**known | given)

    @property
    def filtered(self) -> bool:
        """Whether anything may be left out; the order leaves nothing out."""
        named = [one for one in fields(self) if one.metadata and one.name != "sort"]  # type: ignore[arg-type]
        return any(getattr(self, one.name) != one.default for one in named)


def read_by(read: Callable[[Any], Any], default: Any = "") -> Any:
    return field(default=default, metadata={"read": read})


def text(name: str, most: int = 200) -> Any:
    return read_by(lambda query: text_in(query, name, most))


def exact(name: str, most: int = 200) -> Any:
    """Letter for letter."""
    return read_by(lambda query: query.get(name, "").replace("\0", "")[:most])


def choice(name: str, choices: Collection[str]) -> Any:
    return read_by(lambda query: choice_in(query, name, choices))


def choices(name: str, known: Collection[str]) -> Any:
    return read_by(lambda query: tuple(one for one in known if one in query.getlist(name)), ())


def number(name: str) -> Any:
    return read_by(lambda query: number_in(query, name), None)


def flag(name: str) -> Any:
    return read_by(lambda query: query.get(name) == "1", False)


def sort(columns: Collection[str], default: str = "") -> Any:
    return read_by(lambda query: sort_in(query, columns, default), default)


def query_without(query: QueryDict, *names: str) -> str:
    """The address of the same list, say without the place in it."""
    left = query.copy()
    for name in names:
        left.pop(name, None)
    return left.urlencode()


def order_by(asked: str, columns: Mapping[str, Any], default: str) -> list[str]:
    """The order of a query set: the fields behind the column of the list, each turned around by a leading minus."""
    names = columns.get(asked.removeprefix("-"), columns[default])
    minus = "-" if asked.startswith("-") else ""
    return [minus + name for name in ([names] if isinstance(names, str) else names)]


def in_order(rows: Iterable[Item], asked: str, keys: Mapping[str, Callable[[Item], Any]]) -> list[Item]:
    """The same for rows that are read already."""
    key = keys.get(asked.removeprefix("-"))
    return sorted(rows, key=key, reverse=asked.startswith("-")) if key else list(rows)


def rows_chosen(request: HttpRequest) -> str:
    """How many rows a page of a list has for this person; empty for who chose nothing."""
    person = getattr(request.user, "person", None)
    rows = person.rows if person else request.COOKIES.get(ROWS_COOKIE, "")
    return rows if rows in ROWS else ""


def page_size(request: HttpRequest, sizes: Sequence[int] = ()) -> int:
    """What was chosen under the list, where it offers sizes; else in Preferences; else what is usual."""
    asked = choice_in(request.GET, "rows", [str(size) for size in sizes])
    return int(asked or rows_chosen(request) or (sizes or (USUAL_ROWS,))[0])


def page_of(request: HttpRequest, rows: Any, size: int = 0, count: int | None = None) -> Page[Any]:
    """The page asked for, of anything that counts and slices. `count` where it is known: nothing is counted then."""
    paginator = Paginator(rows, size or page_size(request))
    if count is not None:
        paginator.count = count
    return paginator.get_page(request.GET.get("page"))
