"""Owns: the JSON API of launching: a crawl now, planned crawls, asking for one, quiet hours, the pause of all crawls.

Does not: change rows itself. Called by: crawler.api.
"""

import re
from collections.abc import Mapping
from typing import Any

from django.http import Http404
from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from clearinghouse.accounts import options as choices
from clearinghouse.accounts.policies import Action, RoleScope, document_or_404, documents_for, require, scope_of
from clearinghouse.library.models import Project
from crawlpoints.models import CrawlPointLink, SavedView
from crawlpoints.point_checks import Invalid
from crawlpoints.saved_views import views_of

from ..api.contract import OF_DOCUMENT, ApiRequest, Json, page_of, router, row_or_404
from ..api.request_fields import choice, fields, number, several, switch, text
from ..api.response_fields import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, JsonObject, list_of, shape_of
from ..models import Every, Schedule
from ..runs.api import RUN, SPEED_FIELD, run_json
from ..runs.run_counts import totals
from ..runs.views.run_access import visible_docs
from . import control, crawl_requests, quiet_hours, schedules
from . import launch as launching
from .document_filter import documents_in
from .launch import LaunchRequest
from .launch_subset import ONLY_FAILED, ONLY_NEW, SubsetChoice
from .views.plan_views import PlanShown, plans_of
from .views.schedule_form import AT, WhenForm, moment_of

SCOPE = ("documents", "project", "view", "crawl_point", "all")
_DAY_HOURS = 24
_LIMITS = {
    "max_pages": number("At most so many pages of each crawl point; 0 is its own maximum", most=10_000_000),
    "max_seconds": number("Stop this run after so many seconds; 0 is no limit", most=30 * 24 * 3600),
    "note": text("Why this run is launched"),
    "label": text("A word by which the run is found again", control.LABEL),
    "propagate_after": switch("Propagate the results when the run has finished"),
}
_WHAT = {
    "all": switch("Every document you may launch: nothing is launched unless its scope is named"),
    "documents": several(number("Key of a document", least=1), 10_000),
    "project": text("All documents of this project", 100),
    "view": number("Key of one of your saved views: the documents it shows now", least=1),
    "crawl_point": number("Key of the one crawl point to crawl", least=1),
    "only": choice("Less than everything", ONLY_FAILED, ONLY_NEW),
    "speed": SPEED_FIELD,
    **_LIMITS,
}
LAUNCH = fields(
    **_WHAT, errors=text("With only=failed: the key of one group of errors, see the errors of the last run", 16)
)
PLAN = fields(
    ("every", "at"),
    **_WHAT,
    every=choice("How often it starts", *Every.values),
    at=text("The time it starts, like 02:00", 8),
    date=text("With every=once: the day, like 2026-11-22", 10),
    weekdays=several(number("0 is Monday", most=6), 7),
    monthday=number("With every=month; 31 is the last day", least=1, most=31),
)
CHANGE = fields(("active",), active=switch("Whether it starts"))
REQUEST = fields(note=text("Why", 500))
_HOURS = several(number("The hour that begins then, in the time zone of the server", most=23), _DAY_HOURS)
DAYS = fields(
    ("days",),
    days=several(fields(("weekday", "hours"), weekday=number("0 is Monday", most=6), hours=_HOURS), 7),
)
PAUSE = fields(("paused",), paused=switch("true: no crawl runs until false is sent"), note=text("Why", 500))
SCHEDULE = JsonObject(
    "Schedule", id=INT, what=TEXT, when=TEXT, zone=TEXT, active=FLAG, next_at=MOMENT, documents=INT,
    pages_last_time=INT, speed=TEXT, note=TEXT, label=TEXT, created_by=TEXT, last_run_id=INT_OR_NOTHING, last_said=TEXT,
)  # fmt: skip
DELETED = JsonObject("Deleted", id=INT)
CRAWL_REQUEST = JsonObject(
    "CrawlRequest", id=INT, document_id=INT, title=TEXT, note=TEXT, state=TEXT, asked_by=TEXT, asked_at=MOMENT,
    answer=TEXT, answered_by=TEXT, answered_at=MOMENT, run_id=INT_OR_NOTHING,
)  # fmt: skip
QUIET_HOURS = JsonObject(
    "QuietHours", zone=TEXT, days=list_of(shape_of(weekday=INT, hours=list_of(INT))), paused=FLAG, paused_by=TEXT,
    paused_at=MOMENT, note=TEXT, silent_now=FLAG, silent_until=MOMENT,
)  # fmt: skip
OF_SCHEDULE = "schedules/<int:schedule_id>/"
_FORM_FIELDS = {"when": "every", "weekday": "weekdays"}  # of the form, where the contract calls them otherwise


