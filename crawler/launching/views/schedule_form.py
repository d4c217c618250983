"""The When of the launch form: now, at a time, or every day, week or month; and how it is said in a plain sentence."""

from datetime import datetime, time
from typing import Any

from django import forms
from django.utils import timezone

from clearinghouse.web.templatetags.formats import date_words
from crawler.models import Every
from crawler.policy.timetable import WEEKDAYS, Rule, instant, next_start, sentence

from ..schedules import zone_name

NOW, AT = "now", "at"
_WHEN = [
    (NOW, "Now"),
    (AT, "Once, at"),
    (Every.DAY.value, "Every day"),
    (Every.WEEK.value, "Every week"),
    (Every.MONTH.value, "Every month"),
]


class WhenForm(forms.Form):
    when = forms.ChoiceField(label="When", choices=_WHEN, initial=NOW, required=False)
    date = forms.DateField(label="Date", required=False, error_messages={"invalid": "Enter a date, like 2026-11-22"})
    at = forms.TimeField(label="Time", required=False, error_messages={"invalid": "Enter a time, like 02:00"})
    weekday = forms.TypedMultipleChoiceField(label="On", choices=list(enumerate(WEEKDAYS)), coerce=int, required=False)
    monthday = forms.IntegerField(
        label="Day of the month",
        required=False,
        min_value=1,
        max_value=31,
        help_text="31 means the last day of every month.",
        error_messages=dict.fromkeys(("invalid", "min_value", "max_value"), "Enter a day from 1 to 31"),
    )

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        when = cleaned.get("when") or NOW
        if when != NOW and cleaned.get("at") is None and "at" not in self.errors:
            self.add_error("at", "Enter the time at which it starts")
        if when == Every.WEEK and not cleaned.get("weekday") and "weekday" not in self.errors:
            self.add_error("weekday", "Choose at least one day of the week")
        if when == AT:
            self._check_moment(cleaned)
        return cleaned

    def _check_moment(self, cleaned: dict[str, Any]) -> None:
        if cleaned.get("date") is None:
            if "date" not in self.errors:
                self.add_error("date", "Enter the day on which it starts")
        elif cleaned.get("at") is not None and moment_of(cleaned) <= timezone.now():
            self.add_error("date", "This time has passed. Enter one to come, or choose Now")


def moment_of(values: dict[str, Any]) -> datetime:
    return instant(values["date"], values["at"], zone_name())


def rule_of(values: dict[str, Any]) -> Rule | None:
    """None for what happens once, and for half a choice."""
    when = values.get("when") or NOW
    if when in (NOW, AT) or values.get("at") is None or (when == Every.WEEK and not values.get("weekday")):
        return None
    at: time = values["at"]
    return Rule(when, at, zone_name(), tuple(values.get("weekday") or ()), values.get("monthday") or 1)


def plan_of(values: dict[str, Any], now: datetime) -> tuple[str, datetime | None]:
    """For the button and the sentence: "Every Sunday at 02:00" and its next start; empty for now."""
    rule = rule_of(values)
    if rule is not None:
        return sentence(rule), next_start(rule, now)
    if values.get("when") == AT and values.get("date") and values.get("at") is not None:
        moment = moment_of(values)
        return f"Once, on {date_words(moment)} at {timezone.localtime(moment):%H:%M}", moment
    return "", None
