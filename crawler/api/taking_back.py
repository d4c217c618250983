"""Undo: what a change of several rows answers with, and what takes it back.

The answer carries what was there before, signed, so that nothing of it is kept here and no other can be sent.
"""

from django.core import signing
from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404, documents_for
from crawlpoints import bulk_changes
from crawlpoints.bulk_changes import Changed
from crawlpoints.point_checks import Invalid

from .contract import ApiAddress, ApiRequest, ApiResponse, Operation, Schema, text, thing
from .paths import DOCUMENT
from .shapes import INT, TEXT, list_of, shape_of

SECONDS = 3600
_SALT = "a change that can be taken back"
UNDO = thing(("undo",), undo=text("What the change answered with", 900_000))
SCHEMAS: dict[str, Schema] = {"Undone": shape_of(count=INT, left=list_of(TEXT))}


def token_of(asked: ApiRequest, doc_id: int, changed: Changed) -> str:
    """For the field `undo` of an answer; empty when there is nothing to take back."""
    if not changed.anything:
        return ""
    return signing.dumps([asked.user.pk, doc_id, changed.to_json()], salt=_SALT, compress=True)


def take_back(asked: ApiRequest, doc_id: int) -> ApiResponse:
    """Everything as it was before the change, within an hour of it; `left` names crawl points changed since."""
    document_or_404(asked.user, doc_id, Action.EDIT)
    changed = _read(asked, doc_id)
    if not bulk_changes.within(changed, documents_for(asked.user, Action.EDIT)):
        raise Http404("One of these crawl points is in a document that you may not change")
    count, left = bulk_changes.take_back(changed)
    return ApiResponse({"count": count, "left": [point.url for point in left]})


def _read(asked: ApiRequest, doc_id: int) -> Changed:
    try:
        person, document, change = signing.loads(asked.body["undo"], salt=_SALT, max_age=SECONDS)
    except signing.SignatureExpired:
        raise Invalid({"undo": ["This change is more than an hour old; change it back by hand"]}) from None
    except signing.BadSignature:
        raise Invalid({"undo": ["Send the field undo of the answer as it was"]}) from None
    if [person, document] != [asked.user.pk, doc_id]:
        raise Invalid({"undo": ["This was answered to another person, or for another document"]})
    return Changed.from_json(change)


ADDRESSES = (
    ApiAddress(DOCUMENT + "undo/", "api-undo", {
        "POST": Operation(take_back, "Take back an import, a copy, or limits set for several crawl points", "Undone",
                          body=UNDO),
    }),
)  # fmt: skip