@router.post(
    "runs/", "api-runs", "Launch a crawl of documents, a project, a view, a crawl point, or all", RUN, body=LAUNCH,
    status=201,
)  # fmt: skip
def launch(asked: ApiRequest) -> Json:
    require(asked.user, Action.LAUNCH)
    body = asked.body
    if body.get("propagate_after"):
        require(asked.user, Action.PROPAGATE)
    part = SubsetChoice(body.get("only", ""), body.get("crawl_point"), _error_group(body))
    run = launching.launch(LaunchRequest(_wanted(asked), by=asked.by, origin="api", choice=part, **_limits(body)))
    crawl_requests.answer_by_launch(run, part)
    return run_json(run, totals(run))


def _limits(body: Mapping[str, Any]) -> dict[str, Any]:
    return {name: body[name] for name in _LIMITS if name in body} | {"speed": body.get("speed") or choices.speed()}


def _error_group(body: Mapping[str, Any]) -> str:
    key = str(body.get("errors", ""))
    if key and (body.get("only") != ONLY_FAILED or not re.fullmatch("[0-9a-f]{16}", key)):
        raise Invalid({"errors": ["The key of a group of errors, together with only=failed"]})
    return key


def _wanted(asked: ApiRequest) -> list[int] | None:
    """The documents to crawl: of the named ones those this person may launch; None for every document."""
    _named_or_invalid(asked.body)
    rows = documents_for(asked.user, Action.LAUNCH)
    chosen, project = asked.body.get("documents"), asked.body.get("project")
    if point := asked.body.get("crawl_point"):
        rows = rows.filter(pk__in=CrawlPointLink.objects.filter(crawl_point=point).values("document"))
        if not rows.exists():
            raise Http404("No such crawl point, or not yours to launch")
        return sorted(rows.values_list("pk", flat=True))
    if view := asked.body.get("view"):
        return documents_in(_view_or_404(asked, view).query, asked.user, rows)
    if chosen is None and project is None and scope_of(asked.user, Action.LAUNCH) is RoleScope.ALL:
        return None
    if project is not None:
        rows = rows.filter(sheet__project__name=project)
    known = set(rows.values_list("pk", flat=True))
    if missing := set(chosen or ()) - known:
        raise Http404(f"No such document, or not yours to launch: {', '.join(map(str, sorted(missing)[:20]))}")
    return sorted(known if chosen is None else set(chosen))


def _named_or_invalid(body: Mapping[str, Any]) -> None:
    """What is to be crawled is said in so many words: an empty body, or one that was lost, never means everything."""
    named = [name for name in SCOPE if body.get(name) or (name == "documents" and name in body)]
    if not named:
        sentence = "Name what is to be crawled: documents, a project, a view, a crawl_point, or all (true)"
        raise Invalid({"documents": [sentence]})
    if "all" in named and len(named) > 1:
        raise Invalid({"all": [f"Leave this away, or {', '.join(name for name in named if name != 'all')}"]})


def _view_or_404(asked: ApiRequest, view_id: int) -> SavedView:
    found: SavedView = row_or_404(views_of(asked.user), view_id, "You have no saved view with this key")
    return found


@router.post(
    OF_DOCUMENT + "request-crawl/", "api-request-crawl", "Ask the administrators for a crawl of this document",
    CRAWL_REQUEST, body=REQUEST, status=201,
)  # fmt: skip
def request_crawl(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id, Action.REQUEST)
    row = crawl_requests.ask(document, asked.by, asked.body.get("note", ""))
    return CRAWL_REQUEST.of(row, document_id=row.doc_id)


@router.get("schedules/", "api-schedules", "Planned crawls, the next one first", SCHEDULE, many=True)
def planned(asked: ApiRequest) -> Json:
    """Those that touch a document you may see, the next one first; numbers count your documents."""
    return page_of(plans_of(visible_docs(asked.request)), asked, _schedule_json)


@router.post(
    "schedules/", "api-schedules", "Plan a crawl, once or every day, week or month", SCHEDULE, body=PLAN, status=201
)  # fmt: skip
def plan(asked: ApiRequest) -> Json:
    """As a launch now, but later, once or again and again; times are those of your own clock."""
    require(asked.user, Action.ADMINISTER)
    if asked.body.get("propagate_after"):
        require(asked.user, Action.PROPAGATE)
    now, times = timezone.now(), _times(asked.body)
    row = Schedule(
        **_scope(asked), **_limits(asked.body), every=asked.body["every"], weekdays=sorted(times["weekday"]),
        monthday=times["monthday"] or 1, at=f"{times['at']:%H:%M}", zone=schedules.zone_name(),
        next_at=moment_of(times) if asked.body["every"] == Every.ONCE else None, created_by=asked.by, created_at=now,
    )  # fmt: skip
    schedules.add(row, now)
    crawl_requests.answer_by_plan(row)
    return schedule(asked, row.pk)


