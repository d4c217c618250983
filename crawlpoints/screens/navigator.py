"""The rows of the Document Navigator: which documents, filtered, counted, sorted, in a constant number of queries."""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from operator import attrgetter
from typing import Any

from django.http import QueryDict
from django.utils import timezone

from clearinghouse.access.models import Role
from clearinghouse.access.policies import Action, doc_ids_for, documents_for, role_of
from clearinghouse.library.models import Assignment

from ..queries import counts_by_document, documents_with_text
from .facts import LastCrawl, last_crawls, trends

OLD = timedelta(days=90)
SIZES = (20, 50, 100)
VIEWS = {
    "mine": "Assigned to me",
    "all": "All documents",
    "never": "Never crawled",
    "failed": "Last crawl failed",
    "old": "Not crawled for 90 days",
    "empty": "No crawl points",
}
SORTS = {
    "title": "title_key", "project": "project", "assigned": "assigned", "points": "points_key", "last": "last_key",
    "pages": "pages_key", "errors": "errors_key",
}  # fmt: skip
_EPOCH = 0.0


@dataclass(slots=True)
class DocumentRow:
    id: int
    title: str
    project: str
    status: str
    assigned: str
    mine: bool
    active: int
    all: int
    last: LastCrawl | None
    selected: bool = False
    runs_seen: bool = True
    trend: list[int] = field(default_factory=list)

    @property
    def name(self) -> str:
        return self.title

    @property
    def focused(self) -> bool:
        return self.selected

    @property
    def title_key(self) -> str:
        return self.title.casefold()

    @property
    def points_key(self) -> tuple[int, int]:
        return self.all, self.active

    @property
    def last_key(self) -> float:
        return self.last.at.timestamp() if self.last and self.last.at else _EPOCH

    @property
    def pages_key(self) -> int:
        return self.last.pages if self.last else -1

    @property
    def errors_key(self) -> int:
        return self.last.errors if self.last else -1


@dataclass(frozen=True, slots=True)
class Asked:
    """The filter as it stands in the address; nonsense is ignored."""

    view: str
    text: str = ""
    project: str = ""
    who: str = ""
    status: str = ""
    age: str = ""
    errors: bool = False
    empty: bool = False
    selected: str = ""

    @classmethod
    def read(cls, query: QueryDict, user: Any) -> "Asked":
        standard = "mine" if role_of(user) is Role.DEVELOPER else "all"
        view = query.get("view", "") if query.get("view") in VIEWS else standard
        who = query.get("who")
        if view == "mine" and who is not None:  # the view and the filter pane say the same thing, or the pane wins
            view, who = ("mine", "") if who == "me" else ("all", who)
        age = query.get("age", "").strip()
        return cls(
            view=view,
            text=query.get("q", "").strip()[:200],
            project=query.get("project", ""),
            who=who or "",
            status=query.get("status", ""),
            age=age if age.isascii() and age.isdigit() and len(age) < 6 else "",
            errors=bool(query.get("errors")),
            empty=bool(query.get("nopoints")),
            selected=query.get("selected", ""),
        )

    @property
    def filtered(self) -> bool:
        return any((self.text, self.project, self.who, self.status, self.age, self.errors, self.empty))


def all_rows(user: Any) -> list[DocumentRow]:
    """Every document this person may see."""
    documents = documents_for(user, Action.VIEW)
    columns = ("pk", "sheet__title", "sheet__project__name", "status__name")
    found = list(documents.order_by().values_list(*columns))
    people: dict[int, list[str]] = {}
    assigned = Assignment.objects.filter(document__in=documents.values("pk")).order_by("person__username")
    for doc_id, name in assigned.values_list("document_id", "person__username"):
        people.setdefault(doc_id, []).append(name)
    counts, last = counts_by_document(), last_crawls()
    me, runs_seen = user.get_username(), doc_ids_for(user, Action.VIEW_RUNS)
    rows = []
    for doc_id, title, project, status in found:
        names = people.get(doc_id, [])
        active, every = counts.get(doc_id, (0, 0))
        rows.append(
            DocumentRow(
                id=doc_id, title=title or f"Document {doc_id}", project=project or "", status=status or "",
                assigned=", ".join(names), mine=me in names, active=active, all=every, last=last.get(doc_id),
                runs_seen=runs_seen is None or doc_id in runs_seen,
            )
        )  # fmt: skip
    return rows


def in_view(rows: Iterable[DocumentRow], view: str, now: datetime | None = None) -> list[DocumentRow]:
    before = (now or timezone.now()) - OLD
    tests = {
        "mine": lambda row: row.mine,
        "never": lambda row: row.last is None,
        "failed": lambda row: row.last is not None and row.last.state == "failed",
        "old": lambda row: row.last is not None and row.last.at is not None and row.last.at < before,
        "empty": lambda row: not row.all,
    }
    test = tests.get(view)
    return [row for row in rows if test(row)] if test else list(rows)


def filtered(rows: list[DocumentRow], asked: Asked) -> list[DocumentRow]:
    """What the filter pane leaves of them."""
    if asked.text:
        by_url = documents_with_text(asked.text)
        words = asked.text.casefold()
        rows = [row for row in rows if row.id in by_url or words in row.title_key]
    if asked.project:
        rows = [row for row in rows if row.project == asked.project]
    if asked.status:
        rows = [row for row in rows if row.status == asked.status]
    if asked.who:
        rows = [row for row in rows if _looked_after(row, asked.who)]
    if asked.age:
        before = timezone.now() - timedelta(days=int(asked.age))
        rows = [row for row in rows if row.last is not None and row.last.at is not None and row.last.at < before]
    if asked.errors:
        rows = [row for row in rows if row.errors_key > 0]
    return [row for row in rows if not row.all] if asked.empty else rows


def _looked_after(row: DocumentRow, who: str) -> bool:
    """By me, by nobody, or by the person of this name."""
    if who == "me":
        return row.mine
    return who in row.assigned.split(", ") if who != "nobody" else not row.assigned


def in_order(rows: list[DocumentRow], sort: str) -> list[DocumentRow]:
    """Equal ones stay in the order of their titles."""
    rows = sorted(rows, key=attrgetter("title_key"))
    return sorted(rows, key=attrgetter(SORTS[sort.removeprefix("-")]), reverse=sort.startswith("-"))


def enrich(rows: list[DocumentRow]) -> None:
    """Sparklines, only for the rows of the page."""
    found = trends([row.id for row in rows])
    for row in rows:
        row.trend = found.get(row.id, [])


def choices(rows: list[DocumentRow]) -> dict[str, list[str]]:
    """What the filter pane offers: only what occurs in what the person may see."""
    projects = {row.project for row in rows if row.project}
    statuses = {row.status for row in rows if row.status}
    people = {name for row in rows if row.assigned for name in row.assigned.split(", ")}
    return {"projects": sorted(projects), "statuses": sorted(statuses), "people": sorted(people)}
