"""The facts that rules look at, and what they say. Frozen values; no database."""

from collections import Counter
from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from typing import Any

from ..values import PointSettings

STOP, WARN, INFO = 3, 2, 1

# Where a link of a finding leads; the screens know the addresses.
URLS, PAGES, ERRORS, CHANGES, POINT, POINTS, LAUNCH = "urls", "pages", "errors", "changes", "point", "points", "launch"
PAGE = "page"  # one stored page, by its ledger row


@dataclass(frozen=True, slots=True)
class Fix:
    """A repair that is offered. With `change` or `exclude` one press does it; else it is a link to `to`."""

    label: str
    to: str = ""
    query: Mapping[str, Any] = field(default_factory=dict)
    point_id: int | None = None
    change: Mapping[str, Any] = field(default_factory=dict)  # columns of the crawl point
    exclude: str = ""

    @property
    def presses(self) -> bool:
        return bool(self.change or self.exclude)

    def to_json(self) -> dict[str, Any]:
        return {name: value for name, value in asdict(self).items() if value not in ("", None, {})}

    @classmethod
    def from_json(cls, data: Mapping[str, Any]) -> "Fix":
        return cls(**data)


@dataclass(frozen=True, slots=True)
class FoundProblem:
    rule: str
    weight: int
    sentence: str
    subject: str = ""
    fixes: tuple[Fix, ...] = ()


@dataclass(frozen=True, slots=True)
class Start:
    """What became of the URL of a crawl point."""

    point: PointSettings
    outcome: str = ""
    reason: str = ""
    status: int = 0
    redirect_url: str = ""
    links_inside: int | None = None  # links inside the root string; None: not counted
    failing_runs: int = 0  # runs in a row, this one included, in which it failed


@dataclass(frozen=True, slots=True)
class Alike:
    """Stored addresses that differ only in one parameter, and mostly say the same."""

    parameter: str
    count: int


@dataclass(frozen=True, slots=True)
class ExcursionFacts:
    """One ended excursion, as the rules see it."""

    state: str
    pages: int = 0
    bytes: int = 0  # of the pages as stored
    before: int | None = None  # pages of the crawl before
    before_run: int | None = None
    failed: int = 0
    fetched: int = 0
    reasons: Counter[str] = field(default_factory=Counter)
    slow_down: int = 0  # answers 429 and 503, also those that were asked again
    throttled: int = 0  # addresses answered 429 to the end
    speed: str = "polite"
    starts: tuple[Start, ...] = ()
    cut: Mapping[int, int] = field(default_factory=dict)  # crawl point: addresses beyond its maximum pages
    of_the_run: frozenset[int] = frozenset()  # crawl points whose maximum was that of the run, less than their own
    deep: Mapping[int, int] = field(default_factory=dict)  # crawl point: addresses one click too deep
    alike: tuple[Alike, ...] = ()
    dated: int = 0  # stored addresses that name a day or a month
    calendar: tuple[str, int] = ("", 0)  # what most of them begin with, and how many do
    same_text: int = 0  # pages whose content another page has too
    unread: int = 0  # PDF files without text
    only_page: int | None = None  # the ledger row, when one page was stored
