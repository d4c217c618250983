"""Operations of the panel that concern several crawl points or a whole document: limits, copies, requests, previews."""

from dataclasses import replace
from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404, documents_for, sees_logins
from clearinghouse.audit.queries import history_of_document
from clearinghouse.library.models import Document
from crawlpoints import bulk_changes
from crawlpoints.models import CrawlPoint
from crawlpoints.point_checks import Invalid
from crawlpoints.queries import points_of

from ..errors import NothingToCrawl, WrongMoment
from ..launching import control, crawl_requests
from ..models import OPEN_STATES, Preview
from ..preview import preview_rows as previews
from ..runs.queries import ASKED
from ..runs.run_counts import excursions_of, totals
from ..runs.views.run_access import run_or_404
from . import result_shapes, shapes
from .contract import ApiRequest, ApiResponse, Schema, number, several, switch, text, thing
from .door import page_of
from .drafts import UNSAVED, settings_asked
from .taking_back import token_of

_MOST = 500
_POINTS: Schema = several(number("Key of a crawl point", least=1), _MOST)
LIMITS = thing(
    ("crawl_points",),
    crawl_points=_POINTS,
    depth=number("Depth limit", most=999),
    max_pages=number("Maximum pages; 0 is no limit", most=2_147_483_647),
    active=switch("Whether they are crawled"),
)
COPY = thing(
    ("crawl_points", "document"),
    crawl_points=_POINTS,
    document=number("Key of the other document", least=1),
    move=switch("Delete them here; they can be restored"),
)
NOTE = thing(note=text("Why", 500))
CHOSEN = thing(crawl_points=_POINTS, **UNSAVED)


def set_values(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """The same limit for several crawl points; when one of them refuses it, nothing is changed."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    values = {name: asked.body[name] for name in ("depth", "max_pages") if name in asked.body}
    if "active" in asked.body:
        values["active"] = int(asked.body["active"])
    if not values:
        raise Invalid({"crawl_points": ["Name what is to be set: depth, max_pages or active"]})
    return _changed(asked, doc_id, bulk_changes.set_values(_chosen(document, asked), values))


def copy(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """To another document; one that the other document has already is left alone and named in `refused`."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    other = documents_for(asked.user, Action.EDIT).exclude(pk=document.pk).filter(pk=asked.body["document"]).first()
    if other is None:
        raise Http404("There is no other document with this key that you may change")
    return _changed(
        asked, doc_id, bulk_changes.copy(_chosen(document, asked), other, move=asked.body.get("move", False))
    )


def _chosen(document: Document, asked: ApiRequest) -> list[CrawlPoint]:
    wanted = set(asked.body["crawl_points"])
    found = list(points_of(document).filter(pk__in=wanted))
    if missing := wanted - {point.pk for point in found}:
        raise Http404(f"No such crawl point in this document: {', '.join(map(str, sorted(missing)[:20]))}")
    return found


def _changed(asked: ApiRequest, doc_id: int, done: bulk_changes.Changed) -> ApiResponse:
    body = {"changed": done.count, "added": done.added, "deleted": done.deleted, "refused": done.refused}
    return ApiResponse(body | {"undo": token_of(asked, doc_id, done)})


def history(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """Who changed what of a document, newest first; a password is masked."""
    document = document_or_404(asked.user, doc_id)
    rows = history_of_document(document.pk)
    shown = sees_logins(asked.user)
    return page_of(rows, asked, lambda page: [result_shapes.history_entry(row, shown) for row in page])


def request_crawl(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.REQUEST)
    row = crawl_requests.ask(document, asked.by, asked.body.get("note", ""))
    return ApiResponse(result_shapes.crawl_request(row), 201)


def ask_to_stop(asked: ApiRequest, run_id: int) -> ApiResponse:
    """For who may not stop it: a line in the log of the run, which administrators see on its page."""
    run, docs = run_or_404(asked.request, run_id)
    if run.state not in OPEN_STATES:
        raise WrongMoment("This run has ended already")
    # With a document of the person, so that others of the run do not read it.
    doc_id = None if docs is None else excursions_of(run, docs).values_list("doc_id", flat=True).first()
    control.note(run.pk, ASKED, f"{asked.by} asks to stop this run", doc_id)
    return ApiResponse(shapes.run(run, totals(run, docs)))


def previews_of(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.TEST)
    rows = Preview.objects.filter(doc_id=document.pk).order_by("-pk")
    return page_of(rows, asked, lambda page: [result_shapes.preview(row) for row in page])


def start_preview(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """A look at up to 25 pages that stores nothing, of the named crawl points, of an unsaved one, or of all active."""
    document = document_or_404(asked.user, doc_id, Action.TEST)
    wanted = set(asked.body.get("crawl_points", ()))
    snapshot = settings_asked(asked, document, every=bool(wanted))
    points: tuple[Any, ...] = (
        snapshot.points[:1]
        if "draft" in asked.body
        else tuple(replace(one, active=True) for one in snapshot.points if not wanted or one.id in wanted)
    )
    if not points:
        raise NothingToCrawl("There is no active crawl point to preview")
    row = previews.ask(replace(snapshot, points=points), asked.by, {})
    return ApiResponse(result_shapes.preview(row), 201)


def preview(asked: ApiRequest, doc_id: int, preview_id: int) -> ApiResponse:
    return ApiResponse(result_shapes.preview(_preview(asked, doc_id, preview_id)))


def stop_preview(asked: ApiRequest, doc_id: int, preview_id: int) -> ApiResponse:
    row = _preview(asked, doc_id, preview_id)
    previews.stop(row)
    row.refresh_from_db()
    return ApiResponse(result_shapes.preview(row))


def _preview(asked: ApiRequest, doc_id: int, preview_id: int) -> Preview:
    document = document_or_404(asked.user, doc_id, Action.TEST)
    row = Preview.objects.filter(pk=preview_id, doc_id=document.pk).first()
    if row is None:
        raise Http404("No such preview")
    return row
