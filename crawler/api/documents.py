"""Operations on documents and what they own: crawl points, exclude URLs, the explainer."""

from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import (
    Action,
    doc_ids_for,
    document_or_404,
    documents_for,
    require,
    role_of,
    sees_logins,
)
from clearinghouse.library.models import Document
from crawlpoints import services
from crawlpoints.models import CrawlPoint, ExcludeUrl
from crawlpoints.queries import deleted_excludes_of, deleted_points_of, excludes_of, points_of

from ..ledger.explain import explain as explain_address
from ..preview.timed_rules import Deadline, RulesInTime
from . import shapes
from .contract import ApiRequest, ApiResponse, number, several, switch, text, thing
from .door import page_of
from .drafts import LONGEST, POINT_FIELDS, UNSAVED, entries_of, settings_asked

VERSION = number("The version you read; 409 when somebody changed it meanwhile")
NEW_POINT = thing(("url", "root"), **POINT_FIELDS)
CHANGED_POINT = thing(("version",), **POINT_FIELDS, version=VERSION)
NEW_EXCLUDE = thing(("pattern",), pattern=text("An address, with * for anything, or regex: and an expression", LONGEST))
QUESTION = thing(
    ("urls",), urls=several(text("An address", 4096), 200), found_on=text("The page that links to it", 4096), **UNSAVED
)  # fmt: skip
DELETED = switch("The deleted ones instead")


def me(asked: ApiRequest) -> ApiResponse:
    role, person = role_of(asked.user), getattr(asked.user, "person", None)
    projects = list(person.projects.values_list("name", flat=True)) if person else []
    name = asked.user.get_full_name()
    return ApiResponse({"user": asked.by, "name": name, "role": role.value if role else None, "projects": projects})


def listed(asked: ApiRequest) -> ApiResponse:
    require(asked.user, Action.VIEW)
    rows = documents_for(asked.user).order_by("pk")
    if wanted := asked.query.get("text"):
        rows = rows.filter(sheet__title__icontains=wanted)
    if project := asked.query.get("project"):
        rows = rows.filter(sheet__project__name=project)
    editable = doc_ids_for(asked.user, Action.EDIT)
    return page_of(
        rows, asked, lambda page: [shapes.document(row, editable is None or row.pk in editable) for row in page]
    )


def one(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id)
    editable = doc_ids_for(asked.user, Action.EDIT)
    return ApiResponse(shapes.document(document, editable is None or document.pk in editable))


def points(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id)
    rows = deleted_points_of(document) if asked.query.get("deleted") else points_of(document)
    shown = sees_logins(asked.user)
    return page_of(rows, asked, lambda page: [shapes.crawl_point(row, shown) for row in page])


def point(asked: ApiRequest, doc_id: int, point_id: int) -> ApiResponse:
    found = _point(document_or_404(asked.user, doc_id), point_id)
    return ApiResponse(shapes.crawl_point(found, sees_logins(asked.user)))


def add_point(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    point, cautions = services.add_crawl_point(document, entries_of(asked.body))
    return _saved(point, cautions, 201)


def change_point(asked: ApiRequest, doc_id: int, point_id: int) -> ApiResponse:
    point = _point(document_or_404(asked.user, doc_id, Action.EDIT), point_id)
    point, cautions = services.update_crawl_point(point, entries_of(asked.body), version=asked.body["version"])
    return _saved(point, cautions)


def delete_point(asked: ApiRequest, doc_id: int, point_id: int) -> ApiResponse:
    point = _point(document_or_404(asked.user, doc_id, Action.EDIT), point_id)
    point.version = asked.query.get("version", point.version)
    services.delete_crawl_point(point)
    return ApiResponse(shapes.crawl_point(point))


def restore_point(asked: ApiRequest, doc_id: int, point_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    point = deleted_points_of(document).filter(pk=point_id).first()
    if point is None:
        raise Http404("No such deleted crawl point in this document")
    return ApiResponse(shapes.crawl_point(services.restore_crawl_point(point)))


def excludes(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id)
    rows = deleted_excludes_of(document) if asked.query.get("deleted") else excludes_of(document)
    return page_of(rows, asked, lambda page: [shapes.exclude_url(row) for row in page])


def add_exclude(asked: ApiRequest, doc_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    return ApiResponse(shapes.exclude_url(services.add_exclude_url(document, asked.body["pattern"])), 201)


def delete_exclude(asked: ApiRequest, doc_id: int, exclude_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    exclude = _exclude(excludes_of(document), exclude_id)
    services.delete_exclude_url(exclude)
    return ApiResponse(shapes.exclude_url(exclude))


def restore_exclude(asked: ApiRequest, doc_id: int, exclude_id: int) -> ApiResponse:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    exclude = _exclude(deleted_excludes_of(document), exclude_id)
    return ApiResponse(shapes.exclude_url(services.restore_exclude_url(exclude)))


def explain(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """Changes nothing; POST, because 200 addresses do not fit into one."""
    snapshot = settings_asked(asked, document_or_404(asked.user, doc_id, Action.TEST))
    found_on = asked.body.get("found_on", "").strip()
    rules = RulesInTime(snapshot, Deadline())  # made once: a document may have a thousand exclude URLs
    answers = [
        {"asked": url} | explain_address(snapshot, url.strip(), found_on, rules=rules) for url in asked.body["urls"]
    ]
    return ApiResponse({"items": answers})


def _saved(point: CrawlPoint, cautions: Any, status: int = 200) -> ApiResponse:
    found = [{"code": caution.code, "text": caution.text} for caution in cautions]
    return ApiResponse({"crawl_point": shapes.crawl_point(point), "cautions": found}, status)


def _point(document: Document, point_id: int) -> CrawlPoint:
    point = points_of(document).filter(pk=point_id).first()
    if point is None:
        raise Http404("No such crawl point in this document")
    return point


def _exclude(rows: Any, exclude_id: int) -> ExcludeUrl:
    exclude: ExcludeUrl | None = rows.filter(pk=exclude_id).first()
    if exclude is None:
        raise Http404("No such exclude URL in this document")
    return exclude
