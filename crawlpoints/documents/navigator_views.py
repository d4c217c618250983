"""The Document Navigator."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, document_or_404, may, require
from clearinghouse.web.csv_output import csv_answer
from clearinghouse.web.listing import in_order, number_in, page_of, page_size, query_without, sort_in

from .. import saved_views
from ..templatetags.panel_urls import LAST_LIST
from . import navigator_rows
from .navigator_rows import SIZES, VIEWS, DocumentFilter, DocumentRow
from .saved_views_page import delete_view_of, plain_query, save_view_of
from .tables import DocumentTable, Ordered, in_words_sorted, sort_keys

COMMANDS = {
    "points": "crawl-points", "excludes": "exclude-urls", "runs": "document-runs", "preview": "previews",
    "request": "request-crawl",
}  # fmt: skip
CSV_HEAD = (
    "document_id", "document_title", "project", "status", "assigned_to", "active_crawl_points", "crawl_points",
    "last_crawl", "state", "pages", "errors",
)  # fmt: skip


@require_safe
def documents(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    asked = DocumentFilter.read_for(request.GET, request.user)
    everything = navigator_rows.all_rows(request.user)
    rows = navigator_rows.filtered(everything, asked)
    table = _table(request, rows, asked)
    page = table.page
    context = {
        "asked": asked,
        "table": table,
        "page": page,
        "sizes": SIZES,
        "size": page.paginator.per_page,
        "views": _views(everything, asked),
        "sums": _sums(rows),
        "any": bool(everything),
        "view_words": VIEWS[asked.view],
        "me": request.user.get_username(),
        "own_views": _own_views(request, everything),
        "kept": [(name, request.GET[name]) for name in ("sort", "rows") if request.GET.get(name)],
        "query": plain_query(request),
        "among": _among(request, asked),
        "may_import": may(request.user, Action.ADMINISTER),
        "may_request": may(request.user, Action.REQUEST),
    } | navigator_rows.choices(everything)
    _remember(request)
    return render(request, "documents/documents.html", context)


def _table(request: HttpRequest, rows: list[DocumentRow], asked: DocumentFilter) -> DocumentTable:
    for row in rows:
        row.selected = str(row.id) == asked.selected
    keys = sort_keys(DocumentTable)
    sort = sort_in(request.GET, keys, "title")
    by_title = in_order(rows, "title", keys)  # and equal ones of another column stay in this order
    table = DocumentTable(Ordered(in_order(by_title, sort, keys)), order_by=sort)
    order = in_words_sorted(table)
    table.caption = f"{VIEWS[asked.view]}, {order}. Choose one, then a command of the group Document."
    table.page = page_of(request, table.rows, page_size(request, SIZES))
    table.paginator = table.page.paginator
    navigator_rows.enrich([row.record for row in table.page.object_list])
    return table


def _views(everything: list[DocumentRow], asked: DocumentFilter) -> list[dict[str, Any]]:
    counts = {code: len(navigator_rows.in_view(everything, code)) for code in VIEWS}
    shown = [code for code in VIEWS if code != "mine" or counts["mine"] or asked.view == "mine"]
    return [
        {"code": code, "label": VIEWS[code], "count": counts[code], "current": code == asked.view} for code in shown
    ]


def _own_views(request: HttpRequest, everything: list[DocumentRow]) -> list[dict[str, Any]]:
    query, views = plain_query(request), []
    for one in saved_views.views_of(request.user):
        asked = DocumentFilter.read_for(QueryDict(one.query), request.user)
        count = 0 if asked.unknown else len(navigator_rows.filtered(everything, asked))
        views.append({"view": one, "count": count, "current": bool(one.query) and one.query == query})
    return views


def _sums(rows: list[DocumentRow]) -> dict[str, int]:
    return {
        "active": sum(row.active for row in rows),
        "pages": sum(row.last.pages for row in rows if row.last),
        "errors": sum(row.last.errors for row in rows if row.last),
    }


def _among(request: HttpRequest, asked: DocumentFilter) -> str:
    """For All crawl points: the same documents, also when the view was not named in the address."""
    query = request.GET.copy()
    for name in (*saved_views.NOT_KEPT, "sort", "rows"):
        query.pop(name, None)
    query["view"] = asked.view
    return query.urlencode() if asked.filtered or asked.view != "all" else ""


@require_POST
def save_view(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    return save_view_of(request, saved_views.DOCUMENTS)


@require_POST
def delete_view(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    return delete_view_of(request, saved_views.DOCUMENTS)


def _remember(request: HttpRequest) -> None:
    query = query_without(request.GET, "selected")
    if request.session.get(LAST_LIST, "") != query:
        request.session[LAST_LIST] = query


@require_safe
def choose(request: HttpRequest) -> HttpResponse:
    """The commands above the list: they belong to the chosen document."""
    require(request.user, Action.VIEW)
    chosen = number_in(request.GET, "document")
    name = COMMANDS.get(request.GET.get("to", ""), "document")
    if chosen is None:
        messages.info(request, "Choose a document first.")
        query = request.session.get(LAST_LIST, "")
        return redirect(f"{reverse('documents')}{'?' if query else ''}{query}")
    document = document_or_404(request.user, chosen)
    return redirect(name, document.pk)


@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    require(request.user, Action.VIEW)
    asked = DocumentFilter.read_for(request.GET, request.user)
    rows = navigator_rows.filtered(navigator_rows.all_rows(request.user), asked)
    rows.sort(key=lambda row: row.title_key)
    return csv_answer("documents.csv", CSV_HEAD, (_line(row) for row in rows))


def _line(row: DocumentRow) -> list[Any]:
    last = row.last
    at = last.at.isoformat(timespec="seconds") if last and last.at else ""
    crawl = (at, last.state, last.pages, last.errors) if last else ("", "", "", "")
    return [row.id, row.title, row.project, row.status, row.assigned, row.active, row.all, *crawl]
