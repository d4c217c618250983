"""Previews: asked for, followed while they run, and what they found."""

from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import replace
from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, document_or_404, may
from clearinghouse.addresses.roots import canonical_root
from clearinghouse.library.models import Document
from crawlpoints.point_checks import Invalid
from crawlpoints.queries import patterns_of
from crawlpoints.typed_urls import suggested_url

from ..errors import TooManyAtOnce
from ..launching.launch import snapshot_of
from ..models import Preview
from ..reasons import HTTP, by_status, reason_of
from ..values import PointSettings, Snapshot
from . import preview_rows
from .drafts import with_excludes
from .dry_run import FOLDERS, PAGES, SECONDS, folder_of

_TOO_MANY = 429
SENTENCES = {
    "all": "All pages that these settings reach were fetched.",
    "pages": f"It ended after {PAGES} pages, as previews do.",
    "time": f"It ended after {SECONDS:.0f} seconds, as previews do.",
    "stopped": "It was stopped.",
}


@require_safe
def previews(request: HttpRequest, doc_id: int) -> HttpResponse:
    """The last ones of a document, and a new one."""
    return _listed(request, document_or_404(request.user, doc_id, Action.TEST))


def _listed(request: HttpRequest, document: Document) -> HttpResponse:
    found = list(Preview.objects.filter(doc_id=document.pk).order_by("-pk")[:20])
    points = snapshot_of(document).points
    return render(request, "preview/previews.html", {"document": document, "rows": found, "points": points})


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
    try:
        row = preview_rows.ask(replace(snapshot, points=points), request.user.get_username(), {})
    except TooManyAtOnce as refusal:
        return _refused(request, document, refusal)
    return redirect("preview", document.pk, row.pk)


def _refused(request: HttpRequest, document: Document, refusal: TooManyAtOnce) -> HttpResponse:
    """The list of previews, where the open one can be stopped."""
    messages.error(request, f"{refusal}.")
    answer = _listed(request, document)
    answer.status_code = _TOO_MANY
    answer.headers["Retry-After"] = str(refusal.seconds)
    return answer


@require_safe
def preview(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    document, row = _found(request, doc_id, preview_id)
    return render(request, "preview/preview.html", _context(request, document, row))


@require_safe
def live(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    """204 while nothing moved."""
    document, row = _found(request, doc_id, preview_id)
    if request.GET.get("since") == mark_of(row):
        return HttpResponse(status=204)
    return render(request, "preview/preview_live.html", _context(request, document, row))


@require_POST
def stop(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    document, row = _found(request, doc_id, preview_id)
    preview_rows.stop(row)
    return redirect("preview", document.pk, row.pk)


@require_POST
def again(request: HttpRequest, doc_id: int, preview_id: int) -> HttpResponse:
    """The same settings once more, with one more folder excluded if one is named."""
    document, row = _found(request, doc_id, preview_id)
    snapshot, entries = Snapshot.from_json(row.snapshot), dict(row.entries)
    folder = request.POST.get("exclude", "").strip()[:2000]
    if folder:
        try:
            snapshot = with_excludes(snapshot, [*snapshot.excludes, folder])
        except Invalid as wrong:
            messages.error(request, f"{wrong}.")
            return redirect("preview", document.pk, row.pk)
        if entries:
            entries["excludes"] = f"{str(entries.get('excludes', '')).rstrip()}\n{folder}".lstrip()
    if row.finished_at is None:
        preview_rows.stop(row)  # two of them would ask the site for the same pages at once
    try:
        fresh = preview_rows.ask(snapshot, request.user.get_username(), entries, row.point_id)
    except TooManyAtOnce as refusal:
        return _refused(request, document, refusal)
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
    may_edit = may(request.user, Action.EDIT, document)
    known = set(patterns_of(document))
    answered = Counter(page["status"] for page in pages if page["reason"] in HTTP)
    return {
        "document": document,
        "row": row,
        "mark": mark_of(row),
        "result": result,
        "pages": [page | {"words": reason_of(page["reason"], page["status"]).label} for page in pages],
        "reasons": [(reason.label, count) for reason, count in by_status(dict(result.get("reasons", [])), answered)],
        "redirects": [page for page in pages if page["leads_to"]],
        "sign_ins": [page for page in pages if page["sign_in"]],
        "tree": tree_of(pages, result.get("waiting_folders", []), snapshot.points),
        "folders_left_out": max(result.get("folders", 0) - FOLDERS, 0),
        "sentence": SENTENCES.get(result.get("ended", ""), ""),
        "points": snapshot.points,
        "most": PAGES,
        "may_edit": may_edit,
        # Of a preview without entries of a dialog: what was excluded here and nowhere else.
        "new_excludes": [one for one in snapshot.excludes if one not in known] if may_edit and not row.entries else [],
        "entries": sorted(row.entries.items()),
        "live": row.finished_at is None and not (row.stop and row.started_at is None),
    }


def tree_of(
    pages: list[dict[str, Any]], waiting: Iterable[tuple[str, int]], points: Sequence[PointSettings]
) -> list[dict[str, Any]]:
    """Folders by name, each below the one it is in, with what was fetched and what waits in it and below; pure.

    Folders above all root strings are left out, and one that holds the URL of a crawl point cannot be excluded.
    """
    roots, starts = {_root_folder(point.root) for point in points}, [suggested_url(point.url) for point in points]
    folders: dict[str, Counter[str]] = defaultdict(Counter)
    counted = [(folder_of(page["url"]), "fetched", 1) for page in pages]
    for folder, name, count in [*counted, *((folder, "waiting", count) for folder, count in waiting)]:
        for one in _with_parents(folder, roots):
            folders[one][name] += count
    names = sorted(folders)
    return [
        {
            "folder": folder, "pattern": f"{folder}*", "fetched": folders[folder]["fetched"],
            "waiting": folders[folder]["waiting"],
            "indent": range(sum(1 for other in names if other != folder and folder.startswith(other))),
            "start": any(url.startswith(folder) for url in starts),
        }
        for folder in names
    ]  # fmt: skip


def _root_folder(root: str) -> str:
    try:
        return folder_of(canonical_root(root))
    except ValueError:
        return root


def _with_parents(folder: str, roots: set[str]) -> Iterator[str]:
    """The folder, and those it is in, as long as they lie under a root string."""
    yield folder
    while (folder := folder[: folder.rstrip("/").rfind("/") + 1]) and folder.startswith(tuple(roots)):
        yield folder
