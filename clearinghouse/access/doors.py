"""Owns: the rules of signing in: the throttle, where a person may be sent afterwards. Does not: show pages.

Called by: the sign-in view and the middleware.
"""

import hashlib
import unicodedata
from datetime import timedelta
from typing import Any

from django.contrib.auth import authenticate
from django.db.models import Q
from django.http import HttpRequest
from django.utils import timezone
from django.utils.http import url_has_allowed_host_and_scheme
from django.views.decorators.debug import sensitive_variables

from . import proxies
from .households import household
from .models import FailedSignIn

ATTEMPTS = 5
WINDOW = timedelta(minutes=15)
_AHEAD = timedelta(minutes=1)  # by which clocks of several web servers may differ


@sensitive_variables("password")
def try_sign_in(request: HttpRequest, name: str, password: str) -> Any | None:
    """The user, or None for wrong password, unknown or inactive account, or too many attempts, all in similar time."""
    key = _key(name, household(address_of(request)))
    attempt = _note(key)
    throttled = FailedSignIn.objects.filter(key=key).count() > ATTEMPTS
    user = authenticate(request, username=name, password=password)  # also when throttled: equal time
    if throttled:
        attempt.delete()  # a locked door stays locked for the window, not for as long as somebody knocks
        return None
    if user is not None:
        FailedSignIn.objects.filter(key=key).delete()
    return user


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


def _note(key: str) -> FailedSignIn:
    # Counted before the password is looked at, so that a hundred attempts at once are still only five.
    now = timezone.now()
    # What lies in the future was noted before a clock went back, and would keep people out so much longer.
    FailedSignIn.objects.filter(Q(at__lt=now - WINDOW) | Q(at__gt=now + _AHEAD)).delete()
    return FailedSignIn.objects.create(at=now, key=key)


def _key(name: str, address: str) -> str:
    account = unicodedata.normalize("NFKC", name).strip().casefold()
    return hashlib.sha256(f"{account}\n{address}".encode()).hexdigest()
