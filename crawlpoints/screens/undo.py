"""The last change of a person, as long as it can be taken back with one press: until the next action or 10 minutes."""

import time
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

from ..bulk import Changed

KEY = "undo"
SECONDS = 600
EVERYWHERE = 0  # instead of a document: a change across several
KINDS = {
    "point": "crawl-points-restore", "exclude": "exclude-urls-restore", "change": "crawl-points-undo",
    "across": "points-undo", "note": "document-notes-restore",
}  # fmt: skip


def offer(request: HttpRequest, kind: str, document_id: int, ids: list[int], sentence: str) -> None:
    request.session[KEY] = {
        "kind": kind, "document": document_id, "ids": ids, "sentence": sentence, "until": time.time() + SECONDS,
    }  # fmt: skip


def offer_change(request: HttpRequest, document_id: int, changed: Changed, sentence: str) -> None:
    """For what is more than a delete: what was there before stands in the session."""
    offer(request, "change" if document_id else "across", document_id, [], sentence)
    request.session[KEY] |= {"change": changed.to_json()}


def forget(request: HttpRequest) -> None:
    """Every other action of the person closes the door."""
    request.session.pop(KEY, None)


def taken(request: HttpRequest, document_id: int) -> Changed | None:
    """The change to take back, once; None when there is none (any more)."""
    kept = _kept(request, document_id)
    forget(request)
    return Changed.from_json(kept["change"]) if kept and "change" in kept else None


def offered(request: HttpRequest, document_id: int) -> dict[str, Any] | None:
    """For the status region: the sentence, and where the Undo button posts which ids."""
    kept = _kept(request, document_id)
    if kept is None:
        return None
    url = reverse(KINDS[kept["kind"]], args=[document_id] if document_id else [])
    return {"sentence": kept["sentence"], "url": url, "name": kept["kind"], "ids": kept["ids"]}


def _kept(request: HttpRequest, document_id: int) -> dict[str, Any] | None:
    kept: dict[str, Any] | None = request.session.get(KEY)
    if not kept or kept["document"] != document_id or kept["until"] < time.time():
        return None
    return kept
