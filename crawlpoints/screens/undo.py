"""The last delete of a person, as long as it can be taken back with one press: until the next action or 10 minutes."""

import time
from typing import Any

from django.http import HttpRequest
from django.urls import reverse

KEY = "undo"
SECONDS = 600
KINDS = {"point": "crawl-points-restore", "exclude": "exclude-urls-restore"}


def offer(request: HttpRequest, kind: str, document_id: int, ids: list[int], sentence: str) -> None:
    request.session[KEY] = {
        "kind": kind, "document": document_id, "ids": ids, "sentence": sentence, "until": time.time() + SECONDS,
    }  # fmt: skip


def forget(request: HttpRequest) -> None:
    """Every other action of the person closes the door."""
    request.session.pop(KEY, None)


def offered(request: HttpRequest, document_id: int) -> dict[str, Any] | None:
    """For the status region: the sentence, and where the Undo button posts which ids."""
    kept = request.session.get(KEY)
    if not kept or kept["document"] != document_id or kept["until"] < time.time():
        return None
    url = reverse(KINDS[kept["kind"]], args=[document_id])
    return {"sentence": kept["sentence"], "url": url, "name": kept["kind"], "ids": kept["ids"]}
