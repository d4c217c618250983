"""The door of Prometheus: /metrics, in its text format. Open to who brings the token.

Without one a development server answers this machine; a production server answers nobody, because a proxy beside it
makes the whole world look like this machine.
"""

import hmac
from collections.abc import Iterable
from ipaddress import ip_address

from django.http import Http404, HttpRequest, HttpResponse
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse import env
from clearinghouse.accounts.sign_in.visitor_address import address_of
from clearinghouse.web.proxies import TAKEN_OFF

from .metrics import Gauge, gauges

_PREFIX = "clearinghouse_"
_MARKS = ("X-Forwarded-For", "X-Forwarded-Proto", "X-Forwarded-Host", "X-Real-Ip", "Forwarded", "Via")


@require_safe
def metrics(request: HttpRequest) -> HttpResponse:
    """For everybody else this address does not exist."""
    if not (_has_token(request) or _comes_from_here(request)):
        raise Http404
    body = as_text(gauges(timezone.now()))
    kind = "text/plain; version=0.0.4; charset=utf-8"
    return HttpResponse(body, kind, headers={"Cache-Control": "no-store"})


def _has_token(request: HttpRequest) -> bool:
    token = env.text("METRICS_TOKEN")
    given = request.headers.get("Authorization", "").removeprefix("Bearer ")
    return bool(token) and hmac.compare_digest(given.encode(), token.encode())


def _comes_from_here(request: HttpRequest) -> bool:
    if env.production() or request.META.get(TAKEN_OFF) or any(mark in request.headers for mark in _MARKS):
        return False
    try:
        return ip_address(address_of(request)).is_loopback
    except ValueError:
        return False


def as_text(numbers: Iterable[Gauge]) -> str:
    """Those of one name in one block, as the format demands. Pure."""
    blocks: dict[str, list[str]] = {}
    for one in numbers:
        name = _PREFIX + one.name
        lines = blocks.setdefault(name, [f"# HELP {name} {one.help}", f"# TYPE {name} gauge"])
        labels = ",".join(f'{label}="{word}"' for label, word in one.labels)
        lines.append(f"{name}{{{labels}}} {one.value:.15g}" if labels else f"{name} {one.value:.15g}")
    return "\n".join(line for lines in blocks.values() for line in lines) + "\n"
