"""The form of a launch: what, how, how fast, how far, when, what comes afterwards."""

from typing import Any

from django import forms
from django.http import QueryDict

from clearinghouse.accounts.policies import Action, documents_for, may
from clearinghouse.accounts.policies import RoleScope as Everywhere
from clearinghouse.accounts.policies import scope_of as scope_of_person
from clearinghouse.library.models import Document, Project
from clearinghouse.web.listing import number_in, whole_number
from crawler.errors import UnknownView
from crawler.models import Schedule
from crawler.runs.run_actions import SPEEDS
from crawlpoints.models import CrawlPoint, CrawlPointLink
from crawlpoints.saved_views import views_of

from ..control import LABEL
from ..document_filter import documents_in
from ..launch_subset import ONLY_FAILED, ONLY_NEW, SubsetChoice
from ..schedules import ALL, CHOSEN, POINT, PROJECT, VIEW
from .schedule_form import WhenForm

PREVIEW = "preview"
_WHAT = [(ALL, "All active documents"), (PROJECT, "A project"), (VIEW, "A saved view"), (CHOSEN, "Chosen documents"),
         (POINT, "One crawl point")]  # fmt: skip
_HOW = [
    ("", "Normal"),
    (PREVIEW, "Preview: up to 25 pages or 60 seconds of one document, nothing is stored"),
    (ONLY_FAILED, "Only pages that failed last time"),
    (ONLY_NEW, "Only new or changed crawl points"),
]
_SPEED_HINTS = {
    "polite": "Polite: one request a second to each site",
    "medium": "Medium: five requests a second, two at a time",
    "fast": "Fast: no pause, sixteen at a time; for your own sites",
}
LISTED = 500
_DAY_MINUTES = 24 * 60


