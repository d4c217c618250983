"""How the documents of planned crawls are called. Called by: the lists of plans."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Self

from clearinghouse.library.models import Document, Project
from crawler.models import Schedule
from crawler.runs.run_counts import Docs
from crawlpoints.models import CrawlPoint, SavedView

from .. import schedules

_SHOWN = 3
_DELETED = "(deleted)"


@dataclass(frozen=True, slots=True)
class PlanNames:
    """The names that several plans need, each kind asked for once; of documents those that the person may see."""

    projects: dict[int, str]
    titles: dict[int, str]
    views: dict[int, SavedView]
    urls: dict[int, str]

    @classmethod
    def of(cls, plans: Iterable[Schedule], docs: Docs) -> Self:
        plans = list(plans)
        ids = {doc_id for plan in plans for doc_id in plan.doc_ids if docs is None or doc_id in docs}
        views = SavedView.objects.select_related("person").in_bulk({plan.view_id for plan in plans if plan.view_id})
        points = CrawlPoint.objects.filter(pk__in={plan.point_id for plan in plans if plan.point_id})
        titles = Document.objects.filter(pk__in=ids).values_list("pk", "sheet__title")
        return cls(
            projects=dict(Project.objects.values_list("pk", "name")),
            titles={pk: title or f"Document {pk}" for pk, title in titles},
            views=views,
            urls=dict(points.values_list("pk", "url")),
        )

    def what(self, plan: Schedule) -> str:
        return {
            schedules.ALL: "All active documents",
            schedules.PROJECT: f"Project {self.projects.get(plan.project_id or 0, _DELETED)}",
            schedules.CHOSEN: "Chosen documents",
            schedules.VIEW: "Saved view",
            schedules.POINT: "One crawl point",
        }[plan.what]

    def which(self, plan: Schedule) -> str:
        """Empty where the kind says it already."""
        if plan.what == schedules.VIEW:
            view = self.views.get(plan.view_id or 0)
            return f"{view.name}, of {view.person.get_username()}" if view else _DELETED
        if plan.what == schedules.POINT:
            return self.urls.get(plan.point_id or 0, _DELETED)
        titles = sorted(self.titles[doc_id] for doc_id in plan.doc_ids if doc_id in self.titles)
        more = len(titles) - _SHOWN
        return ", ".join(titles[:_SHOWN]) + (f" and {more:,} more" if more > 0 else "")
