"""The clock on the wall: every date has one start, also when the clock jumps and when an hour comes twice."""

from datetime import UTC, date, datetime, time, timedelta
from zoneinfo import ZoneInfo

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from crawler.policy.timetable import (
    DAY,
    MONTH,
    WEEK,
    Rule,
    instant,
    is_quiet,
    next_start,
    quiet_until,
    sentence,
    starts,
)

BERLIN = "Europe/Berlin"


def at(text: str, zone: str = "UTC") -> datetime:
    return datetime.fromisoformat(text).replace(tzinfo=ZoneInfo(zone))


def local(moments: list[datetime]) -> list[str]:
    return [f"{moment.astimezone(ZoneInfo(BERLIN)):%d %H:%M}" for moment in moments]


def first(rule: Rule, after: datetime, count: int = 3) -> list[datetime]:
    found = starts(rule, after)
    return [next(found) for _ in range(count)]


def test_a_time_that_does_not_exist_is_taken_as_long_after_midnight_as_on_other_days() -> None:
    nightly = Rule(DAY, time(2, 30), BERLIN)
    around = first(nightly, at("2026-03-28T00:00", BERLIN))
    assert local(around) == ["28 02:30", "29 03:30", "30 02:30"]
    assert around[1] - around[0] == timedelta(hours=24) and around[2] - around[1] == timedelta(hours=23)


def test_a_time_that_comes_twice_starts_once_at_the_first() -> None:
    nightly = Rule(DAY, time(2, 30), BERLIN)
    around = first(nightly, at("2026-10-24T12:00", BERLIN))
    assert local(around) == ["25 02:30", "26 02:30", "27 02:30"]
    assert around[0] == at("2026-10-25T00:30") and around[1] - around[0] == timedelta(hours=25)
    assert next_start(nightly, around[0]) == around[1]


@pytest.mark.parametrize("zone", [BERLIN, "America/New_York", "Australia/Lord_Howe", "Asia/Kathmandu", "Africa/Cairo"])
def test_every_date_of_two_years_has_exactly_one_start(zone: str) -> None:
    for hour in (0, 1, 2, 3, 23):
        rule = Rule(DAY, time(hour, 30), zone)
        moment, dates = at("2026-01-01T12:00", zone), []
        for _ in range(730):
            found = next_start(rule, moment)
            assert found is not None and found > moment
            moment = found
            dates.append(found.astimezone(ZoneInfo(zone)).date())
        assert dates == [dates[0] + timedelta(days=number) for number in range(730)], hour


@given(st.datetimes(datetime(2025, 1, 1), datetime(2027, 12, 31)), st.times(), st.integers(1, 31))
@settings(max_examples=60, deadline=None)
def test_the_next_start_is_later_and_there_is_none_between(moment: datetime, clock: time, monthday: int) -> None:
    after = moment.replace(tzinfo=UTC)
    rule = Rule(MONTH, clock.replace(second=0, microsecond=0, tzinfo=None, fold=0), BERLIN, monthday=monthday)
    found = next_start(rule, after)
    assert found is not None and after < found < after + timedelta(days=63)
    assert next_start(rule, found - timedelta(microseconds=1)) == found


def test_weekdays_and_short_months() -> None:
    sundays = Rule(WEEK, time(2), BERLIN, weekdays=(6,))
    assert [one.astimezone(ZoneInfo(BERLIN)).weekday() for one in first(sundays, at("2026-11-18T12:00"))] == [6, 6, 6]
    ends = Rule(MONTH, time(2), BERLIN, monthday=31)
    assert local(first(ends, at("2027-02-01T12:00"))) == ["28 02:00", "31 02:00", "30 02:00"]
    assert next_start(Rule(WEEK, time(2), BERLIN), at("2026-11-18T12:00")) is None


def test_a_rule_is_said_in_plain_words() -> None:
    assert sentence(Rule(WEEK, time(2), BERLIN, weekdays=(6,))) == "Every Sunday at 02:00"
    assert sentence(Rule(WEEK, time(2), weekdays=(0, 2, 4))) == "Every Monday, Wednesday and Friday at 02:00"
    assert sentence(Rule(WEEK, time(2), weekdays=tuple(range(7)))) == sentence(Rule(DAY, time(2)))
    assert sentence(Rule(MONTH, time(2), monthday=31)) == "Every month on day 31, or the last day, at 02:00"


def week_of(*hours: int) -> str:
    return "".join("1" if hour in hours else "0" for hour in range(168))


def test_quiet_hours_follow_the_wall_and_say_when_they_end() -> None:
    daytime = week_of(*range(2 * 24 + 8, 2 * 24 + 19))  # Wednesday 8:00 to 19:00
    noon = at("2026-11-18T12:00", BERLIN)
    assert is_quiet(daytime, noon, BERLIN) and not is_quiet(daytime, noon - timedelta(days=1), BERLIN)
    assert quiet_until(daytime, noon, BERLIN) == at("2026-11-18T19:00", BERLIN)
    assert quiet_until(daytime, at("2026-11-18T20:00", BERLIN), BERLIN) is None
    assert quiet_until("1" * 168, noon, BERLIN) is None and is_quiet("1" * 168, noon, BERLIN)


def test_quiet_hours_end_by_the_wall_on_the_day_the_clock_jumps() -> None:
    sunday = week_of(*range(6 * 24, 6 * 24 + 4))
    until = quiet_until(sunday, at("2026-03-29T00:30", BERLIN), BERLIN)
    assert until == at("2026-03-29T04:00", BERLIN) and until - at("2026-03-29T00:00", BERLIN).astimezone(UTC) == (
        timedelta(hours=3)
    )
    kathmandu = quiet_until(week_of(48), at("2026-11-18T00:10", "Asia/Kathmandu"), "Asia/Kathmandu")
    assert kathmandu == at("2026-11-18T01:00", "Asia/Kathmandu")


def test_an_instant_is_the_first_of_two() -> None:
    assert instant(date(2026, 10, 25), time(2, 30), BERLIN) == at("2026-10-25T00:30")
