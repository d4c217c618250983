"""Owns: what all lists share: numbers in an address, the page of the rows and its length.

Does not: know a list, draw one (templates), write one as CSV (csv_output). Called by: screens.
"""

from collections.abc import Collection, Mapping, Sequence
from typing import Any

from django.core.paginator import Page, Paginator
from django.http import HttpRequest

USUAL_ROWS = 50
ROWS_COOKIE = "rows"
ROWS = ("20", "50", "100")
_DIGITS = 18  # more would not fit into a column


def whole_number(text: str | None, digits: int = _DIGITS) -> int | None:
    """None for nothing and for nonsense."""
    return int(text) if text and text.isascii() and text.isdigit() and len(text) <= digits else None


def number_in(query: Mapping[str, str], name: str) -> int | None:
    return whole_number(query.get(name))


def choice_in(query: Mapping[str, str], name: str, choices: Collection[str], default: str = "") -> str:
    value = query.get(name, default)
    return value if value in choices else default


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
