"""Previews: asked for, followed while they run, and what they found."""

from dataclasses import replace
from typing import Any
from urllib.parse import urlsplit

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.access.policies import Action, document_or_404, may
from clearinghouse.library.models import Document

from ..intake import snapshot_of
from ..models import Preview
from ..preview import rows
from ..preview.dry_run import PAGES, SECONDS
from ..values import REASONS, Snapshot

SENTENCES = {
    "all": "All pages these settings reach were looked at.",
    "pages": f"It ended after {PAGES} pages, as previews do.",
    "time": f"It ended after {SECONDS:.0f} seconds, as previews do.",
    "stopped": "It was stopped.",
}


@require_safe
def previews(request: HttpRequest, doc_id: int) -> HttpResponse:
    """The last ones of a document, and a new one."""
    document = document_or_404(request.user, doc_id, Action.TEST)
    found = list(Preview.objects.filter(doc_id=document.pk).order_by("-pk")[:20])
    points = snapshot_of(document).points
    return render(request, "crawler/previews.html", {"document": document, "rows": found, "points": points})


@require_POST
def start(request: HttpRequest, doc_id: int) -> HttpResponse:
    """From the panel: the ticked crawl points, or all active ones, as they are saved."""
    document = document_or_404(request.user, doc_id, Action.TEST)
    wanted = {text for text in request.POST.getlist("point") if text.isdigit()}
    snapshot = snapshot_of(document, include_inactive=bool(wanted))
    points = tuple(replace(one, active=True) for one in snapshot.points if not wanted or str(one.id) in wanted)
    if not points:
        messages.info(request, "There is no active crawl point to preview.")
        return redirect("crawl-points", document.pk)
    row = rows.ask(replace(snapshot, points=points), request.user.get_username(), {})
    return redirect("preview", document.pk, row.pk)


@require_safe
def preview(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    document, row = _found(request, doc_id, preview_id)
    return render(request, "crawler/preview.html", _context(request, document, row))


@require_safe
def live(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    """204 while nothing moved."""
    document, row = _found(request, doc_id, preview_id)
    if request.GET.get("since") == mark_of(row):
        return HttpResponse(status=204)
    return render(request, "crawler/preview_live.html", _context(request, document, row))


@require_POST
def stop(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    document, row = _found(request, doc_id, preview_id)
    rows.stop(row)
    return redirect("preview", document.pk, row.pk)


@require_POST
def again(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    """The same settings once more, with one more folder excluded if one is named."""
    document, row = _found(request, doc_id, preview_id)
    snapshot, entries = Snapshot.from_json(row.snapshot), dict(row.entries)
    folder = request.POST.get("exclude", "").strip()[:2000]
    if folder:
        snapshot = replace(snapshot, excludes=(*snapshot.excludes, folder))
        if entries:
            entries["excludes"] = f"{str(entries.get('excludes', '')).rstrip()}\n{folder}".lstrip()
    fresh = rows.ask(snapshot, request.user.get_username(), entries, row.point_id)
    return redirect("preview", document.pk, fresh.pk)


def _found(request: HttpRequest, doc_id: int, preview_id: int) -> tuple[Document, Preview]:
    document = document_or_404(request.user, doc_id, Action.TEST)
    row = Preview.objects.filter(pk=preview_id, doc_id=document.pk).first()
    if row is None:
        raise Http404("No such preview")
    return document, row


def mark_of(row: Preview) -> str:
    return f"{row.progress}.{int(row.started_at is not None)}.{int(row.finished_at is not None)}.{int(row.stop)}"


def _context(request: HttpRequest, document: Document, row: Preview) -> dict[str, Any]:
    result = row.result or {}
    pages = result.get("pages", [])
    snapshot = Snapshot.from_json(row.snapshot)
    return {
        "document": document,
        "row": row,
        "mark": mark_of(row),
        "result": result,
        "pages": [page | {"words": _words(page["reason"])} for page in pages],
        "reasons": [(_words(code), count) for code, count in result.get("reasons", [])],
        "redirects": [page for page in pages if page["leads_to"]],
        "sign_ins": [page for page in pages if page["sign_in"]],
        "tree": tree_of(pages, result.get("waiting_first", [])),
        "sentence": SENTENCES.get(result.get("ended", ""), ""),
        "points": snapshot.points,
        "most": PAGES,
        "may_edit": may(request.user, Action.EDIT, document),
        "entries": sorted(row.entries.items()),
        "live": row.finished_at is None and not (row.stop and row.started_at is None),
    }


def _words(code: str) -> str:
    return REASONS[code].label if code in REASONS else code


def tree_of(pages: list[dict[str, Any]], waiting: list[str]) -> list[dict[str, Any]]:
    """Folders with what was fetched and what waits in them, by name; pure."""
    folders: dict[str, dict[str, Any]] = {}
    for url, name in [(page["url"], "fetched") for page in pages] + [(url, "waiting") for url in waiting]:
        folder = folder_of(url)
        counts = folders.setdefault(folder, {"folder": folder, "pattern": f"{folder}*", "fetched": 0, "waiting": 0})
        counts[name] += 1
    return [folders[name] for name in sorted(folders)]


def folder_of(url: str) -> str:
    parts = urlsplit(url)
    return f"{parts.scheme}://{parts.netloc}{parts.path[: parts.path.rfind('/') + 1] or '/'}"
