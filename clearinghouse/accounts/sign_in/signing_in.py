"""Owns: signing in: the limits first, then the password, then a session that knows where and when it began.

Does not: count (sign_in_limits), read sessions (sessions), show pages. Called by: the sign-in view.
"""

from typing import Any

from django.contrib.auth import authenticate, login
from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from clearinghouse.database.records import acting_as

from . import own_sessions, password_hashing, sessions, sign_in_audit, sign_in_limits
from .browser_names import in_words
from .visitor_address import address_of

BROWSER_COOKIE = "browser"


@sensitive_variables("password")
def try_sign_in(request: HttpRequest, name: str, password: str) -> Any | None:
    """The user, or None for wrong password, unknown or inactive account, all in similar time.

    Raises TooManyTries, before any password is computed, and password_hashing.TooBusy.
    """
    address = address_of(request)
    counted = sign_in_limits.counted(name, address, _browser(request))
    sign_in_limits.state(counted).refuse()  # reads only: who is refused costs no more than this
    with password_hashing.turn():
        moment = sign_in_limits.note(counted)
        state = sign_in_limits.state(counted)
        try:
            state.refuse(noted=1)
        except sign_in_limits.TooManyTries:
            sign_in_limits.take_back(counted, moment)
            raise
        user = authenticate(request, username=name, password=password)
    if user is None:
        sign_in_audit.failed(name, address, state)
        return None
    sign_in_limits.signed_in(counted)
    return user


def begin(request: HttpRequest, user: Any, stay: bool) -> str:
    """A new session with a new key and a new CSRF token; the text of the cookie by which this browser is known."""
    own_sessions.forget_ended()
    login(request, user)
    address, browser = address_of(request)[:64], in_words(request.headers.get("User-Agent", ""))
    sessions.describe(request.session, stay, address, browser)
    with acting_as(user.get_username()):
        sign_in_audit.signed_in(user, address, browser)
    return sign_in_limits.remember_place(user.get_username(), address, _browser(request))


def _browser(request: HttpRequest) -> str:
    return request.COOKIES.get(BROWSER_COOKIE, "")[:64]
