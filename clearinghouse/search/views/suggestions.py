"""Owns: what a search box offers while somebody types, and the note that a result was opened."""

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse, JsonResponse
from django.utils.cache import patch_cache_control
from django.views.decorators.cache import never_cache
from django.views.decorators.http import require_safe

from .. import public_target
from ..ranking import spelling
from .visitor_limits import A_SUGGESTION, asked_by_our_page, asked_to_wait, count_opened

KEPT_SECONDS = 300
_LONGEST = 100
_NOTHING_MORE = 204


@require_safe
def suggest(request: HttpRequest) -> HttpResponse:
    """In the form browsers know from OpenSearch: what was typed, and a list."""
    if wait := asked_to_wait(request, A_SUGGESTION):
        return wait
    text = " ".join(request.GET.get("q", "")[: 2 * _LONGEST].replace("\x00", "").split())
    found: list[str] = []
    if len(text) <= _LONGEST:
        try:
            alias = public_target.public_alias()
            found = spelling.completions(alias, public_target.live_generation(alias), text)
        except DatabaseError:
            found = []
    answer = JsonResponse([text, found], safe=False, content_type="application/x-suggestions+json")
    answer.headers["X-Content-Type-Options"] = "nosniff"
    patch_cache_control(answer, public=True, max_age=KEPT_SECONDS)
    return answer


@never_cache
@require_safe
def opened(request: HttpRequest) -> HttpResponse:
    """The browser says that a result of this query was opened. Nobody waits for it, and nothing depends on it.

    A GET like the search before it, counted in the same spool: who only searches has no cookie, so no token to POST.
    """
    if wait := asked_to_wait(request, A_SUGGESTION):
        return wait
    if asked_by_our_page(request):
        count_opened(request, request.GET.get("q", ""))
    return HttpResponse(status=_NOTHING_MORE)
