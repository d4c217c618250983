"""What programs send of a crawl point, saved or not: its fields, and the settings of a document with unsaved ones."""

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from django.http import Http404

from clearinghouse.accounts.policies import Action, document_or_404
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint
from crawlpoints.point_checks import SWITCHES, TEXTS
from crawlpoints.queries import patterns_of, points_of

from ..launching.launch import snapshot_of
from ..preview.drafts import draft_of, with_draft, with_excludes
from ..values import PointSettings, Snapshot
from . import shapes
from .contract import ApiRequest, Schema, choice, number, several, switch, text, thing

LONGEST = 2048
_SHOWN: dict[str, Schema] = {
    **{name: text(name.replace("_", " "), LONGEST) for name in TEXTS},
    **{name: switch(name.replace("_", " ")) for name in SWITCHES},
    "depth": number("How many clicks from the URL; 0 is only the URL", most=999),
    "max_pages": number("Stop after so many pages; 0 is no limit", most=2_147_483_647),
    "authentication": choice("How the site asks for a password", *shapes.AUTH_CODES),
}
POINT_FIELDS = _SHOWN | {
    "password": text("Stored encrypted, never given back", 320),
    "forget_password": switch("Remove the saved password"),
}
DRAFT = thing(("url", "root"), **_SHOWN, id=number("Key of the crawl point these values would change", least=1))
# Settings to look with instead of the saved ones; for who may save them.
UNSAVED: dict[str, Schema] = {
    "draft": DRAFT | {"description": "A crawl point that is not saved, or not so"},
    "excludes": several(text("An exclude URL", LONGEST), 1_000) | {"description": "Instead of the saved ones"},
    "exclude": text("One exclude URL more", LONGEST),
}


def entries_of(body: Mapping[str, Any]) -> dict[str, Any]:
    """The named values only: what is not in the contract cannot reach a column."""
    entries = {name: value for name, value in body.items() if name in POINT_FIELDS and name != "authentication"}
    if "authentication" in body:
        entries["auth_type"] = shapes.AUTH_CODES[body["authentication"]]
    return entries


def settings_asked(asked: ApiRequest, document: Document, *, every: bool = False) -> Snapshot:
    """The saved settings with what was sent in place of them; `every`: inactive crawl points too."""
    body = asked.body
    if "draft" in body or "excludes" in body:
        document_or_404(asked.user, document.pk, Action.EDIT)
    snapshot = snapshot_of(document, include_inactive=every)
    excludes = list(body["excludes"]) if "excludes" in body else patterns_of(document)
    if "draft" in body:
        _, draft = drafted(document, body["draft"])
        snapshot = with_draft(document, replace(draft, active=True), excludes)
    more = [body["exclude"].strip()] if body.get("exclude", "").strip() else []
    return with_excludes(snapshot, [*excludes, *more])


def drafted(document: Document, sent: Mapping[str, Any]) -> tuple[CrawlPoint | None, PointSettings]:
    """The crawl point that is meant, if there is one yet, and its unsaved settings."""
    point = points_of(document).filter(pk=sent["id"]).first() if "id" in sent else None
    if "id" in sent and point is None:
        raise Http404("No such crawl point in this document")
    return point, draft_of(point, entries_of(sent))
