"""Owns: crawls that start by themselves: what is due, when it is due again, and the limits of one launch.

A start that was missed (the tick was down) is made up for once, however many were missed. Several ticks start it once.
Does not: know the screens. Called by: the tick, the launch screen, the API.
"""

import logging
from collections.abc import Iterator, Mapping
from contextlib import suppress
from datetime import datetime, time, timedelta
from typing import Any
from zoneinfo import ZoneInfoNotFoundError

from django.utils import timezone

from clearinghouse.accounts.policies import Action, documents_for
from clearinghouse.library.models import Document
from clearinghouse.web.templatetags.formats import date_words
from crawlpoints.models import SavedView

from ..errors import AllBusy, NothingToCrawl, UnknownView
from ..models import Every, Run, Schedule
from ..policy.timetable import Rule, next_start
from ..policy.timetable import sentence as sentence_of
from .audited_change import record, together
from .document_filter import documents_in
from .launch import LaunchRequest, launch
from .launch_subset import SubsetChoice

ALL, PROJECT, VIEW, CHOSEN, POINT = "all", "project", "view", "chosen", "point"
AT_ONCE = 20
UNUSABLE = (ZoneInfoNotFoundError, ValueError)  # a time zone this machine does not know (any more), a time that is none
# Where a repeated start rightly lies, and one turn more: after a clock that went back it must not come a second time.
_FURTHEST = {Every.DAY: timedelta(hours=50), Every.WEEK: timedelta(days=14, hours=2), Every.MONTH: timedelta(days=63)}

log = logging.getLogger(__name__)


def rule_of(schedule: Schedule) -> Rule | None:
    """None for what happens once."""
    if schedule.every == Every.ONCE:
        return None
    hour, _, minute = schedule.at.partition(":")
    return Rule(
        schedule.every,
        time(int(hour), int(minute)),
        schedule.zone,
        tuple(schedule.weekdays),
        schedule.monthday,
    )


def doc_ids_of(schedule: Schedule) -> list[int] | None:
    """The documents it means now; None: all of them, as a launch understands it. Raises UnknownView."""
    if schedule.what == PROJECT:
        return list(Document.objects.filter(sheet__project=schedule.project_id).values_list("pk", flat=True))
    if schedule.what == VIEW:
        return _in_view(schedule)
    return list(schedule.doc_ids) if schedule.what in (CHOSEN, POINT) else None


def _in_view(schedule: Schedule) -> list[int]:
    """What the saved view shows now to who planned this. Raises UnknownView when it is gone or unreadable."""
    view = SavedView.objects.filter(pk=schedule.view_id).select_related("person").first()
    if view is None:
        raise UnknownView("The saved view of this planned crawl was deleted. Choose another, or delete the plan.")
    return documents_in(view.query, view.person, documents_for(view.person, Action.LAUNCH))


def choice_of(schedule: Schedule) -> SubsetChoice:
    return SubsetChoice(schedule.only, schedule.point_id if schedule.what == POINT else None)


@together()
def add(schedule: Schedule, now: datetime) -> Schedule:
    """Saves a new one; a repeated one gets its first start."""
    rule = rule_of(schedule)
    if rule is not None:
        schedule.next_at = next_start(rule, now)
    schedule.save(force_insert=True)
    _record("plan", schedule, f"Planned a crawl: {_said(schedule)}", after=_kept(schedule))
    return schedule


@together()
def change(schedule: Schedule, values: Mapping[str, Any], now: datetime) -> None:
    """Other entries; a repeated one gets its next start anew. Whether it is on stays as it is."""
    before = _kept(schedule)
    for name, value in values.items():
        setattr(schedule, name, value)
    rule = rule_of(schedule)
    if rule is not None:
        schedule.next_at = next_start(rule, now)
    schedule.last_said = ""  # of the entries before
    schedule.save(update_fields=[*values, "last_said"])
    _record("change", schedule, f"Changed the planned crawl: {_said(schedule)}", before=before, after=_kept(schedule))


@together()
def turn(schedule: Schedule, *, on: bool, now: datetime) -> None:
    """Off keeps it for later; on again does not make up for what was missed meanwhile."""
    before = {"active": schedule.active}
    schedule.active = on
    if on:
        with suppress(*UNUSABLE):  # the tick finds it due, and says what is wrong with it
            rule = rule_of(schedule)
            schedule.next_at = next_start(rule, now) if rule else schedule.next_at
    schedule.save(update_fields=["active", "next_at"])
    sentence = f"Turned {'on' if on else 'off'} the planned crawl: {_said(schedule)}"
    _record("change", schedule, sentence, before=before, after={"active": on})


