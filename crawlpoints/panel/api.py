"""Owns: the JSON API of crawl points and exclude URLs: one by one, several at once, and Undo.

Undo: a change of several rows answers with what was there before, signed, so that nothing of it is kept here and no
other can be sent. Does not: change rows itself. Called by: crawler.api.
"""

from collections.abc import Mapping
from typing import Any

from django.core import signing
from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404, documents_for, sees_logins
from clearinghouse.library.models import Document
from crawler.api.contract import DELETED, OF_DOCUMENT, ApiRequest, Json, page_of, router, row_or_404
from crawler.api.request_fields import choice, fields, number, several, switch, text
from crawler.api.response_fields import FLAG, INT, TEXT, JsonObject, list_of, shape_of

from .. import bulk_changes, services
from ..models import AuthType, CrawlPoint
from ..point_checks import SWITCHES, TEXTS, Invalid
from ..queries import deleted_excludes_of, deleted_points_of, excludes_of, points_of

LONGEST = 2048
UNDO_SECONDS = 3600
_SALT = "a change that can be taken back"
_AUTH_CODES = {kind.name.lower(): int(kind) for kind in AuthType}
_MOST_PAGES = 2_147_483_647
SHOWN_FIELDS = {
    **{name: text(name.replace("_", " "), LONGEST) for name in TEXTS},
    **{name: switch(name.replace("_", " ")) for name in SWITCHES},
    "depth": number("How many clicks from the URL; 0 is only the URL", most=999),
    "max_pages": number("Stop after so many pages; 0 is no limit", most=_MOST_PAGES),
    "authentication": choice("How the site asks for a password", *_AUTH_CODES),
}
_FIELDS = SHOWN_FIELDS | {
    "password": text("Stored encrypted, never given back", 320),
    "forget_password": switch("Remove the saved password"),
}
VERSION = {"version": number("The version you read; 409 when somebody changed it meanwhile")}
NEW_POINT = fields(("url", "root"), **_FIELDS)
CHANGED_POINT = fields(("version",), **_FIELDS, **VERSION)
NEW_EXCLUDE = fields(
    ("pattern",), pattern=text("An address, with * for anything, or regex: and an expression", LONGEST)
)
POINTS = several(number("Key of a crawl point", least=1), 500)
LIMITS = fields(
    ("crawl_points",),
    crawl_points=POINTS,
    depth=number("Depth limit", most=999),
    max_pages=number("Maximum pages; 0 is no limit", most=_MOST_PAGES),
    active=switch("Whether they are crawled"),
)
COPY = fields(
    ("crawl_points", "document"),
    crawl_points=POINTS,
    document=number("Key of the other document", least=1),
    move=switch("Delete them here; they can be restored"),
)
UNDO = fields(("undo",), undo=text("What the change answered with", 900_000))
CRAWL_POINT = JsonObject(
    "CrawlPoint", id=INT, version=INT, deleted=FLAG, depth=INT, max_pages=INT, authentication=TEXT, has_password=FLAG,
    **dict.fromkeys(TEXTS, TEXT), **dict.fromkeys(SWITCHES, FLAG),
)  # fmt: skip
SAVED = JsonObject(
    "SavedCrawlPoint", crawl_point=CRAWL_POINT.reference, cautions=list_of(shape_of(code=TEXT, text=TEXT))
)
EXCLUDE_URL = JsonObject("ExcludeUrl", id=INT, version=INT, pattern=TEXT, deleted=FLAG)
CHANGED = JsonObject("Changed", changed=INT, added=list_of(INT), deleted=list_of(INT), refused=list_of(TEXT), undo=TEXT)
UNDONE = JsonObject("Undone", count=INT, left=list_of(TEXT))
OF_POINT = OF_DOCUMENT + "crawl-points/<int:point_id>/"
OF_EXCLUDE = OF_DOCUMENT + "exclude-urls/<int:exclude_id>/"
_NO_POINT, _NO_EXCLUDE = "No such crawl point in this document", "No such exclude URL in this document"


@router.get(
    OF_DOCUMENT + "crawl-points/", "api-crawl-points", "Crawl points of a document", CRAWL_POINT, many=True,
    query=DELETED,
)  # fmt: skip
def points(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id)
    rows = deleted_points_of(document) if asked.query.get("deleted") else points_of(document)
    shown = sees_logins(asked.user)
    return page_of(rows, asked, lambda row: _point_json(row, shown))


