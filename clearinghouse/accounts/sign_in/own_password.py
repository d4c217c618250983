"""Owns: whether somebody who is signed in types their own password, asked before what a stolen session must not do.

Five wrong ones in 15 minutes, then none is looked at for a while. Does not: change passwords (services).
Called by: the forms for a new password and for an API key.
"""

from typing import Any

from django.http import HttpRequest
from django.views.decorators.debug import sensitive_variables

from . import password_hashing, recent_events, sign_in_audit
from .sign_in_limits import WINDOW, TooManyTries
from .visitor_address import address_of

MOST = 5


@sensitive_variables("password")
def is_typed(request: HttpRequest, password: str) -> bool:
    """Raises TooManyTries, before any password is computed, and password_hashing.TooBusy."""
    user: Any = request.user
    key = recent_events.key_of("own password", user.pk)
    _refuse(key, MOST)
    with password_hashing.turn():
        moment = recent_events.note([key], WINDOW)
        try:
            number = _refuse(key, MOST + 1)
        except TooManyTries:
            recent_events.take_back([key], moment)
            raise
        right = user.check_password(password)
    if right:
        recent_events.forget(key)
    else:
        sign_in_audit.wrong_own_password(user, address_of(request), number)
    return bool(right)


def _refuse(key: str, most: int) -> int:
    tally = recent_events.tallies([key])[key]
    if tally.number >= most:
        raise TooManyTries("Too many wrong passwords", tally.wait())
    return tally.number