@together()
def remove(schedule: Schedule) -> None:
    _record("delete", schedule, f"Deleted the planned crawl: {_said(schedule)}", before=_kept(schedule))
    schedule.delete()


def when_of(schedule: Schedule) -> str:
    """Its time in words, with the day where it happens once."""
    at = timezone.localtime(schedule.next_at) if schedule.next_at else None
    return f"Once, on {date_words(at)} at {at:%H:%M}" if at and not rule_of(schedule) else _said(schedule)


def _said(schedule: Schedule) -> str:
    rule = rule_of(schedule)
    return sentence_of(rule) if rule else "once"


def _kept(schedule: Schedule) -> dict[str, Any]:
    names = ("what", "doc_ids", "point_id", "only", "speed", "max_seconds", "max_pages", "propagate_after", "note",
             "label", "project_id", "view_id", "every", "weekdays", "monthday", "at", "zone", "active")  # fmt: skip
    return {name: getattr(schedule, name) for name in names}


def _record(action: str, schedule: Schedule, sentence: str, **change: Any) -> None:
    only = schedule.doc_ids[0] if len(schedule.doc_ids) == 1 else None
    record(action, schedule, sentence, document_id=only, **change)


def due(now: datetime) -> list[Schedule]:
    return list(Schedule.objects.filter(active=True, next_at__lte=now).order_by("next_at", "id")[:AT_ONCE])


def start_due(now: datetime) -> list[Run]:
    """Launches whatever is due."""
    runs = [start(schedule, now) for schedule in due(now)]
    return [run for run in runs if run is not None]


def start(schedule: Schedule, now: datetime) -> Run | None:
    """In one transaction with moving `next_at` on: a second tick finds it moved, a crash leaves both undone."""
    try:
        rule = rule_of(schedule)
        following = next_start(rule, now) if rule else None
    except UNUSABLE as error:
        _stand_still(schedule, error)
        return None
    with together():
        mine = Schedule.objects.filter(pk=schedule.pk, active=True, next_at=schedule.next_at)
        if not mine.update(next_at=following, last_at=now):
            return None
        run, said = _launched(schedule, now)
        Schedule.objects.filter(pk=schedule.pk).update(last_run_id=run.pk if run else None, last_said=said[:500])
    return run


def _stand_still(schedule: Schedule, error: Exception) -> None:
    """It stays due, and starts when its time means something again; the list of plans says why it does not."""
    said = f"Its time cannot be calculated: {error}. Choose another time"[:500]
    if Schedule.objects.filter(pk=schedule.pk).exclude(last_said=said).update(last_said=said, last_run_id=None):
        log.warning("Planned crawl %s does not start: %s", schedule.pk, error)


def bring_near(now: datetime) -> None:
    """Starts that were reckoned while a clock was far ahead: they would not come before it is that late again."""
    for every, furthest in _FURTHEST.items():
        for schedule in Schedule.objects.filter(active=True, every=every, next_at__gt=now + furthest):
            with suppress(*UNUSABLE):
                rule = rule_of(schedule)
                mine = Schedule.objects.filter(pk=schedule.pk, next_at=schedule.next_at)
                mine.update(next_at=next_start(rule, now) if rule else None)
                log.warning("Planned crawl %s was set to %s: a clock was ahead", schedule.pk, schedule.next_at)


def _launched(schedule: Schedule, now: datetime) -> tuple[Run | None, str]:
    names = ("max_pages", "speed", "note", "label", "propagate_after", "max_seconds")
    try:
        request = LaunchRequest(
            doc_ids_of(schedule), by=schedule.created_by, origin="schedule", choice=choice_of(schedule), now=now,
            **{name: getattr(schedule, name) for name in names},
        )  # fmt: skip
        return launch(request), ""
    except (NothingToCrawl, AllBusy) as refusal:
        return None, str(refusal)


def upcoming(begin: datetime, end: datetime) -> list[tuple[datetime, Schedule]]:
    """Every start that is planned between two instants, in order."""
    planned: list[tuple[datetime, Schedule]] = []
    for schedule in Schedule.objects.filter(active=True, next_at__isnull=False):
        with suppress(*UNUSABLE):
            planned += ((at, schedule) for at in _starts(schedule, end) if at >= begin)
    return sorted(planned, key=lambda item: (item[0], item[1].pk))


def _starts(schedule: Schedule, end: datetime) -> Iterator[datetime]:
    rule, at = rule_of(schedule), schedule.next_at
    while at is not None and at < end:
        yield at
        at = next_start(rule, at) if rule else None


def zone_name() -> str:
    """The clock of a new schedule: that of the person who makes it."""
    return timezone.get_current_timezone_name()