@router.post(
    OF_DOCUMENT + "crawl-points/", "api-crawl-points", "Add a crawl point", SAVED, body=NEW_POINT, status=201
)  # fmt: skip
def add_point(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    return _saved(*services.add_crawl_point(document, entries_of(asked.body)))


@router.get(OF_POINT, "api-crawl-point", "One crawl point", CRAWL_POINT)
def point(asked: ApiRequest, doc_id: int, point_id: int) -> Json:
    found = point_or_404(document_or_404(asked.user, doc_id), point_id)
    return _point_json(found, sees_logins(asked.user))


@router.patch(
    OF_POINT, "api-crawl-point", "Update a crawl point: what is named is changed, what is not stays", SAVED,
    body=CHANGED_POINT,
)  # fmt: skip
def change_point(asked: ApiRequest, doc_id: int, point_id: int) -> Json:
    point = point_or_404(document_or_404(asked.user, doc_id, Action.EDIT), point_id)
    return _saved(*services.update_crawl_point(point, entries_of(asked.body), version=asked.body["version"]))


@router.delete(OF_POINT, "api-crawl-point", "Delete a crawl point; it can be restored", CRAWL_POINT, query=VERSION)
def delete_point(asked: ApiRequest, doc_id: int, point_id: int) -> Json:
    point = point_or_404(document_or_404(asked.user, doc_id, Action.EDIT), point_id)
    point.version = asked.query.get("version", point.version)
    services.delete_crawl_point(point)
    return _point_json(point)


@router.post(OF_POINT + "restore/", "api-crawl-point-restore", "Restore a deleted crawl point", CRAWL_POINT)
def restore_point(asked: ApiRequest, doc_id: int, point_id: int) -> Json:
    deleted = deleted_points_of(document_or_404(asked.user, doc_id, Action.EDIT))
    point = row_or_404(deleted, point_id, "No such deleted crawl point in this document")
    return _point_json(services.restore_crawl_point(point))


@router.get(
    OF_DOCUMENT + "exclude-urls/", "api-exclude-urls", "Exclude URLs of a document", EXCLUDE_URL, many=True,
    query=DELETED,
)  # fmt: skip
def excludes(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id)
    rows = deleted_excludes_of(document) if asked.query.get("deleted") else excludes_of(document)
    return page_of(rows, asked, EXCLUDE_URL.of)


@router.post(
    OF_DOCUMENT + "exclude-urls/", "api-exclude-urls", "Add an exclude URL", EXCLUDE_URL, body=NEW_EXCLUDE, status=201
)
def add_exclude(asked: ApiRequest, doc_id: int) -> Json:
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    return EXCLUDE_URL.of(services.add_exclude_url(document, asked.body["pattern"]))


@router.delete(OF_EXCLUDE, "api-exclude-url", "Delete an exclude URL; it can be restored", EXCLUDE_URL)
def delete_exclude(asked: ApiRequest, doc_id: int, exclude_id: int) -> Json:
    excludes = excludes_of(document_or_404(asked.user, doc_id, Action.EDIT))
    exclude = row_or_404(excludes, exclude_id, _NO_EXCLUDE)
    services.delete_exclude_url(exclude)
    return EXCLUDE_URL.of(exclude)


@router.post(OF_EXCLUDE + "restore/", "api-exclude-url-restore", "Restore a deleted exclude URL", EXCLUDE_URL)
def restore_exclude(asked: ApiRequest, doc_id: int, exclude_id: int) -> Json:
    excludes = deleted_excludes_of(document_or_404(asked.user, doc_id, Action.EDIT))
    return EXCLUDE_URL.of(services.restore_exclude_url(row_or_404(excludes, exclude_id, _NO_EXCLUDE)))


@router.post(
    OF_DOCUMENT + "crawl-points/set/", "api-crawl-points-set",
    "Set a limit of several crawl points, or switch them on or off", CHANGED, body=LIMITS,
)  # fmt: skip
def set_values(asked: ApiRequest, doc_id: int) -> Json:
    """The same limit for several crawl points; when one of them refuses it, nothing is changed."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    values = {name: asked.body[name] for name in ("depth", "max_pages") if name in asked.body}
    if "active" in asked.body:
        values["active"] = int(asked.body["active"])
    if not values:
        raise Invalid({"crawl_points": ["Name what is to be set: depth, max_pages or active"]})
    return _changed(asked, doc_id, bulk_changes.set_values(_chosen(document, asked), values))


@router.post(
    OF_DOCUMENT + "crawl-points/copy/", "api-crawl-points-copy", "Copy or move crawl points to another document",
    CHANGED, body=COPY,
)  # fmt: skip
def copy(asked: ApiRequest, doc_id: int) -> Json:
    """To another document; one that the other document has already is left alone and named in `refused`."""
    document = document_or_404(asked.user, doc_id, Action.EDIT)
    others = documents_for(asked.user, Action.EDIT).exclude(pk=document.pk)
    other = row_or_404(others, asked.body["document"], "There is no other document with this key that you may change")
    move = asked.body.get("move", False)
    return _changed(asked, doc_id, bulk_changes.copy(_chosen(document, asked), other, move=move))


@router.post(
    OF_DOCUMENT + "undo/", "api-undo", "Take back an import, a copy, or limits set for several crawl points", UNDONE,
    body=UNDO,
)  # fmt: skip
def undo(asked: ApiRequest, doc_id: int) -> Json:
    """Everything as it was before the change, within an hour of it; `left` names crawl points changed since."""
    document_or_404(asked.user, doc_id, Action.EDIT)
    changed = _signed_change(asked, doc_id)
    if not bulk_changes.within(changed, documents_for(asked.user, Action.EDIT)):
        raise Http404("One of these crawl points is in a document that you may not change")
    count, left = bulk_changes.take_back(changed)
    return {"count": count, "left": [point.url for point in left]}


def undo_token(asked: ApiRequest, doc_id: int, changed: bulk_changes.Changed) -> str:
    """For the field `undo` of an answer; empty when there is nothing to take back."""
    if not changed.anything:
        return ""
    return signing.dumps([asked.user.pk, doc_id, changed.to_json()], salt=_SALT, compress=True)


def _signed_change(asked: ApiRequest, doc_id: int) -> bulk_changes.Changed:
    try:
        person, document, change = signing.loads(asked.body["undo"], salt=_SALT, max_age=UNDO_SECONDS)
    except signing.SignatureExpired:
        raise Invalid({"undo": ["This change is more than an hour old; change it back by hand"]}) from None
    except signing.BadSignature:
        raise Invalid({"undo": ["Send the field undo of the answer as it was"]}) from None
    if [person, document] != [asked.user.pk, doc_id]:
        raise Invalid({"undo": ["This was answered to another person, or for another document"]})
    return bulk_changes.Changed.from_json(change)


def entries_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The named values only: what is not in the contract cannot reach a column."""
    entries = {name: value for name, value in body.items() if name in _FIELDS and name != "authentication"}
    if "authentication" in body:
        entries["auth_type"] = _AUTH_CODES[body["authentication"]]
    return entries


def point_or_404(document: Document, point_id: int) -> CrawlPoint:
    found: CrawlPoint = row_or_404(points_of(document), point_id, _NO_POINT)
    return found


def _chosen(document: Document, asked: ApiRequest) -> list[CrawlPoint]:
    wanted = set(asked.body["crawl_points"])
    found = list(points_of(document).filter(pk__in=wanted))
    if missing := wanted - {point.pk for point in found}:
        raise Http404(f"{_NO_POINT}: {', '.join(map(str, sorted(missing)[:20]))}")
    return found


def _changed(asked: ApiRequest, doc_id: int, done: bulk_changes.Changed) -> Json:
    return CHANGED.of(done, changed=done.count, undo=undo_token(asked, doc_id, done))


def _point_json(row: CrawlPoint, login: bool = True) -> Json:
    """Everything but the password, of which only is said whether there is one; for readers without the user ID."""
    kind, hidden = AuthType(row.auth_type or 0), {} if login else {"login": ""}
    return CRAWL_POINT.of(row, authentication=kind.name.lower(), has_password=bool(row.password), **hidden)


def _saved(point: CrawlPoint, cautions: Any) -> Json:
    found = [{"code": caution.code, "text": caution.text} for caution in cautions]
    return {"crawl_point": _point_json(point), "cautions": found}
