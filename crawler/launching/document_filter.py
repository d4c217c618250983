"""The documents of a filter of the Document Navigator: one meaning for the list, its CSV, saved views and launches.

A constant number of queries, however many documents there are. Does not: sort or show.
Called by: the Document Navigator, launches and plans over a saved view, the API.
"""

from collections.abc import Iterable
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import Any

from django.db.models import QuerySet
from django.http import QueryDict
from django.utils import timezone

from clearinghouse.accounts.models import Role
from clearinghouse.accounts.policies import Action, doc_ids_for, documents_for, role_of
from clearinghouse.library.models import Assignment, Document
from clearinghouse.web import listing
from crawlpoints.queries import counts_by_document, documents_with_text

from ..errors import UnknownView
from ..runs.latest_crawls import LastCrawl, last_crawls

OLD = timedelta(days=90)
VIEWS = {
    "mine": "Assigned to me",
    "all": "All documents",
    "never": "Never crawled",
    "failed": "Last crawl failed",
    "old": "Not crawled for 90 days",
    "empty": "No crawl points",
}
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
class DocumentFilter(listing.ListFilter):
    text: str = listing.text("q")
    project: str = listing.exact("project")
    who: str = listing.exact("who")
    status: str = listing.exact("status")
    age: str = listing.read_by(lambda query: age if _is_days(age := query.get("age", "").strip()) else "")
    errors: bool = listing.read_by(lambda query: bool(query.get("errors")), False)
    empty: bool = listing.read_by(lambda query: bool(query.get("nopoints")), False)
    view: str = ""
    selected: str = ""
    unknown: str = ""  # a sentence: what of the address means nothing; a list shows more then, a launch nothing

    @classmethod
    def read_for(cls, query: QueryDict, user: Any) -> "DocumentFilter":
        """The view and the filter pane may say the same thing; else the pane wins."""
        view = listing.choice_in(query, "view", VIEWS, "mine" if role_of(user) is Role.DEVELOPER else "all")
        who = query.get("who", "")
        if view == "mine" and "who" in query:
            view, who = ("mine", "") if who == "me" else ("all", who)
        return cls.read(query, view=view, who=who, selected=query.get("selected", ""), unknown=_unknown(query))


def _unknown(query: QueryDict) -> str:
    view, age = query.get("view", ""), query.get("age", "").strip()
    if view and view not in VIEWS:
        return f"There is no list {view[:40]!r} of documents"
    return f"{age[:40]!r} is not a number of days" if age and not _is_days(age) else ""


def _is_days(text: str) -> bool:
    return listing.whole_number(text, 5) is not None


def all_rows(user: Any) -> list[DocumentRow]:
    """Every document this person may see."""
    return rows_of(documents_for(user, Action.VIEW), user)


def rows_of(documents: QuerySet[Document], user: Any) -> list[DocumentRow]:
    """These documents, with all that a filter may ask about them."""
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
        "failed": lambda row: row.last is not None and row.last.failed,
        "old": lambda row: row.last is not None and row.last.at is not None and row.last.at < before,
        "empty": lambda row: not row.all,
    }
    test = tests.get(view)
    return [row for row in rows if test(row)] if test else list(rows)


def filtered(rows: list[DocumentRow], asked: DocumentFilter) -> list[DocumentRow]:
    """What the view and the filter pane leave of them."""
    rows = in_view(rows, asked.view)
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


def documents_in(query: str, user: Any, documents: QuerySet[Document]) -> list[int]:
    """Of these documents, those a saved filter leaves for this person. Raises UnknownView: nothing is guessed."""
    asked = DocumentFilter.read_for(QueryDict(query), user)
    if asked.unknown:
        raise UnknownView(f"The saved view cannot be read: {asked.unknown}. Open it, and save it again.")
    rows = filtered(rows_of(documents, user), asked)
    return sorted(row.id for row in rows)
