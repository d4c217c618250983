"""Doors for load balancers and process managers. No sign-in; nothing here tells a stranger more than yes or no."""

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.views.decorators.http import require_safe

from . import database_check

_KEY, _SECONDS = "readyz", 2  # strangers may ask as often as they like: the databases are not asked each time


@require_safe
def healthz(request: HttpRequest) -> HttpResponse:
    """The process answers: no database is asked."""
    return _plain(["ok"])


@require_safe
def readyz(request: HttpRequest) -> HttpResponse:
    """200 while people can be served; 503 with a sentence for each thing that is missing."""
    known = cache.get(_KEY)
    if known is None:
        known = database_check.missing()
        cache.set(_KEY, known, _SECONDS)
    stops, bears = known
    return _plain([*(stops or ["ready"]), *bears], 503 if stops else 200)


def _plain(lines: list[str], status: int = 200) -> HttpResponse:
    headers = {"Cache-Control": "no-store"}
    return HttpResponse("\n".join(lines) + "\n", "text/plain; charset=utf-8", status, headers=headers)
