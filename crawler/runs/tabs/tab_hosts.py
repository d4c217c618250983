"""The tab Hosts: what each site gave, and what kept the crawler from more of it."""

from collections.abc import Callable
from dataclasses import dataclass
from operator import attrgetter
from typing import Any
from urllib.parse import urlencode

from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, doc_ids_for, may
from clearinghouse.library.models import Document
from clearinghouse.web.listing import in_order, number_in, page_of
from crawler.ledger.queries import Filter
from crawler.ledger.site_folders import LEFT_REASONS, SiteFolder, by_site
from crawler.models import Run

from ..run_counts import Docs, excursions_of
from .address_lists import choices_of

# Column: the name of the count, its heading, the query behind it.
_PAGES = ("outcome", "crawled"), ("outcome", "unchanged")
COLUMNS: tuple[tuple[str, str, tuple[tuple[str, str], ...]], ...] = (
    ("pages", "Pages", _PAGES),
    ("new", "New", (("fresh", "new"),)),
    ("changed", "Changed", (("fresh", "changed"),)),
    ("unchanged", "Unchanged", (("outcome", "unchanged"),)),
    ("robots", "robots.txt", (("reason", "robots_disallowed"),)),
    ("outside", "Out of scope", (("reason", "outside_root"),)),
    ("excluded", "Excluded", (("reason", "excluded"),)),
    ("errors", "Errors", (("outcome", "failed"),)),
    ("queued", "Waiting", (("outcome", "queued"),)),
    ("left", "Left waiting", tuple(("reason", code) for code in LEFT_REASONS)),
)
SORTS: dict[str, Callable[[SiteFolder], Any]] = {name: attrgetter(name) for name, _, _ in COLUMNS} | {
    "site": lambda group: group.start,
    "bytes": lambda group: group.bytes,
    "median": lambda group: group.median or 0,
}


@dataclass(frozen=True, slots=True)
class HostCell:
    name: str
    label: str
    value: int
    url: str


def hosts(request: HttpRequest, run: Run, docs: Docs, context: dict[str, Any]) -> dict[str, Any]:
    doc_id = number_in(request.GET, "doc")
    groups = by_site(run, docs, doc_id)
    sort = request.GET.get("sort", "")
    groups = in_order(groups, sort, SORTS)
    columns = _shown(groups)
    page = page_of(request, groups)
    rows = [(group, [_cell(run, group, column, doc_id) for column in columns]) for group in page.object_list]
    edits = _document_to_edit(request, run, docs, doc_id, context)
    return {
        "page": page,
        "edits": edits,
        "choose_first": edits is None and doc_id is None and _edits_some(request, run, docs),
        "asked_to_choose": request.GET.get("choose") == "1",
        "rows": rows,
        "columns": [(name, label) for name, label, _ in columns],
        "sort": sort,
        "doc_id": doc_id,
    } | choices_of(run, docs, context, Filter(doc_id=doc_id))


def _document_to_edit(
    request: HttpRequest, run: Run, docs: Docs, doc_id: int | None, context: dict[str, Any]
) -> int | None:
    """Add as crawl point and Exclude belong to one document: the one chosen, or the only one; None if not allowed."""
    if doc_id is None and context["sums"].documents == 1:
        doc_id = excursions_of(run, docs).values_list("doc_id", flat=True).first()
    document = Document.objects.filter(pk=doc_id).first() if doc_id is not None else None
    return document.pk if document and may(request.user, Action.EDIT, document) else None


def _edits_some(request: HttpRequest, run: Run, docs: Docs) -> bool:
    """Whether this person edits any document of the run."""
    if not may(request.user, Action.EDIT):
        return False
    mine = doc_ids_for(request.user, Action.EDIT)
    return mine is None or excursions_of(run, docs).filter(doc_id__in=mine).exists()


def _shown(groups: list[SiteFolder]) -> list[tuple[str, str, tuple[tuple[str, str], ...]]]:
    """Waiting is a column only while something waits, or was left."""
    return [
        column
        for column in COLUMNS
        if column[0] not in ("queued", "left") or any(getattr(group, column[0]) for group in groups)
    ]


def _cell(run: Run, group: SiteFolder, column: tuple[str, str, Any], doc_id: int | None) -> HostCell:
    name, label, terms = column
    query = [*terms, ("site", group.start)] + ([("doc", str(doc_id))] if doc_id is not None else [])
    return HostCell(
        name, label, getattr(group, name), f"{reverse('run-tab', args=[run.pk, 'urls'])}?{urlencode(query)}"
    )
