"""The launch form: what to crawl, how fast, how far, when, what comes afterwards; the button says what it will do."""

from dataclasses import dataclass, field
from typing import Any

from django import forms
from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_http_methods

from clearinghouse.access import options
from clearinghouse.access.policies import Action, documents_for, may, require
from clearinghouse.access.policies import Scope as Everywhere
from clearinghouse.access.policies import scope_of as scope_of_person
from clearinghouse.library.models import Document, Project

from .. import intake, quiet, schedules
from ..errors import AllBusy, NothingToCrawl
from ..models import Every, Schedule
from ..queries.runs import runs_crawling
from ..schedules import ALL, CHOSEN, PROJECT
from .possible import SPEEDS
from .when import AT, NOW, WhenForm, moment_of, plan_of

_WHAT = [(ALL, "All active documents"), (PROJECT, "A project"), (CHOSEN, "Chosen documents")]
_SPEED_HINTS = {
    "polite": "Polite: one request a second to each site",
    "medium": "Medium: five requests a second, two at a time",
    "fast": "Fast: no pause, sixteen at a time; for your own sites",
}
_LISTED = 500
_DAY_MINUTES = 24 * 60


class LaunchForm(WhenForm):
    what = forms.ChoiceField(label="What", choices=_WHAT, initial=ALL)
    speed = forms.ChoiceField(label="Speed", choices=[(name, _SPEED_HINTS[name]) for name in SPEEDS])
    minutes = forms.IntegerField(
        label="Minutes",
        required=False,
        min_value=1,
        max_value=30 * _DAY_MINUTES,
        help_text="Stop this run after so many minutes. Leave empty for no limit.",
        error_messages={"invalid": "Enter a whole number of minutes, or leave it empty"},
    )
    pages = forms.IntegerField(
        label="Pages",
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text="At most so many pages of each crawl point in this run, never more than its own maximum.",
        error_messages={"invalid": "Enter a whole number of pages, or leave it empty"},
    )
    propagate_after = forms.BooleanField(label="Propagate the results when the run has finished", required=False)
    note = forms.CharField(
        label="Note", required=False, max_length=500, help_text="Why this run is launched. Colleagues see it."
    )

    def __init__(self, user: Any, data: Any = None) -> None:
        super().__init__(data)
        self.user = user
        # Who may launch by a setting neither plans crawls nor reaches the public servers.
        self.plans, self.propagates = may(user, Action.ADMINISTER), may(user, Action.PROPAGATE)
        self.projects = Project.objects.all()
        self.documents = documents_for(user, Action.LAUNCH).order_by("sheet__title", "pk")
        if scope_of_person(user, Action.LAUNCH) is not Everywhere.ALL:
            theirs = self.documents.order_by().values("sheet__project")
            self.projects = self.projects.filter(pk__in=theirs)
            self.fields["what"].choices = [(ALL, "All documents I may launch"), *_WHAT[1:]]
        self.fields["project"] = forms.ModelChoiceField(self.projects, label="Project", required=False)
        self.listed: list[Document] = list(self.documents[:_LISTED])
        choices = [(document.pk, document.title) for document in self.documents]
        self.fields["doc"] = forms.TypedMultipleChoiceField(
            label="Documents", choices=choices, coerce=int, required=False
        )
        self.not_listed = len(choices) - len(self.listed)

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        if cleaned.get("what") == PROJECT and not cleaned.get("project") and "project" not in self.errors:
            self.add_error("project", "Choose the project to crawl")
        if cleaned.get("what") == CHOSEN and not cleaned.get("doc") and "doc" not in self.errors:
            self.add_error("doc", "Choose at least one document")
        return cleaned


@dataclass(frozen=True, slots=True)
class Scope:
    """What a launch of the present choice would do."""

    documents: int = 0  # that would be crawled
    points: int = 0
    inactive: int = 0
    busy: int = 0
    crawling: list[tuple[int, int]] = field(default_factory=list)  # run, how many of them it crawls


def doc_ids_of(form: LaunchForm, values: dict[str, Any]) -> list[int] | None:
    """None means all documents, as intake understands it."""
    if values.get("what") == PROJECT and values.get("project"):
        return list(form.documents.filter(sheet__project=values["project"]).values_list("pk", flat=True))
    if values.get("what") == CHOSEN:
        return list(values.get("doc") or [])
    if values.get("what") == PROJECT:
        return []
    everything = scope_of_person(form.user, Action.LAUNCH) is Everywhere.ALL
    return None if everything else list(form.documents.values_list("pk", flat=True))