def _times(body: Mapping[str, Any]) -> dict[str, Any]:
    """Checked by the form of the launch page."""
    sent = {
        "when": [AT if body["every"] == Every.ONCE else body["every"]],
        "at": [body["at"]],
        "date": [body.get("date", "")],
        "weekday": [str(day) for day in body.get("weekdays", ())],
        "monthday": [str(body.get("monthday", ""))],
    }
    form = WhenForm(MultiValueDict(sent))
    if not form.is_valid():
        raise Invalid({_FORM_FIELDS.get(name, name): list(map(str, found)) for name, found in form.errors.items()})
    return form.cleaned_data


def _scope(asked: ApiRequest) -> dict[str, Any]:
    """What is meant; documents are those it means now, a project or a view whatever it holds then."""
    body = asked.body
    _named_or_invalid(body)
    point, view, project = (body.get(name) for name in ("crawl_point", "view", "project"))
    found = {"point_id": point, "only": body.get("only", "")}
    if point or body.get("documents") is not None:
        return found | {"what": schedules.POINT if point else schedules.CHOSEN, "doc_ids": _wanted(asked)}
    if view:
        return found | {"what": schedules.VIEW, "view_id": _view_or_404(asked, view).pk}
    if project is None:
        return found | {"what": schedules.ALL}
    row = Project.objects.filter(name=project).first()
    if row is None:
        raise Http404("No such project")
    return found | {"what": schedules.PROJECT, "project_id": row.pk}


@router.get(OF_SCHEDULE, "api-schedule", "One planned crawl", SCHEDULE)
def schedule(asked: ApiRequest, schedule_id: int) -> Json:
    return _schedule_json(_plan_or_404(asked, schedule_id))


@router.patch(OF_SCHEDULE, "api-schedule", "Turn a planned crawl off or on", SCHEDULE, body=CHANGE)
def turn(asked: ApiRequest, schedule_id: int) -> Json:
    require(asked.user, Action.ADMINISTER)
    schedules.turn(_plan_or_404(asked, schedule_id).schedule, on=asked.body["active"], now=timezone.now())
    return schedule(asked, schedule_id)


@router.delete(OF_SCHEDULE, "api-schedule", "Delete a planned crawl", DELETED)
def delete(asked: ApiRequest, schedule_id: int) -> Json:
    require(asked.user, Action.ADMINISTER)
    schedules.remove(_plan_or_404(asked, schedule_id).schedule)
    return {"id": schedule_id}


def _plan_or_404(asked: ApiRequest, schedule_id: int) -> PlanShown:
    plans = plans_of(visible_docs(asked.request))
    found = next((plan for plan in plans if plan.schedule.pk == schedule_id), None)
    if found is None:
        raise Http404("No such planned crawl")
    return found


def _schedule_json(plan: PlanShown) -> Json:
    row, planned = plan.schedule, plan.planned
    return SCHEDULE.of(
        row, what=plan.what, when=plan.said, next_at=row.next_at if row.active else None, documents=planned.documents,
        pages_last_time=planned.pages,
    )  # fmt: skip


@router.get(
    "quiet-hours/", "api-quiet-hours", "The hours in which no crawl runs, and whether all crawls are paused",
    QUIET_HOURS,
)  # fmt: skip
def hours(asked: ApiRequest) -> Json:
    """Days without a quiet hour are left out."""
    visible_docs(asked.request)
    return _quiet_hours_json()


@router.put("quiet-hours/", "api-quiet-hours", "Set the quiet hours of the week", QUIET_HOURS, body=DAYS)
def set_hours(asked: ApiRequest) -> Json:
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
    return _quiet_hours_json()


@router.post("quiet-hours/pause/", "api-pause-all", "Pause all crawls, or let them go on", QUIET_HOURS, body=PAUSE)
def pause(asked: ApiRequest) -> Json:
    """As the button on the page Crawls: running crawls stop fetching within seconds, and nothing is lost."""
    require(asked.user, Action.ADMINISTER)
    if asked.body["paused"]:
        quiet_hours.pause_all(asked.by, asked.body.get("note", ""))
    else:
        quiet_hours.resume_all(asked.by)
    quiet_hours.enforce(timezone.now())
    return _quiet_hours_json()


def _quiet_hours_json() -> Json:
    week, silence = quiet_hours.week(), quiet_hours.silence(timezone.now())
    days = [
        {"weekday": day, "hours": [hour for hour in range(_DAY_HOURS) if week.hours[_DAY_HOURS * day + hour] == "1"]}
        for day in range(7)
    ]
    return QUIET_HOURS.of(
        week, zone=timezone.get_default_timezone_name(), days=[day for day in days if day["hours"]],
        paused=bool(week.paused_by), silent_now=silence is not None, silent_until=silence.until if silence else None,
    )  # fmt: skip
