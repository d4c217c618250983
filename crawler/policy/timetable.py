"""Owns: when a repeated crawl is due by the clock on the wall, and which hours of a week are quiet. Pure.

Every date has at most one start: its local time, turned into an instant. On the day on which the clock jumps forward a
time that does not exist is taken as long after midnight as on other days (02:30 shows as 03:30); on the day on which an
hour comes twice, the first one counts.
Does not: know rows or the time of day. Called by: schedules, quiet, the launch screen.
"""

from calendar import monthrange
from collections.abc import Iterator
from dataclasses import dataclass
from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

DAY, WEEK, MONTH = "day", "week", "month"
WEEKDAYS = ("Monday", "Tuesday", "Wednesday", "Thursday", "Friday", "Saturday", "Sunday")
_HORIZON = 400  # days: every rule comes around within them
_HOURS = 24


@dataclass(frozen=True, slots=True)
class Rule:
    """Every day, on some weekdays, or on a day of the month, at a local time."""

    every: str
    at: time
    zone: str = "UTC"
    weekdays: tuple[int, ...] = ()  # 0 is Monday
    monthday: int = 1  # where a month is shorter, its last day

    def falls_on(self, day: date) -> bool:
        if self.every == WEEK:
            return day.weekday() in self.weekdays
        if self.every == MONTH:
            return day.day == min(self.monthday, monthrange(day.year, day.month)[1])
        return self.every == DAY


def instant(day: date, at: time, zone: str) -> datetime:
    """This local time of this date as an instant: the first of two, the moved one of none."""
    return datetime.combine(day, at, ZoneInfo(zone)).replace(fold=0).astimezone(UTC)


def starts(rule: Rule, after: datetime) -> Iterator[datetime]:
    """The instants after this one, in order, for a bit more than a year."""
    # One day earlier, because a moved time may belong to the day before.
    first = after.astimezone(ZoneInfo(rule.zone)).date() - timedelta(days=1)
    for number in range(_HORIZON):
        day = first + timedelta(days=number)
        if rule.falls_on(day) and (due := instant(day, rule.at, rule.zone)) > after:
            yield due


def next_start(rule: Rule, after: datetime) -> datetime | None:
    return next(starts(rule, after), None)


def sentence(rule: Rule) -> str:
    """Every Sunday at 02:00."""
    at = f"{rule.at:%H:%M}"
    if rule.every == WEEK:
        names = [WEEKDAYS[number] for number in sorted(set(rule.weekdays))]
        if len(names) == len(WEEKDAYS):
            return f"Every day at {at}"
        return f"Every {_listed(names)} at {at}"
    if rule.every == MONTH:
        day = f"day {rule.monthday}" if rule.monthday < 29 else f"day {rule.monthday}, or the last day,"
        return f"Every month on {day} at {at}"
    return f"Every day at {at}"


def _listed(names: list[str]) -> str:
    return names[0] if len(names) == 1 else f"{', '.join(names[:-1])} and {names[-1]}"


def is_quiet(hours: str, now: datetime, zone: str) -> bool:
    """`hours`: 168 times 0 or 1, Monday 0:00 first."""
    local = now.astimezone(ZoneInfo(zone))
    return hours[local.weekday() * _HOURS + local.hour : local.weekday() * _HOURS + local.hour + 1] == "1"


def quiet_until(hours: str, now: datetime, zone: str) -> datetime | None:
    """When the present quiet hours end; None when it is not quiet, or never ends."""
    if not is_quiet(hours, now, zone):
        return None
    # Instants are counted, not hours on the wall: a week of them crosses every change of the clock.
    hour = now.astimezone(UTC).replace(minute=0, second=0, microsecond=0)
    for quarter in range(1, 7 * _HOURS * 4 + 1):
        moment = hour + timedelta(minutes=15 * quarter)
        if moment > now and not is_quiet(hours, moment, zone):
            return moment
    return None
