"""One address of a run: what was stored of it, its links with their decisions, the way from the crawl point."""

import json
from typing import Any

from django.core.paginator import Paginator
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.database.aliases import PRIMARY
from clearinghouse.published.types import PAGE_TYPES
from clearinghouse.search.public_target import live_generation
from crawler.models import Excursion, PageHead, PageVersion
from crawler.runs.views.run_access import number_in, page_size, run_or_404
from crawler.word_index.indexed_page import by_id

from ..page_details import (
    body_of,
    decided,
    links_of,
    links_to,
    source_of,
    text_of,
    two_versions,
    version_of,
    versions_of,
)
from ..queries import Row, one
from .run_copies import copy_of
from .why_views import explain
from .word_diff import difference

TEXT_LIMIT = 100_000
_PARTS = {
    "text": "Text", "source": "Source", "metas": "Meta tags", "out": "Links out", "in": "Links in",
    "versions": "Versions",
}  # fmt: skip


@require_safe
def page(request: HttpRequest, run_id: int, entry_id: int) -> HttpResponse:
    run, docs = run_or_404(request, run_id)
    row = one(run, docs, entry_id)
    if row is None:
        raise Http404("No such address in this run")
    version = version_of(row)
    part = request.GET.get("show", "text")
    part = part if part in _PARTS else "text"
    context: dict[str, Any] = {
        "run": run,
        "row": row,
        "stored": version,
        "why": explain(run, docs, row),
        "excursion": Excursion.objects.only("id", "title", "doc_id").get(pk=row.excursion_id),
        "type": PAGE_TYPES.get(version.type_id, "") if version else "",
        "part": part,
        "parts": _PARTS,
        "part_label": _PARTS[part],
        "now": timezone.now(),
        "same_version": version is not None and version.run_id != run.pk,
    }
    if version is not None:
        context |= _FILL[part](request, row, version)
        context["index_id"] = _index_id(row)
    return render(request, "ledger/address.html", context)


def _index_id(row: Row) -> int | None:
    """The id under which primary production shows this address, for the door to the word index."""
    number = PageHead.objects.filter(doc_id=row.doc_id, url_key=row.url_key).values_list("pk", flat=True).first()
    try:
        shown = number is not None and by_id(PRIMARY, live_generation(PRIMARY), number) is not None
    except DatabaseError:
        return None  # that server is down; the page itself stands in webcrawl
    return number if shown else None


def _text(request: HttpRequest, row: Row, version: PageVersion) -> dict[str, Any]:
    return {"text": version.text[:TEXT_LIMIT], "cut": len(version.text) > TEXT_LIMIT}


def _source(request: HttpRequest, row: Row, version: PageVersion) -> dict[str, Any]:
    source = source_of(version, TEXT_LIMIT)
    return {"source": source[0] if source else None, "cut": bool(source and source[1])}


def _metas(request: HttpRequest, row: Row, version: PageVersion) -> dict[str, Any]:
    return {"metas": [(name, content) for name, content in json.loads(version.metas or "[]")]}


def _out(request: HttpRequest, row: Row, version: PageVersion) -> dict[str, Any]:
    listed = Paginator(links_of(version), page_size(request)).get_page(request.GET.get("page"))
    return {"page": listed, "links": decided(row, listed.object_list)}


def _in(request: HttpRequest, row: Row, version: PageVersion) -> dict[str, Any]:
    found = links_to(row)
    listed = Paginator(found.rows, page_size(request)).get_page(request.GET.get("page"))
    return {"page": listed, "links_in": listed.object_list, "complete": found.complete}


def _versions(request: HttpRequest, row: Row, version: PageVersion) -> dict[str, Any]:
    """The list, and two of them compared: this one with the one before unless others are chosen."""
    found = versions_of(row)
    listed = Paginator(found, page_size(request)).get_page(request.GET.get("page"))
    old, new = two_versions(row, version, number_in(request, "new"), number_in(request, "old"))
    compared = difference(text_of(old), text_of(new)) if old is not None else None
    return {"page": listed, "versions": list(listed.object_list), "old": old, "new": new, "compared": compared}


_FILL = {"text": _text, "source": _source, "metas": _metas, "out": _out, "in": _in, "versions": _versions}


@require_safe
def copy(request: HttpRequest, run_id: int, entry_id: int) -> HttpResponse:
    """The stored page as it looked, in a sandbox."""
    run, docs = run_or_404(request, run_id)
    row = one(run, docs, entry_id)
    version = version_of(row) if row else None
    body = body_of(version) if version else None
    if version is None or body is None:
        raise Http404("No stored page under this address")
    return copy_of(request, version, body, reverse("run-page", args=[run.pk, entry_id]))
