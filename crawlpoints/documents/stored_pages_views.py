"""The stored pages of a document: as a table, or folder by folder."""

from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any
from urllib.parse import urlencode

from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.http.response import HttpResponseBase
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.accounts.views import page_size
from clearinghouse.library.models import Document
from clearinghouse.published.types import PAGE_TYPES
from crawler.ledger.stored_pages import (
    SORTS,
    StoredFolder,
    StoredPageFilter,
    count_of,
    entries_of,
    folders_of,
    pages_of,
    types_of,
)

from ..templatetags.panel_urls import list_url
from .csv_answers import csv_answer

ROWS = 50
OPEN_AT_ONCE, LINES = 20, 500
CSV_HEAD = ("document_id", "document_title", "url", "title", "type", "bytes", "stored", "run")


@require_safe
def pages(request: HttpRequest, doc_id: int) -> HttpResponse:
    document = document_or_404(request.user, doc_id, Action.VIEW_RUNS)
    tree = request.GET.get("view") == "tree"
    context = {
        "document": document,
        "total": count_of(document.pk),
        "tree": tree,
        "list_url": list_url(request, document.pk),
    } | (_tree(request, document) if tree else _table(request, document))
    return render(request, "documents/document_pages.html", context)


def asked_of(request: HttpRequest) -> StoredPageFilter:
    """The filter in the address; nonsense is ignored."""
    kind, sort = request.GET.get("type", ""), request.GET.get("sort", "")
    return StoredPageFilter(
        text=request.GET.get("q", "").replace("\x00", "").strip()[:2048],
        type_id=int(kind) if kind in {str(one) for one in PAGE_TYPES} else None,
        folder=request.GET.get("folder", "").replace("\x00", "")[:2048],
        here=request.GET.get("here") == "1",
        sort=sort if sort.removeprefix("-") in SORTS else "url",
    )


def _table(request: HttpRequest, document: Document) -> dict[str, Any]:
    asked = asked_of(request)
    page = Paginator(pages_of(document.pk, asked), page_size(request, ROWS)).get_page(request.GET.get("page"))
    stored = list(page.object_list)
    entries = entries_of(document.pk, stored)
    return {
        "asked": asked,
        "filtered": bool(asked.text or asked.folder or asked.type_id is not None),
        "page": page,
        "rows": [(one, PAGE_TYPES.get(one.type_id, ""), entries.get(one.pk)) for one in stored],
        "types": [(kind, PAGE_TYPES.get(kind, ""), count) for kind, count in types_of(document.pk).items()],
    }


@dataclass(frozen=True, slots=True)
class FolderLine:
    """A folder of the tree."""

    folder: StoredFolder
    level: int
    name: str
    opened: bool
    leaf: bool  # the pages of the folder above itself
    toggle: str  # the address that opens or closes it

    @property
    def indent(self) -> range:
        return range(self.level)


def _tree(request: HttpRequest, document: Document) -> dict[str, Any]:
    """Children below their folder; no more than a page can show."""
    opened = list(dict.fromkeys(request.GET.getlist("open")))[:OPEN_AT_ONCE]
    waiting = [(one, 0, "") for one in reversed(folders_of(document.pk, ""))]
    lines: list[FolderLine] = []
    asked = 0
    while waiting and len(lines) < LINES:
        folder, level, parent = waiting.pop()
        line = _line(folder, level, parent, opened)
        lines.append(line)
        if line.opened and asked < OPEN_AT_ONCE:
            asked += 1
            waiting += [(one, level + 1, folder.start) for one in reversed(folders_of(document.pk, folder.start))]
    return {"lines": lines, "cut": bool(waiting)}


def _line(folder: StoredFolder, level: int, parent: str, opened: Sequence[str]) -> FolderLine:
    leaf = folder.start == parent
    is_open = folder.start in opened and not leaf
    others = [one for one in opened if one != folder.start]
    wanted = others if is_open else [*others, folder.start]
    toggle = "?" + urlencode([("view", "tree"), *(("open", one) for one in wanted)])
    return FolderLine(folder, level, "right here" if leaf else folder.start.removeprefix(parent), is_open, leaf, toggle)


@require_safe
def export(request: HttpRequest, doc_id: int) -> HttpResponseBase:
    document = document_or_404(request.user, doc_id, Action.VIEW_RUNS)
    return csv_answer(f"pages-{document.pk}.csv", CSV_HEAD, _lines(document, asked_of(request)))


def _lines(document: Document, asked: StoredPageFilter) -> Iterator[Sequence[Any]]:
    for one in pages_of(document.pk, asked).iterator(2000):
        kind, at = PAGE_TYPES.get(one.type_id, ""), one.found_at.isoformat(timespec="seconds")
        yield [document.pk, document.title, one.url, one.title, kind, one.size, at, one.run_id]
