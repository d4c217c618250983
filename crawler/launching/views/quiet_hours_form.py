"""Owns: the week of quiet hours while it is filled in: hour by hour, a whole day, an hour of every day, or a range.

Does not: save it (quiet). Called by: the page of planned crawls.
"""

from dataclasses import dataclass, replace
from typing import Any, Self

from django.http import Http404, QueryDict

from crawler.policy.timetable import WEEKDAYS

from .. import quiet_hours

_DAY = 24
_WORK = (0, 1, 2, 3, 4), 8, 18  # what is proposed: the hours in which people work


@dataclass(frozen=True, slots=True)
class Range:
    """The same hours of several days. An end that is not after the start is on the next day."""

    days: tuple[int, ...]
    start: int
    end: int  # 1 to 24

    @property
    def hours(self) -> frozenset[int]:
        length = (self.end - self.start - 1) % _DAY + 1
        return frozenset(
            (_DAY * day + self.start + hour) % quiet_hours.HOURS for day in self.days for hour in range(length)
        )


@dataclass(frozen=True, slots=True)
class WeekEntries:
    """What stands on the form: the ticked hours of the week, and the range beside them."""

    ticked: frozenset[int]
    range: Range = Range(*_WORK)

    @classmethod
    def of(cls, hours: str) -> Self:
        return cls(frozenset(number for number, hour in enumerate(hours) if hour == "1"))

    @classmethod
    def read(cls, sent: QueryDict) -> Self:
        _, start, end = _WORK
        days = tuple(_numbers(sent, "day", range(len(WEEKDAYS))))
        start = next(_numbers(sent, "from", range(_DAY)), start)
        end = next(_numbers(sent, "to", range(1, _DAY + 1)), end)
        return cls(frozenset(_numbers(sent, "quiet", range(quiet_hours.HOURS))), Range(days, start, end))

    @property
    def hours(self) -> str:
        """As they are kept: 168 times 0 or 1."""
        return "".join("1" if number in self.ticked else "0" for number in range(quiet_hours.HOURS))

    def after(self, wanted: str) -> Self:
        """The form after one of its buttons: a range is ticked or unticked; a day, an hour and the whole week are
        ticked, or unticked where all of them were."""
        if wanted == "quiet":
            return replace(self, ticked=self.ticked | self.range.hours)
        if wanted == "open":
            return replace(self, ticked=self.ticked - self.range.hours)
        line = _LINES.get(wanted)
        if line is None:
            raise Http404("No such command")
        return replace(self, ticked=self.ticked - line if line <= self.ticked else self.ticked | line)

    def shown(self, saved: str) -> dict[str, Any]:
        """For the template; `saved` are the hours as they are kept."""
        return {
            "week_rows": [
                (name, f"day-{day}", [self._cell(name, day, hour) for hour in range(_DAY)])
                for day, name in enumerate(WEEKDAYS)
            ],
            "hours": [(f"{hour:02}", f"hour-{hour}") for hour in range(_DAY)],
            "range_days": [(day, name, day in self.range.days) for day, name in enumerate(WEEKDAYS)],
            "starts": [(hour, f"{hour:02}:00", hour == self.range.start) for hour in range(_DAY)],
            "ends": [(hour, f"{hour:02}:00", hour == self.range.end) for hour in range(1, _DAY + 1)],
            "quiet_count": len(self.ticked),
            "unsaved": self.hours != saved,
        }

    def _cell(self, name: str, day: int, hour: int) -> tuple[int, str, bool]:
        number = _DAY * day + hour
        return number, f"{name} {hour:02}:00", number in self.ticked


_LINES = (
    {f"day-{day}": frozenset(range(_DAY * day, _DAY * day + _DAY)) for day in range(len(WEEKDAYS))}
    | {f"hour-{hour}": frozenset(range(hour, quiet_hours.HOURS, _DAY)) for hour in range(_DAY)}
    | {"week": frozenset(range(quiet_hours.HOURS))}
)


def _numbers(sent: QueryDict, name: str, known: range) -> Any:
    """Those that were sent and mean something."""
    texts = {str(number): number for number in known}
    return (texts[text] for text in sent.getlist(name) if text in texts)
