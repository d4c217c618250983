"""The Document Navigator."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse, QueryDict
from django.http.response import HttpResponseBase
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, document_or_404, may, require
from clearinghouse.accounts.views import page_size

from .. import saved_views
from ..point_checks import Invalid
from ..templatetags.panel_urls import LAST_LIST
from . import navigator_rows
from .csv_answers import csv_answer
from .navigator_rows import SIZES, VIEWS, DocumentFilter, DocumentRow
from .tables import DocumentTable, Ordered, in_words_sorted

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
    asked = DocumentFilter.read(request.GET, request.user)
    everything = navigator_rows.all_rows(request.user)
    rows = navigator_rows.filtered(navigator_rows.in_view(everything, asked.view), asked)
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
        "query": _plain_query(request),
        "among": _among(request, asked),
        "may_import": may(request.user, Action.ADMINISTER),
        "may_request": may(request.user, Action.REQUEST),
    } | navigator_rows.choices(everything)
    _remember(request)
    return render(request, "documents/documents.html", context)


def _table(request: HttpRequest, rows: list[DocumentRow], asked: DocumentFilter) -> DocumentTable:
    for row in rows:
        row.selected = str(row.id) == asked.selected
    sort = request.GET.get("sort", "")
    sort = sort if sort.removeprefix("-") in navigator_rows.SORTS else "title"
    table = DocumentTable(Ordered(navigator_rows.in_order(rows, sort)), order_by=sort)
    order = in_words_sorted(table)
    table.caption = f"{VIEWS[asked.view]}, {order}. Choose one, then a command of the group Document."
    size = request.GET.get("rows", "")
    per_page = int(size) if size in {str(one) for one in SIZES} else page_size(request, SIZES[0])
    paginator = Paginator(table.rows, per_page)
    table.paginator, table.page = paginator, paginator.get_page(request.GET.get("page"))
    navigator_rows.enrich([row.record for row in table.page.object_list])
    return table


def _views(everything: list[DocumentRow], asked: DocumentFilter) -> list[dict[str, Any]]:
    counts = {code: len(navigator_rows.in_view(everything, code)) for code in VIEWS}
    shown = [code for code in VIEWS if code != "mine" or counts["mine"] or asked.view == "mine"]
    return [
        {"code": code, "label": VIEWS[code], "count": counts[code], "current": code == asked.view} for code in shown
    ]


def _own_views(request: HttpRequest, everything: list[DocumentRow]) -> list[dict[str, Any]]:
    query, views = _plain_query(request), []
    for one in saved_views.views_of(request.user):
        asked = DocumentFilter.read(QueryDict(one.query), request.user)
        count = (
            0 if asked.unknown else len(navigator_rows.filtered(navigator_rows.in_view(everything, asked.view), asked))
        )
        views.append({"view": one, "count": count, "current": bool(one.query) and one.query == query})
    return views


def _sums(rows: list[DocumentRow]) -> dict[str, int]:
    return {
        "active": sum(row.active for row in rows),
        "pages": sum(row.last.pages for row in rows if row.last),
        "errors": sum(row.last.errors for row in rows if row.last),
    }


def _plain_query(request: HttpRequest) -> str:
    """The filter in the address, without the place in the list."""
    query = request.GET.copy()
    for name in saved_views.NOT_KEPT:
        query.pop(name, None)
    return query.urlencode()


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
    query = request.POST.get("query", "")[:4000]
    try:
        view = saved_views.keep(request.user, request.POST.get("name", ""), query)
    except Invalid as wrong:
        messages.error(request, f"{wrong}.")
        return redirect(f"{reverse('documents')}?{query}")
    messages.success(request, f"Saved the view {view.name}.")
    return redirect(f"{reverse('documents')}?{view.query}")


@require_POST
def delete_view(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    text = request.POST.get("view", "")
    view = saved_views.forget(request.user, int(text)) if text.isascii() and text.isdigit() and len(text) < 10 else None
    if view:
        messages.success(request, f"Deleted the view {view.name}.")
    return redirect("documents")


def _remember(request: HttpRequest) -> None:
    query = request.GET.copy()
    query.pop("selected", None)
    if request.session.get(LAST_LIST, "") != query.urlencode():
        request.session[LAST_LIST] = query.urlencode()


@require_safe
def choose(request: HttpRequest) -> HttpResponse:
    """The commands above the list: they belong to the chosen document."""
    require(request.user, Action.VIEW)
    chosen = request.GET.get("document", "")
    name = COMMANDS.get(request.GET.get("to", ""), "document")
    if not (chosen.isascii() and chosen.isdigit() and len(chosen) < 19):
        messages.info(request, "Choose a document first.")
        query = request.session.get(LAST_LIST, "")
        return redirect(f"{reverse('documents')}{'?' if query else ''}{query}")
    document = document_or_404(request.user, int(chosen))
    return redirect(name, document.pk)


@require_safe
def export(request: HttpRequest) -> HttpResponseBase:
    require(request.user, Action.VIEW)
    asked = DocumentFilter.read(request.GET, request.user)
    rows = navigator_rows.filtered(navigator_rows.in_view(navigator_rows.all_rows(request.user), asked.view), asked)
    rows.sort(key=lambda row: row.title_key)
    return csv_answer("documents.csv", CSV_HEAD, (_line(row) for row in rows))


def _line(row: DocumentRow) -> list[Any]:
    last = row.last
    at = last.at.isoformat(timespec="seconds") if last and last.at else ""
    crawl = (at, last.state, last.pages, last.errors) if last else ("", "", "", "")
    return [row.id, row.title, row.project, row.status, row.assigned, row.active, row.all, *crawl]
