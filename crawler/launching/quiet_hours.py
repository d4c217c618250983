"""Owns: the hours in which no crawl may run, the pause of all crawls, and the runs held back by them.

A run held back is paused like by a person, and resumed when the hours end; who resumes it by hand meanwhile has the
last word. Runs of the command crawl and previews are never held.
Does not: start runs (schedules). Called by: the tick, screens, the API.
"""

from dataclasses import dataclass
from datetime import datetime, timedelta

from django.utils import timezone

from clearinghouse.database.records import acting_as
from clearinghouse.web.plurals import plural

from ..errors import WrongMoment
from ..models import OPEN_STATES, Hold, QuietWeek, Run, State
from ..policy.timetable import is_quiet, quiet_until
from . import control
from .audited_change import record, together

QUIET, PAUSE = "quiet", "pause"
NAMES = {QUIET: "quiet hours", PAUSE: "the pause of all crawls"}
HOURS = 168
_ONLY = 1  # the key of the one row


@dataclass(frozen=True, slots=True)
class Silence:
    """Why no crawl may run now, and until when."""

    reason: str
    until: datetime | None = None
    by: str = ""


def week() -> QuietWeek:
    """The settings; before anybody saved some: no quiet hours."""
    return QuietWeek.objects.filter(pk=_ONLY).first() or QuietWeek(pk=_ONLY)


def silence(now: datetime) -> Silence | None:
    """None while crawls may run."""
    settings = week()
    if settings.paused_by:
        return Silence(PAUSE, by=settings.paused_by)
    zone = timezone.get_default_timezone_name()
    if is_quiet(settings.hours, now, zone):
        return Silence(QUIET, quiet_until(settings.hours, now, zone))
    return None


def held_by(reason: str, why: Silence | None) -> str:
    """What holds a run back, in words: "quiet hours until 19:00"; empty for a run that is not held."""
    if not reason:
        return ""
    until = timezone.localtime(why.until) if why and why.until and reason == QUIET else None
    return f"{NAMES[reason]} until {until:%H:%M}" if until else NAMES[reason]


def next_quiet(now: datetime) -> datetime | None:
    """When the next quiet hours begin; None where there are none, or while they last."""
    settings, zone = week(), timezone.get_default_timezone_name()
    if "1" not in settings.hours or is_quiet(settings.hours, now, zone):
        return None
    hour = now.replace(minute=0, second=0, microsecond=0)
    coming = (hour + timedelta(hours=ahead) for ahead in range(1, HOURS + 2))
    return next((at for at in coming if is_quiet(settings.hours, at, zone)), None)


@together()
def set_hours(hours: str, by: str) -> None:
    if len(hours) != HOURS or set(hours) - {"0", "1"}:
        raise ValueError("hours are 168 times 0 or 1")
    before = week().hours
    row = _save(by, hours=hours)
    _record(
        row, by, f"Set quiet hours: {plural(hours.count('1'), 'hour')} of the week", {"hours": before}, {"hours": hours}
    )


@together()
def pause_all(by: str, note: str = "") -> None:
    """No crawl runs until resume_all; what runs is paused within seconds."""
    before = {"paused_by": week().paused_by}
    row = _save(by, paused_by=by, paused_at=timezone.now(), note=note)
    _record(row, by, "Paused all crawls", before, {"paused_by": by, "note": note})


@together()
def resume_all(by: str) -> None:
    before = {"paused_by": week().paused_by}
    row = _save(by, paused_by="", paused_at=None, note="")
    _record(row, by, "Let crawls go on", before, {"paused_by": ""})


def _save(by: str, **values: object) -> QuietWeek:
    values |= {"changed_by": by, "changed_at": timezone.now()}
    return QuietWeek.objects.update_or_create(pk=_ONLY, defaults=values)[0]


def _record(row: QuietWeek, by: str, sentence: str, before: dict[str, str], after: dict[str, str]) -> None:
    with acting_as(by):
        record("change", row, sentence, before=before, after=after)


def enforce(now: datetime) -> None:
    """One look: holds what may not run now, lets go what may again. Safe to repeat, also from several ticks."""
    reason = silence(now)
    if reason is not None:
        for run in _to_hold():
            _hold(run, reason.reason, now)
        return
    for hold in Hold.objects.select_related("run"):
        _release(hold)


def _to_hold() -> list[Run]:
    runs = Run.objects.filter(state__in=(State.WAITING, State.RUNNING, State.INTERRUPTED), control="", driver=None)
    return list(runs.filter(hold=None).exclude(origin="preview"))


def _hold(run: Run, reason: str, now: datetime) -> None:
    with together():
        _, new = Hold.objects.get_or_create(run=run, defaults={"reason": reason, "at": now})
        if not new:
            return
        try:
            control.hold(run, NAMES[reason])
        except WrongMoment:
            Hold.objects.filter(run=run).delete()  # it ended, or was asked something else, meanwhile


def _release(hold: Hold) -> None:
    run = hold.run
    with together():
        if not Hold.objects.filter(pk=hold.pk).delete()[0]:
            return
        if run.state not in OPEN_STATES or run.control != control.PAUSE:
            return
        try:
            control.resume(run, f"the end of {NAMES[hold.reason]}")
        except WrongMoment:
            return
