"""The launch form as the entries of a planned crawl, and a planned crawl as the entries of that form."""

from typing import Any

from django.db.models import Q
from django.http import QueryDict
from django.utils import timezone

from crawler.models import Every, Schedule
from crawlpoints.models import SavedView

from .. import schedules
from .launch_form import PREVIEW, LaunchForm
from .schedule_form import AT, NOW, moment_of


class PlanForm(LaunchForm):
    """Of a crawl that is planned already: neither now nor a preview, and also the saved view of somebody else."""

    def __init__(self, user: Any, data: QueryDict, plan: Schedule) -> None:
        self.plan = plan
        super().__init__(user, data)
        when, only = self.fields["when"], self.fields["only"]
        when.choices = [choice for choice in when.choices if choice[0] != NOW]
        when.required, when.error_messages["required"] = True, "Choose when it starts"
        only.choices = [choice for choice in only.choices if choice[0] != PREVIEW]

    def views_offered(self) -> Any:
        mine = super().views_offered()
        return SavedView.objects.filter(Q(pk__in=mine.values("pk")) | Q(pk=self.plan.view_id))


def values_of(form: LaunchForm) -> dict[str, Any]:
    """What the rows of planned crawls keep of a valid form."""
    values = form.cleaned_data
    choice = form.choice(values)
    what, once = values["what"], values["when"] == AT
    return options_of(form) | {
        "what": what,
        "project_id": values["project"].pk if what == schedules.PROJECT else None,
        "view_id": values["view"].pk if what == schedules.VIEW else None,
        "doc_ids": sorted(form.doc_ids(values) or ()) if what in (schedules.CHOSEN, schedules.POINT) else [],
        "point_id": choice.point_id,
        "only": choice.only,  # a group of errors is retried now: it is of the last run
        "every": Every.ONCE if once else values["when"],
        "weekdays": sorted(values["weekday"]),
        "monthday": values["monthday"] or 1,
        "at": f"{values['at']:%H:%M}",
        "zone": schedules.zone_name(),
        "next_at": moment_of(values) if once else None,
    }


def options_of(form: LaunchForm) -> dict[str, Any]:
    """What a launch takes besides its documents."""
    values = form.cleaned_data
    return {
        "speed": values["speed"],
        "note": values["note"],
        "label": " ".join(values["label"].split()),
        "propagate_after": values["propagate_after"] and form.propagates,
        "max_seconds": (values["minutes"] or 0) * 60,
        "max_pages": values["pages"] or 0,
    }


def entries_of(plan: Schedule) -> QueryDict:
    """The form as this plan would have been made with it; dates are those of the present clock."""
    once = plan.every == Every.ONCE
    values: dict[str, Any] = {
        "what": plan.what, "only": plan.only, "speed": plan.speed, "note": plan.note, "label": plan.label,
        "when": AT if once else plan.every, "at": plan.at, "monthday": plan.monthday,
        "project": plan.project_id, "view": plan.view_id, "crawl_point": plan.point_id,
        "minutes": plan.max_seconds // 60, "pages": plan.max_pages, "propagate_after": plan.propagate_after,
        "date": timezone.localtime(plan.next_at).date() if once and plan.next_at else "",
    }  # fmt: skip
    data = QueryDict(mutable=True)
    data.update({name: str(value) for name, value in values.items() if value})
    data.setlist("weekday", [str(day) for day in plan.weekdays])
    data.setlist("doc", [str(doc_id) for doc_id in plan.doc_ids] if plan.what == schedules.CHOSEN else [])
    return data
