"""Operations on the hours in which no crawl runs, and on the pause of all crawls."""

from typing import Any

from django.utils import timezone

from clearinghouse.accounts.policies import Action, require
from crawlpoints.point_checks import Invalid

from ..launching import quiet_hours
from ..runs.views.run_access import visible_docs
from .contract import ApiAddress, ApiRequest, ApiResponse, Operation, Schema, number, several, switch, text, thing
from .shapes import FLAG, INT, MOMENT, TEXT, list_of, moment, shape_of

_DAY_HOURS = 24
DAYS = thing(
    ("days",),
    days=several(
        thing(
            ("weekday", "hours"),
            weekday=number("0 is Monday", most=6),
            hours=several(number("The hour that begins then, in the time zone of the server", most=23), _DAY_HOURS),
        ),
        7,
    ),
)
PAUSE = thing(("paused",), paused=switch("true: no crawl runs until false is sent"), note=text("Why", 500))
SCHEMAS: dict[str, Schema] = {
    "QuietHours": shape_of(
        zone=TEXT, days=list_of(shape_of(weekday=INT, hours=list_of(INT))), paused=FLAG, paused_by=TEXT,
        paused_at=MOMENT, note=TEXT, silent_now=FLAG, silent_until=MOMENT,
    ),
}  # fmt: skip


def shown(asked: ApiRequest) -> ApiResponse:
    """Days without a quiet hour are left out."""
    visible_docs(asked.request)
    return ApiResponse(_shape())


def set_hours(asked: ApiRequest) -> ApiResponse:
    """The whole week at once: a day that is not named has no quiet hours."""
    require(asked.user, Action.ADMINISTER)
    hours = ["0"] * quiet_hours.HOURS
    weekdays = [day["weekday"] for day in asked.body["days"]]
    if len(weekdays) != len(set(weekdays)):
        raise Invalid({"days": ["Name each weekday once"]})
    for day in asked.body["days"]:
        for hour in day["hours"]:
            hours[_DAY_HOURS * day["weekday"] + hour] = "1"
    quiet_hours.set_hours("".join(hours), asked.by)
    return ApiResponse(_shape())


def pause(asked: ApiRequest) -> ApiResponse:
    """As the button on the page Crawls: running crawls stop fetching within seconds, and nothing is lost."""
    require(asked.user, Action.ADMINISTER)
    if asked.body["paused"]:
        quiet_hours.pause_all(asked.by, asked.body.get("note", ""))
    else:
        quiet_hours.resume_all(asked.by)
    quiet_hours.enforce(timezone.now())
    return ApiResponse(_shape())


def _shape() -> dict[str, Any]:
    week, silence = quiet_hours.week(), quiet_hours.silence(timezone.now())
    days = [
        {"weekday": day, "hours": [hour for hour in range(_DAY_HOURS) if week.hours[_DAY_HOURS * day + hour] == "1"]}
        for day in range(7)
    ]
    return {
        "zone": timezone.get_default_timezone_name(),
        "days": [day for day in days if day["hours"]],
        "paused": bool(week.paused_by),
        "paused_by": week.paused_by,
        "paused_at": moment(week.paused_at),
        "note": week.note,
        "silent_now": silence is not None,
        "silent_until": moment(silence.until if silence else None),
    }


ADDRESSES = (
    ApiAddress("quiet-hours/", "api-quiet-hours", {
        "GET": Operation(shown, "The hours in which no crawl runs, and whether all crawls are paused", "QuietHours"),
        "PUT": Operation(set_hours, "Set the quiet hours of the week", "QuietHours", body=DAYS),
    }),
    ApiAddress("quiet-hours/pause/", "api-pause-all", {
        "POST": Operation(pause, "Pause all crawls, or let them go on", "QuietHours", body=PAUSE),
    }),
)  # fmt: skip
