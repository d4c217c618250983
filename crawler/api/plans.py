"""Operations on planned crawls: list them, plan one, turn it off and on, delete it."""

from typing import Any

from django.http import Http404
from django.utils import timezone
from django.utils.datastructures import MultiValueDict

from clearinghouse.accounts import options as choices
from clearinghouse.accounts.policies import Action, require
from clearinghouse.library.models import Project
from crawlpoints.point_checks import Invalid

from ..launching import crawl_requests, schedules
from ..launching.views.plan_views import PlanShown, plans_of
from ..launching.views.schedule_form import AT, WhenForm, moment_of
from ..models import Every, Schedule
from ..runs.views.run_access import visible_docs
from . import runs
from .contract import (
    PAGING,
    ApiAddress,
    ApiRequest,
    ApiResponse,
    Operation,
    Schema,
    choice,
    number,
    several,
    switch,
    text,
    thing,
)
from .door import page_of
from .paths import SCHEDULE
from .shapes import FLAG, INT, INT_OR_NOTHING, MOMENT, TEXT, moment, shape_of

PLAN = thing(
    ("every", "at"),
    **{name: one for name, one in runs.LAUNCH["properties"].items() if name != "errors"},
    every=choice("How often it starts", *Every.values),
    at=text("The time it starts, like 02:00", 8),
    date=text("With every=once: the day, like 2026-11-22", 10),
    weekdays=several(number("0 is Monday", most=6), 7),
    monthday=number("With every=month; 31 is the last day", least=1, most=31),
)
CHANGE = thing(("active",), active=switch("Whether it starts"))
SCHEMAS: dict[str, Schema] = {
    "Schedule": shape_of(
        id=INT, what=TEXT, when=TEXT, zone=TEXT, active=FLAG, next_at=MOMENT, documents=INT, pages_last_time=INT,
        speed=TEXT, note=TEXT, label=TEXT, created_by=TEXT, last_run_id=INT_OR_NOTHING, last_said=TEXT,
    ),
    "Deleted": shape_of(id=INT),
}  # fmt: skip
_FIELDS = {"when": "every", "weekday": "weekdays"}  # of the form, where the contract calls them otherwise


def listed(asked: ApiRequest) -> ApiResponse:
    """Those that touch a document you may see, the next one first; numbers count your documents."""
    plans = plans_of(visible_docs(asked.request))
    return page_of(plans, asked, lambda page: [_shape(plan) for plan in page])


def add(asked: ApiRequest) -> ApiResponse:
    """As a launch now, but later, once or again and again; times are those of your own clock."""
    require(asked.user, Action.ADMINISTER)
    if asked.body.get("propagate_after"):
        require(asked.user, Action.PROPAGATE)
    now, times = timezone.now(), _times(asked.body)
    row = Schedule(
        **_what(asked), **_limits(asked.body), every=asked.body["every"], weekdays=sorted(times["weekday"]),
        monthday=times["monthday"] or 1, at=f"{times['at']:%H:%M}", zone=schedules.zone_name(),
        next_at=moment_of(times) if asked.body["every"] == Every.ONCE else None, created_by=asked.by, created_at=now,
    )  # fmt: skip
    schedules.add(row, now)
    crawl_requests.answer_by_plan(row)
    return _answer(asked, row.pk, 201)


def _times(body: Any) -> dict[str, Any]:
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
        raise Invalid({_FIELDS.get(name, name): list(map(str, found)) for name, found in form.errors.items()})
    return form.cleaned_data


def _what(asked: ApiRequest) -> dict[str, Any]:
    """What of the house is meant; documents are those it means now, a project or a view whatever it holds then."""
    body = asked.body
    runs.named_or_invalid(body)
    point, view, project = (body.get(name) for name in ("crawl_point", "view", "project"))
    found = {"point_id": point, "only": body.get("only", "")}
    if point or body.get("documents") is not None:
        what = schedules.POINT if point else schedules.CHOSEN
        return found | {"what": what, "doc_ids": runs.wanted(asked)}
    if view:
        return found | {"what": schedules.VIEW, "view_id": runs.view_or_404(asked, view).pk}
    if project is None:
        return found | {"what": schedules.ALL}
    row = Project.objects.filter(name=project).first()
    if row is None:
        raise Http404("No such project")
    return found | {"what": schedules.PROJECT, "project_id": row.pk}


def _limits(body: Any) -> dict[str, Any]:
    names = ("note", "label", "propagate_after", "max_seconds", "max_pages")
    return {name: body[name] for name in names if name in body} | {"speed": body.get("speed") or choices.speed()}


def one(asked: ApiRequest, schedule_id: int) -> ApiResponse:
    return _answer(asked, schedule_id)


def change(asked: ApiRequest, schedule_id: int) -> ApiResponse:
    require(asked.user, Action.ADMINISTER)
    schedules.turn(_found(asked, schedule_id).schedule, on=asked.body["active"], now=timezone.now())
    return _answer(asked, schedule_id)


def delete(asked: ApiRequest, schedule_id: int) -> ApiResponse:
    require(asked.user, Action.ADMINISTER)
    schedules.remove(_found(asked, schedule_id).schedule)
    return ApiResponse({"id": schedule_id})


def _answer(asked: ApiRequest, schedule_id: int, status: int = 200) -> ApiResponse:
    return ApiResponse(_shape(_found(asked, schedule_id)), status)


def _found(asked: ApiRequest, schedule_id: int) -> PlanShown:
    plans = plans_of(visible_docs(asked.request))
    found = next((plan for plan in plans if plan.schedule.pk == schedule_id), None)
    if found is None:
        raise Http404("No such planned crawl")
    return found


def _shape(plan: PlanShown) -> dict[str, Any]:
    row = plan.schedule
    names = ("id", "zone", "active", "speed", "note", "label", "created_by", "last_run_id", "last_said")
    return {name: getattr(row, name) for name in names} | {
        "what": plan.what,
        "when": plan.said,
        "next_at": moment(row.next_at if row.active else None),
        "documents": plan.planned.documents,
        "pages_last_time": plan.planned.pages,
    }


ADDRESSES = (
    ApiAddress("schedules/", "api-schedules", {
        "GET": Operation(listed, "Planned crawls, the next one first", "Schedule", many=True, query=PAGING),
        "POST": Operation(add, "Plan a crawl, once or every day, week or month", "Schedule", body=PLAN, status=201),
    }),
    ApiAddress(SCHEDULE, "api-schedule", {
        "GET": Operation(one, "One planned crawl", "Schedule"),
        "PATCH": Operation(change, "Turn a planned crawl off or on", "Schedule", body=CHANGE),
        "DELETE": Operation(delete, "Delete a planned crawl", "Deleted"),
    }),
)  # fmt: skip