class LaunchForm(WhenForm):
    plan: Schedule | None = None  # that is changed with this form

    what = forms.ChoiceField(
        label="What", choices=_WHAT, initial=ALL, error_messages={"required": "Choose which documents to crawl"}
    )
    only = forms.ChoiceField(label="How", choices=_HOW, initial="", required=False)
    speed = forms.ChoiceField(label="Speed", choices=[(name, _SPEED_HINTS[name]) for name in SPEEDS])
    minutes = forms.IntegerField(
        label="Minutes",
        required=False,
        min_value=1,
        max_value=30 * _DAY_MINUTES,
        help_text="Stop this run after so many minutes. Leave empty for no limit.",
        error_messages=dict.fromkeys(("invalid", "min_value"), "Enter a whole number of minutes, or leave it empty"),
    )
    pages = forms.IntegerField(
        label="Pages",
        required=False,
        min_value=1,
        max_value=10_000_000,
        help_text="At most so many pages of each crawl point in this run, never more than its own maximum.",
        error_messages=dict.fromkeys(("invalid", "min_value"), "Enter a whole number of pages, or leave it empty"),
    )
    propagate_after = forms.BooleanField(label="Propagate the results when the run has finished", required=False)
    group = forms.RegexField(r"^[0-9a-f]{16}$", label="Errors", required=False)  # one group of them
    note = forms.CharField(
        label="Note", required=False, max_length=500, help_text="Why this run is launched. Colleagues see it."
    )

    label = forms.CharField(
        label="Label", required=False, max_length=LABEL,
        help_text="A word to find this run by, like quarterly. Lists of runs can be filtered by it.",
    )  # fmt: skip

    def __init__(self, user: Any, data: QueryDict) -> None:
        super().__init__(data)
        self.user = user
        # Who may launch by a setting neither plans crawls nor reaches the public servers.
        self.plans, self.propagates = may(user, Action.ADMINISTER), may(user, Action.PROPAGATE)
        self.projects = Project.objects.all()
        self.views = self.views_offered()
        self.documents = documents_for(user, Action.LAUNCH).order_by("sheet__title", "pk")
        if scope_of_person(user, Action.LAUNCH) is not Everywhere.ALL:
            theirs = self.documents.order_by().values("sheet__project")
            self.projects = self.projects.filter(pk__in=theirs)
            self.fields["what"].choices = [(ALL, "All documents I may launch"), *_WHAT[1:]]
        self.fields["project"] = forms.ModelChoiceField(self.projects, label="Project", required=False)
        self.fields["view"] = forms.ModelChoiceField(self.views, label="Saved view", required=False)
        self._documents(data)
        self.point = self._point(data)
        self.fields["crawl_point"] = forms.IntegerField(label="Crawl point", required=False)

    def views_offered(self) -> Any:
        return views_of(self.user)

    def _documents(self, data: QueryDict) -> None:
        """Those that are listed, and those that are chosen although they are not."""
        self.listed: list[Document] = list(self.documents[:LISTED])
        self.not_listed = self.documents.count() - LISTED if len(self.listed) == LISTED else 0
        known = {document.pk for document in self.listed}
        asked = {number for text in data.getlist("doc") if (number := whole_number(text)) is not None}
        if more := asked - known:
            self.listed += list(self.documents.filter(pk__in=more))
            self.not_listed -= len(self.listed) - len(known)
        self.fields["doc"] = forms.TypedMultipleChoiceField(
            label="Documents", choices=[(document.pk, document.title) for document in self.listed], coerce=int,
            required=False,
        )  # fmt: skip

    def _point(self, data: QueryDict) -> tuple[CrawlPoint, Document] | None:
        """The crawl point in the address, when this person may launch its document."""
        number = number_in(data, "crawl_point")
        if number is None:
            return None
        links = CrawlPointLink.objects.filter(crawl_point=number, document__in=self.documents.order_by())
        links = links.exclude(crawl_point__deleted=1)  # an import that has not ended has linked it already
        link = links.select_related("crawl_point", "document__sheet__project").first()
        return (link.crawl_point, link.document) if link and link.crawl_point and link.document else None

    def clean(self) -> dict[str, Any]:
        cleaned = super().clean() or {}
        what = cleaned.get("what")
        for name, wanted, sentence in (
            ("project", PROJECT, "Choose the project to crawl"),
            ("view", VIEW, "Choose the saved view to crawl"),
            ("doc", CHOSEN, "Choose at least one document"),
        ):
            if what == wanted and not cleaned.get(name) and name not in self.errors:
                self.add_error(name, sentence)
        if (view := cleaned.get("view")) and what == VIEW:
            try:
                documents_in(view.query, view.person, self.documents)
            except UnknownView as unknown:
                self.add_error("view", str(unknown))
        if what == POINT and self.point is None:
            self.add_error("crawl_point", "Choose the crawl point on the page of its document")
        if cleaned.get("only") == PREVIEW and not self.one_document(cleaned):
            self.add_error("only", "A preview is of one document: choose it, or one crawl point")
        return cleaned

    def one_document(self, values: dict[str, Any]) -> Document | None:
        if values.get("what") == POINT and self.point is not None:
            return self.point[1]
        chosen = values.get("doc") or []
        if values.get("what") != CHOSEN or len(chosen) != 1:
            return None
        return next(document for document in self.listed if document.pk == chosen[0])

    def doc_ids(self, values: dict[str, Any]) -> list[int] | None:
        """None means all documents, as a launch understands it."""
        what = values.get("what")
        if what == PROJECT:
            project = values.get("project")
            return list(self.documents.filter(sheet__project=project).values_list("pk", flat=True)) if project else []
        if what == VIEW:
            view = values.get("view")
            return documents_in(view.query, view.person, self.documents) if view else []
        if what == CHOSEN:
            return list(values.get("doc") or [])
        if what == POINT:
            return [self.point[1].pk] if self.point else []
        everything = scope_of_person(self.user, Action.LAUNCH) is Everywhere.ALL
        return None if everything else list(self.documents.values_list("pk", flat=True))

    def choice(self, values: dict[str, Any]) -> SubsetChoice:
        only = values.get("only") or ""
        point_id = self.point[0].pk if values.get("what") == POINT and self.point else None
        return SubsetChoice(
            only if only != PREVIEW else "", point_id, values.get("group") or "" if only == ONLY_FAILED else ""
        )
