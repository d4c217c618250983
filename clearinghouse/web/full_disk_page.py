"""Owns: the answer of a request that could not save because a disk is full: one sentence, and what was typed.

Does not: find out (clearinghouse.database.full_disk). Called by: views.fault, which Django asks for every error.
"""

import re
from typing import NamedTuple

from django.http import HttpRequest, HttpResponse, JsonResponse
from django.middleware.csrf import get_token
from django.template.loader import render_to_string
from django.views.decorators.debug import sensitive_variables

STATUS = 507  # Insufficient Storage
_HIDDEN = re.compile(r"pass|secret|token|_pw", re.IGNORECASE)
_LONG = 60
_UNSEEN = {"next", "version"}  # they stand in every form of ours, and nobody typed them


class Typed(NamedTuple):
    """One entry of the form that was sent."""

    name: str
    label: str
    value: str
    kind: str  # of the input; empty for a text of several lines


@sensitive_variables()
def answer(request: HttpRequest, context: dict[str, object]) -> HttpResponse:
    if request.path_info.startswith("/api/"):
        sentence = "The disk is full: nothing was saved. Send it again when there is room."
        return JsonResponse({"code": "disk_full", "error": sentence}, status=STATUS)
    typed, files = _typed(request)
    context = context | {"typed": typed, "files": files, "csrf_token": get_token(request)}
    response = HttpResponse(render_to_string("507.html", context), status=STATUS)
    response.headers["Cache-Control"] = "no-store"
    return response


@sensitive_variables()
def _typed(request: HttpRequest) -> tuple[list[Typed], bool]:
    """What came with the request, but for passwords; and whether a file came, too."""
    if request.method != "POST":
        return [], False
    try:
        sent, files = request.POST, bool(request.FILES)
    except OSError:  # it was the upload itself for which there was no room
        return [], True
    found = [_entry(name, value) for name, values in sent.lists() if name != "csrfmiddlewaretoken" for value in values]
    return found, files or (request.content_type == "multipart/form-data" and not found)


@sensitive_variables()
def _entry(name: str, value: str) -> Typed:
    label = name.replace("_", " ").replace("-", " ").capitalize()
    if _HIDDEN.search(name):
        return Typed(name, label, "", "password")
    kind = "hidden" if name in _UNSEEN else "" if len(value) > _LONG or "\n" in value else "text"
    return Typed(name, label, value, kind)
