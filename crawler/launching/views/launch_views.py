"""The launch form: what to crawl, how fast, how far, when, what comes afterwards; the button says what it will do."""

from dataclasses import dataclass, field, replace
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts import options
from clearinghouse.accounts.policies import Action, doc_ids_for, require
from crawler.errors import AllBusy, NothingToCrawl, TooManyAtOnce
from crawler.models import Schedule
from crawler.preview import preview_rows
from crawler.runs.queries import labels_of, runs_crawling

from .. import crawl_requests, quiet_hours, schedules
from .. import launch as intake
from ..schedules import ALL, CHOSEN, POINT, PROJECT, VIEW
from .launch_form import PREVIEW, LaunchForm
from .plan_form import options_of, values_of
from .schedule_form import NOW, plan_of


@dataclass(frozen=True, slots=True)
class LaunchScope:
    """What a launch of the present choice would do."""

    documents: int = 0  # that would be crawled
    points: int = 0
    pages: int = 0  # that failed last time, when only those are wanted
    inactive: int = 0
    busy: int = 0
    crawling: list[tuple[int, int]] = field(default_factory=list)  # run, how many of them it crawls


def scope_of(form: LaunchForm) -> LaunchScope:
    values = form.cleaned_data
    counts = intake.scope(form.doc_ids(values), form.choice(values))
    busy = list(counts["busy"])
    return LaunchScope(
        documents=counts["documents"],
        points=counts["points"],
        pages=counts["pages"],
        inactive=counts["inactive"],
        busy=len(busy),
        crawling=runs_crawling(busy) if busy else [],
    )


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.LAUNCH)
    if request.method == "POST":
        return _launch(request)
    return counted(request, LaunchForm(request.user, _asked(request)))


def counted(request: HttpRequest, form: LaunchForm) -> HttpResponse:
    """The form with the effect of the present choice; nothing is launched, and half a choice is no error yet."""
    form.is_valid()
    scope = scope_of(form)
    form.errors.clear()
    template = "launching/launch_scope.html" if "HX-Request" in request.headers else "launching/launch.html"
    return render(request, template, context_of(form, scope))


_NAMED = {"crawl_point": POINT, "doc": CHOSEN, "view": VIEW, "project": PROJECT}


def _asked(request: HttpRequest) -> Any:
    """The choice in the address: ?doc=5 ticks a document, ?crawl_point=7 means that one alone, ?only=failed how; the
    rest has the values of a polite first try."""
    data = request.GET.copy()
    data.setdefault("what", next((what for name, what in _NAMED.items() if data.get(name)), ALL))
    data.setdefault("speed", options.speed())
    data.setdefault("when", NOW)
    data.setdefault("at", "02:00")
    if "HX-Request" not in request.headers and "weekday" not in data:
        data["weekday"] = "6"
    return data


def _launch(request: HttpRequest) -> HttpResponse:
    form = LaunchForm(request.user, request.POST)
    if "count" in request.POST:
        return counted(request, form)
    if form.is_valid():
        values = form.cleaned_data
        if values["only"] == PREVIEW:
            return _preview(request, form)
        if (values.get("when") or NOW) != NOW:
            require(request.user, Action.ADMINISTER)
            return _planned(request, form)
        try:
            run = schedules.launch(
                form.doc_ids(values), by=request.user.get_username(), choice=form.choice(values), **options_of(form)
            )
        except (NothingToCrawl, AllBusy) as refusal:
            form.add_error("only" if form.choice(values).only else "what", str(refusal))
        else:
            crawl_requests.answer_by_launch(run, form.choice(values))
            schedules.begin(run, timezone.now())
            return redirect("run", run.pk)
    context = context_of(form, scope_of(form))
    return render(request, "launching/launch.html", context, status=422)


def _preview(request: HttpRequest, form: LaunchForm) -> HttpResponse:
    """Of the one document chosen, or of the one crawl point."""
    document = form.one_document(form.cleaned_data)
    assert document is not None  # else the form was not valid
    snapshot = intake.snapshot_of(document)
    wanted = form.choice(form.cleaned_data).point_id
    points = tuple(point for point in snapshot.points if wanted in (None, point.id))
    if not points:
        form.add_error("what", intake.NO_SUCH_POINT)
        return render(request, "launching/launch.html", context_of(form, scope_of(form)), status=422)
    try:
        row = preview_rows.ask(replace(snapshot, points=points), request.user.get_username(), {})
    except TooManyAtOnce as refusal:
        form.add_error("only", str(refusal))
        answer = render(request, "launching/launch.html", context_of(form, scope_of(form)), status=429)
        answer.headers["Retry-After"] = str(refusal.seconds)
        return answer
    return redirect("preview", document.pk, row.pk)


def _planned(request: HttpRequest, form: LaunchForm) -> HttpResponse:
    """Keeps the launch for later."""
    now = timezone.now()
    schedule = Schedule(**values_of(form), created_by=request.user.get_username(), created_at=now)
    schedules.add(schedule, now)
    crawl_requests.answer_by_plan(schedule)
    messages.success(request, f"Planned. {plan_of(form.cleaned_data, now)[0]}.")
    return redirect("schedules")


def _absent(form: LaunchForm, views: list[Any]) -> set[str]:
    """Choices with nothing to choose from."""
    return ({POINT} if form.point is None else set()) | (set() if views else {VIEW})


def context_of(form: LaunchForm, scope: LaunchScope) -> dict[str, Any]:
    chosen = {str(value) for value in form["doc"].value() or []}
    values = getattr(form, "cleaned_data", {})
    plan, next_at = plan_of(values, timezone.now())
    return {
        "form": form,
        "scope": scope,
        "plan": plan,
        "preview": form.one_document(values) if values.get("only") == PREVIEW else None,
        "next_at": next_at,
        "silence": None if plan or form.plan else quiet_hours.silence(timezone.now()),
        "zone": schedules.zone_name(),
        "projects": list(form.projects),
        "views": (views := list(form.views)),
        "whats": [box for box in form["what"] if box.data["value"] not in _absent(form, views)],
        "labels": [label for label, _ in labels_of(doc_ids_for(form.user, Action.VIEW_RUNS))],
        "listed": [(document, str(document.pk) in chosen) for document in form.listed],
        "not_listed": form.not_listed,
        "problems": [(f"id_{name}", message) for name, errors in form.errors.items() for message in errors],
    }
