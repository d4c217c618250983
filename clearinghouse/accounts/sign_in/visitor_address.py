"""Owns: where somebody asks from, and where a person may be sent after signing in. Does not: show pages.

Called by: the sign-in, the middleware, the throttles.
"""

import unicodedata

from django.http import HttpRequest
from django.utils.http import url_has_allowed_host_and_scheme

from clearinghouse.web import proxies


def address_of(request: HttpRequest) -> str:
    """The caller's network address; behind our own proxy, what the proxy saw (the last entry)."""
    if proxies.trusted(str(request.META.get("REMOTE_ADDR", ""))):
        forwarded = request.headers.get("X-Forwarded-For", "").split(",")[-1].strip()
        if forwarded:
            return forwarded
    return str(request.META.get("REMOTE_ADDR", ""))


def safe_next(target: str, default: str = "") -> str:
    """The target if it is a path on this site, however it is disguised; else the default."""
    if not target.startswith("/") or any(unicodedata.category(letter)[0] == "C" for letter in target):
        return default
    return target if url_has_allowed_host_and_scheme(target, allowed_hosts=None) else default
