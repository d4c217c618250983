"""All crawl points of the documents a person may see: one list to filter, sort, change together, export."""

from collections.abc import Iterable, Iterator
from typing import Any

from django.db.models import QuerySet
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, documents_for, may, require
from clearinghouse.library.models import Document
from clearinghouse.web.csv_output import csv_answer
from clearinghouse.web.listing import page_of, page_size, query_without

from .. import undo
from ..bulk_changes import MOST
from ..documents import crawl_facts, navigator_rows
from ..documents.tables import AcrossTable, in_words_sorted
from ..imports.short_import import POINT_COLUMNS
from ..models import AuthType, CrawlPointLink
from ..panel.views import PointRow, csv_line, for_eyes_of, row_of
from .queries import FAILING, STATES, PointFilter, links_of

SIZES = (50, 100, 200)
_AT_ONCE = 500


@require_safe
def points(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    asked = PointFilter.read(request.GET)
    page = page_of(request, links_asked(request.user, request.GET), page_size(request, SIZES))
    rows = _rows(request, page.object_list)
    table = AcrossTable(rows, order_by=asked.sort, may_edit=any(row.edit_url for row in rows))
    table.caption = f"Crawl points of all documents, {in_words_sorted(table)}"
    crawl_facts.say_why(rows)
    context = {
        "asked": asked,
        "table": table,
        "page": page,
        "sizes": SIZES,
        "size": page.paginator.per_page,
        "states": STATES,
        "auths": [(str(value), label) for value, label in AuthType.choices],
        "projects": _projects(request),
        "me": request.user.get_username(),
        "may_edit": may(request.user, Action.EDIT),
        "changeable": links_asked(request.user, request.GET, Action.EDIT).count() if page.has_other_pages() else 0,
        "most": MOST,
        "undo": undo.offered(request, undo.EVERYWHERE),
        "query": query_without(request.GET, "page"),
        "rows_asked": request.GET.get("rows", ""),
        "among": request.GET.get("among", ""),
    }
    return render(request, "all_points/all_points.html", context)


def links_asked(user: Any, query: QueryDict, action: Action = Action.VIEW) -> QuerySet[CrawlPointLink]:
    """What the filter of an address leaves of the documents with which the person may do this."""
    asked = PointFilter.read(query)
    failing = crawl_facts.failing_points() if asked.state == FAILING else set()
    return links_of(_documents(user, query, action), asked, user, failing)


def _documents(user: Any, query: QueryDict, action: Action) -> QuerySet[Document]:
    """?among= holds a filter of the Document Navigator, whose counts lead here."""
    documents = documents_for(user, action)
    if "among" not in query:
        return documents
    chosen = navigator_rows.DocumentFilter.read_for(QueryDict(query["among"]), user)
    everything = navigator_rows.all_rows(user)
    rows = navigator_rows.filtered(everything, chosen)
    if len(rows) == len(everything):
        return documents
    return documents.filter(pk__in=[row.id for row in rows if row.all])


def _rows(request: HttpRequest, links: Iterable[CrawlPointLink]) -> list[PointRow]:
    """With what the last crawls say of them; a crawl point of a document one may only read cannot be ticked."""
    links = list(links)
    doc_ids = {link.document_id for link in links}
    crawls = crawl_facts.newest_by_document(doc_ids)
    editable, seen = (_within(request, action, doc_ids) for action in (Action.EDIT, Action.VIEW_RUNS))
    rows = []
    for link in links:
        row = row_of(link.document, link.crawl_point, crawls.get(link.document_id, []), request.GET)
        row.title, row.runs_seen = link.document.title, link.document_id in seen
        row.edit_url = row.edit_url if link.document_id in editable else ""
        rows.append(row)
    return rows


def _within(request: HttpRequest, action: Action, doc_ids: set[int]) -> set[int]:
    return set(documents_for(request.user, action).order_by().filter(pk__in=doc_ids).values_list("pk", flat=True))


def _projects(request: HttpRequest) -> list[str]:
    names = documents_for(request.user).order_by().values_list("sheet__project__name", flat=True)
    return sorted({name for name in names.distinct() if name})


@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    """The columns of the panel's CSV, so that the lines of one document can be imported there again."""
    require(request.user, Action.VIEW)
    links = links_asked(request.user, request.GET)
    return csv_answer("crawl-points.csv", POINT_COLUMNS, for_eyes_of(request.user, _lines(links)))


def _lines(links: QuerySet[CrawlPointLink]) -> Iterator[list[Any]]:
    ids = list(links.values_list("pk", flat=True))
    for start in range(0, len(ids), _AT_ONCE):
        found = links.in_bulk(ids[start : start + _AT_ONCE])
        crawls = crawl_facts.newest_by_document({link.document_id for link in found.values()})
        for pk in ids[start : start + _AT_ONCE]:
            if link := found.get(pk):
                yield csv_line(link.document, link.crawl_point, crawls.get(link.document_id, []))
