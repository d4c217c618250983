"""Owns: the last change of a person, while it can be taken back with one press: until the next action or 10 minutes.

Does not: decide who may change what. Called by: the screens of crawl points and of runs.
"""

import time
from typing import Any

from django.contrib import messages
from django.http import HttpRequest
from django.urls import reverse

from clearinghouse.accounts.policies import Action, documents_for
from clearinghouse.database.records import StaleRecord
from clearinghouse.web.plurals import plural

from . import bulk_changes
from .bulk_changes import Changed
from .point_checks import Invalid

KEY = "undo"
SECONDS = 600
EVERYWHERE = 0  # instead of a document: a change across several
STALE = "Somebody else changed one of these crawl points just now. Nothing was changed."
KINDS = {
    "point": "crawl-points-restore", "exclude": "exclude-urls-restore", "change": "crawl-points-undo",
    "across": "points-undo", "note": "document-notes-restore", "finding": "finding-undo",
}  # fmt: skip


def offer(request: HttpRequest, kind: str, document_id: int, ids: list[int], sentence: str) -> None:
    request.session[KEY] = {
        "kind": kind, "document": document_id, "ids": ids, "sentence": sentence, "until": time.time() + SECONDS,
    }  # fmt: skip


def offer_change(
    request: HttpRequest, document_id: int, changed: Changed, sentence: str, *, at: str = "", finding: int = 0
) -> None:
    """For what is more than a delete: what was there before stands in the session.

    `at` is the path of another screen that shows it, beside those of the document; `finding` the one it has solved.
    """
    kind = "finding" if finding else "change" if document_id else "across"
    offer(request, kind, document_id, [], sentence)
    request.session[KEY] |= {"change": changed.to_json(), "at": at, "finding": finding}


def forget(request: HttpRequest) -> None:
    """Every other action of the person ends the offer."""
    request.session.pop(KEY, None)


def offered(request: HttpRequest, document_id: int | None = None) -> dict[str, Any] | None:
    """For the status region: the sentence, and where the Undo button posts what."""
    kept = _kept(request)
    here = kept is not None and kept.get("at") == request.path
    if kept is None or not (here or kept["document"] == document_id):
        return None
    concerned = kept.get("finding") or kept["document"]
    return {
        "sentence": kept["sentence"],
        "url": reverse(KINDS[kept["kind"]], args=[concerned] if concerned else []),
        "name": kept["kind"],
        "ids": kept["ids"],
        "next": request.get_full_path() if here or kept.get("finding") else "",
    }


def take_back(request: HttpRequest, document_id: int) -> bool:
    """The change, once and as far as it can be; says how it went. False when it stays as it is."""
    kept = _kept(request)
    forget(request)
    if kept is None or kept["document"] != document_id or "change" not in kept:
        messages.info(request, "There is nothing to undo any more.")
        return False
    changed = Changed.from_json(kept["change"])
    if not bulk_changes.within(changed, documents_for(request.user, Action.EDIT)):
        messages.error(request, "One of these crawl points is in a document that you may not change any more.")
        return False
    return _taken_back(request, changed)


def _taken_back(request: HttpRequest, changed: Changed) -> bool:
    try:
        count, left = bulk_changes.take_back(changed)
    except (Invalid, StaleRecord) as wrong:
        messages.error(request, STALE if isinstance(wrong, StaleRecord) else f"{wrong}.")
        return False
    if count:
        messages.success(request, f"Undone: {plural(count, 'change was,changes were')} taken back.")
    for point in left:
        messages.warning(request, f"Not undone: {point.updated_by} changed {point.url} meanwhile.")
    return bool(count)


def _kept(request: HttpRequest) -> dict[str, Any] | None:
    kept: dict[str, Any] | None = request.session.get(KEY)
    return kept if kept and kept["until"] >= time.time() else None
