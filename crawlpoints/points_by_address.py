"""Owns: the crawl points of a document by their addresses, and which of them a pattern excludes. Pure.

Called by: checks, queries, cautions, importing.
"""

from bisect import bisect_left
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass

from clearinghouse.addresses import Refusal
from clearinghouse.addresses.patterns import compile_exclude
from clearinghouse.addresses.roots import canonical_root

from .typed_urls import suggested_url


@dataclass(frozen=True, slots=True)
class Neighbour:
    """Another live crawl point of the same document."""

    id: int
    url: str
    root: str
    active: bool = True


def comparable_root(text: str) -> str:
    """The root string as it is compared; adopted rows may hold text that is no address."""
    try:
        return canonical_root(text)
    except ValueError:
        return text


class PointsByAddress:
    """Crawl points in the order of their addresses: which of them a pattern excludes costs no look at each of them,
    but for patterns that begin with a star and regular expressions."""

    def __init__(self, points: Iterable[Neighbour]) -> None:
        active = [point for point in points if point.active]
        self._urls = sorted((suggested_url(point.url), point.url) for point in active)
        self._roots = sorted((comparable_root(point.root), point.url) for point in active)

    def first_excluded(self, line: str) -> str:
        """The URL of the first crawl point that nothing would be crawled from; empty: there is none."""
        compiled = compile_exclude(line)
        if isinstance(compiled, Refusal):
            return ""
        if compiled.kind in ("exact", "begins with"):
            start = compiled.text
            found = _first_from(self._urls, start, compiled.matches)
            return found or (_first_from(self._roots, start, compiled.matches) if compiled.kind != "exact" else "")
        return next((url for href, url in self._urls if compiled.matches(href)), "")


def _first_from(rows: Sequence[tuple[str, str]], start: str, matches: Callable[[str], bool]) -> str:
    """Of rows in order: what begins with a text stands behind it."""
    at = bisect_left(rows, (start, ""))
    return rows[at][1] if at < len(rows) and matches(rows[at][0]) else ""
