"""What every report is made of: filters, columns, cells, a chart, and rows that can be counted and cut into pages."""

from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from datetime import timedelta
from typing import Any, Protocol

from django.http import HttpRequest
from django.utils import timezone

from clearinghouse.accounts.policies import Action, RoleScope, documents_for, scope_of
from clearinghouse.web.listing import choice_in, sort_in, text_in, whole_number

from ..runs.run_counts import Docs

AT_ONCE = 500  # rows of a CSV that are read together
PERIODS = (("7", "7 days"), ("30", "30 days"), ("90", "90 days"), ("365", "A year"), ("all", "All time"))
_LONG_AGO = 36_500
_LEAST_BARS = 7  # so that one bar is not as wide as the page


class Source(Protocol):
    """A list, a query set, or anything else that counts and slices."""

    def __getitem__(self, part: slice) -> Iterable[Any]: ...


@dataclass(frozen=True, slots=True)
class Column:
    key: str
    label: str
    num: bool = False
    sorts: bool = True
    fit: bool = False  # on one line: dates


@dataclass(frozen=True, slots=True)
class ReportCell:
    """What stands in a row: text, perhaps with the address of what it counts. `value` is what the CSV says."""

    text: Any
    href: str = ""
    value: Any = None
    bad: bool = False
    state: str = ""  # a state word's code: drawn as a pill
    pill: tuple[str, str, str] = ("", "", "")  # kind, icon and word of another pill
    sub: str = ""  # a second, smaller line
    url: bool = False  # a web address

    @property
    def counted(self) -> bool:
        return isinstance(self.text, int)

    @property
    def plain(self) -> Any:
        return self.text if self.value is None else self.value


@dataclass(frozen=True, slots=True)
class ReportFilter:
    """A filter. Without choices it is a text."""

    name: str
    label: str
    value: str = ""
    choices: Sequence[tuple[str, str]] = ()


@dataclass(frozen=True, slots=True)
class Bar:
    label: str
    parts: tuple[tuple[str, int], ...]  # class and count, drawn from below
    href: str = ""

    @property
    def total(self) -> int:
        return sum(count for _, count in self.parts)


@dataclass(frozen=True, slots=True)
class Chart:
    heading: str
    title: str  # the sentence with the numbers
    bars: Sequence[Bar]
    key: Sequence[tuple[str, str]] = ()  # class and word
    listed: bool = False  # named bars one below the other; else columns in the order of time

    def rows(self) -> Iterator[tuple[Bar, list[dict[str, str]]]]:
        """Each bar with its parts as percentages of the longest."""
        top = max((bar.total for bar in self.bars), default=0) or 1
        for bar in self.bars:
            parts, x = [], 0.0
            for css, count in bar.parts:
                width = 100 * count / top
                if count:
                    parts.append({"css": css, "x": f"{x:.2f}", "width": f"{max(width, 0.5):.2f}"})
                x += width
            yield bar, parts

    def table(self) -> Iterator[tuple[Bar, list[tuple[str, int]]]]:
        """Each bar with its counts by word."""
        words = dict(self.key)
        for bar in self.bars:
            yield bar, [(words.get(css, css), count) for css, count in bar.parts]

    def drawn(self) -> Iterator[dict[str, Any]]:
        """The rectangles, in percentages of the box."""
        top = max((bar.total for bar in self.bars), default=0) or 1
        step = 100 / max(len(self.bars), _LEAST_BARS)
        for place, bar in enumerate(self.bars):
            y = 100.0
            for css, count in bar.parts:
                height = 98 * count / top
                y -= height
                if count:
                    yield {
                        "css": css, "x": f"{step * (place + 0.1):.3f}", "width": f"{step * 0.8:.3f}",
                        "y": f"{y:.2f}", "height": f"{max(height, 0.8):.2f}",
                    }  # fmt: skip


@dataclass(slots=True)
class Report:
    columns: Sequence[Column]
    source: Any
    cells: Callable[[list[Any]], Iterable[Sequence[ReportCell]]]
    noun: str
    filters: Sequence[ReportFilter] = ()
    hidden: Sequence[tuple[str, str]] = ()  # what the filter form keeps of the address
    chart: Chart | None = None
    sentence: str = ""
    sort: str = ""
    nothing: str = "Nothing matches these filters."
    row_template: str = ""  # commands at the end of each row, of `raw`
    extra: dict[str, Any] = field(default_factory=dict)

    def lines(self) -> Iterator[list[Any]]:
        """All rows for the CSV, some hundred at a time."""
        start = 0
        while True:
            part = list(self.source[start : start + AT_ONCE])
            yield from ([cell.plain for cell in row] for row in self.cells(part))
            if len(part) < AT_ONCE:
                return
            start += AT_ONCE


@dataclass(frozen=True, slots=True)
class ReportRequest:
    """Who asks, and what the address says."""

    request: HttpRequest
    docs: Docs

    def text(self, name: str) -> str:
        return text_in(self.request.GET, name)

    def one_of(
        self, name: str, label: str, choices: Sequence[tuple[str, str]], default: str = ""
    ) -> tuple[str, ReportFilter]:
        """What is chosen, and its filter."""
        value = choice_in(self.request.GET, name, [code for code, _ in choices], default)
        return value, ReportFilter(name, label, value, choices)

    def sort(self, columns: Sequence[Column], default: str) -> str:
        return sort_in(self.request.GET, [column.key for column in columns if column.sorts], default)

    def since(self, default: str = "30") -> tuple[Any, ReportFilter]:
        """The beginning of the period asked for, and its filter."""
        value, period = self.one_of("days", "Period", PERIODS, default)
        return timezone.now() - timedelta(days=whole_number(value) or _LONG_AGO), period

    def project(self) -> tuple[str, ReportFilter]:
        names = documents_for(self.request.user, Action.VIEW_RUNS).exclude(sheet__project=None).order_by()
        known = sorted(set(names.values_list("sheet__project__name", flat=True)))
        return self.one_of("project", "Project", [("", "All projects"), *((name, name) for name in known)])

    def words(self, label: str) -> tuple[str, ReportFilter]:
        value = self.text("q")
        return value, ReportFilter("q", label, value)


def who_sees(user: Any) -> str:
    """In one sentence, under every report."""
    mine = {
        RoleScope.OWN: "You see the documents assigned to you. Project managers see those of their projects, "
        "administrators all.",
        RoleScope.PROJECT: "You see the documents of your projects. Content developers see those assigned to them, "
        "administrators all.",
        RoleScope.ALL: "You see all documents. Others see the same report of the documents assigned to them or of "
        "their projects.",
    }
    return mine.get(scope_of(user, Action.VIEW_RUNS), "")