def scope_of(doc_ids: list[int] | None) -> Scope:
    counts = intake.scope(doc_ids)
    busy = list(counts["busy"])
    return Scope(
        documents=counts["documents"],
        points=counts["points"],
        inactive=counts["inactive"],
        busy=len(busy),
        crawling=runs_crawling(busy) if busy else [],
    )


@require_http_methods(["GET", "HEAD", "POST"])
def launch(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.LAUNCH)
    if request.method == "POST":
        return _launch(request)
    return _counted(request, LaunchForm(request.user, _asked(request)))


def _counted(request: HttpRequest, form: LaunchForm) -> HttpResponse:
    """The form with the effect of the present choice; nothing is launched, and half a choice is no error yet."""
    form.is_valid()
    scope = scope_of(doc_ids_of(form, form.cleaned_data))
    form.errors.clear()
    template = "crawler/launch_scope.html" if "HX-Request" in request.headers else "crawler/launch.html"
    return render(request, template, _context(form, scope))


def _asked(request: HttpRequest) -> Any:
    """The choice in the address: ?doc=5 ticks a document; the rest has the values of a polite first try."""
    data = request.GET.copy()
    data.setdefault("what", CHOSEN if "doc" in data else PROJECT if data.get("project") else ALL)
    data.setdefault("speed", options.speed())
    data.setdefault("when", NOW)
    data.setdefault("at", "02:00")
    if "HX-Request" not in request.headers and "weekday" not in data:
        data["weekday"] = "6"
    return data


def _launch(request: HttpRequest) -> HttpResponse:
    form = LaunchForm(request.user, request.POST)
    if "count" in request.POST:
        return _counted(request, form)
    if form.is_valid():
        values = form.cleaned_data
        values["propagate_after"] = values["propagate_after"] and form.propagates
        if (values.get("when") or NOW) != NOW:
            require(request.user, Action.ADMINISTER)
            return _planned(request, values)
        try:
            run = schedules.launch(doc_ids_of(form, values), by=request.user.get_username(), **_options(values))
        except (NothingToCrawl, AllBusy) as refusal:
            form.add_error("what", str(refusal))
        else:
            schedules.begin(run, timezone.now())
            return redirect("run", run.pk)
    context = _context(form, scope_of(doc_ids_of(form, form.cleaned_data)))
    return render(request, "crawler/launch.html", context, status=422)


def _options(values: dict[str, Any]) -> dict[str, Any]:
    return {
        "speed": values["speed"],
        "note": values["note"],
        "propagate_after": values["propagate_after"],
        "max_seconds": (values["minutes"] or 0) * 60,
        "max_pages": values["pages"] or 0,
    }


def _planned(request: HttpRequest, values: dict[str, Any]) -> HttpResponse:
    """Keeps the launch for later."""
    now = timezone.now()
    once = values["when"] == AT
    schedule = Schedule(
        what=values["what"],
        project_id=values["project"].pk if values["what"] == PROJECT else None,
        doc_ids=sorted(values["doc"]) if values["what"] == CHOSEN else [],
        every=Every.ONCE if once else values["when"],
        weekdays=sorted(values["weekday"]),
        monthday=values["monthday"] or 1,
        at=f"{values['at']:%H:%M}",
        zone=schedules.zone_name(),
        next_at=moment_of(values) if once else None,
        created_by=request.user.get_username(),
        created_at=now,
        **_options(values),
    )
    schedules.add(schedule, now)
    messages.success(request, f"Planned. {plan_of(values, now)[0]}.")
    return redirect("schedules")


def _context(form: LaunchForm, scope: Scope) -> dict[str, Any]:
    chosen = {str(value) for value in form["doc"].value() or []}
    values = getattr(form, "cleaned_data", {})
    plan, next_at = plan_of(values, timezone.now())
    return {
        "form": form,
        "scope": scope,
        "plan": plan,
        "next_at": next_at,
        "silence": quiet.silence(timezone.now()) if not plan else None,
        "zone": schedules.zone_name(),
        "projects": list(form.projects),
        "listed": [(document, str(document.pk) in chosen) for document in form.listed],
        "not_listed": form.not_listed,
        "problems": [(f"id_{name}", message) for name, errors in form.errors.items() for message in errors],
    }
