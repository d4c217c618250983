"""Owns: what the audit says of signing in: who did, who failed, which limit was reached. Bounded under attack.

The name tried is written only where somebody has it: people type passwords into the field of the name. At most
MOST_AN_HOUR failures are written; the last of them says that more follow. Does not: count for the limits.
Called by: sign_in, own_password.
"""

import unicodedata
from datetime import timedelta
from typing import Any

from django.contrib.auth import get_user_model

from clearinghouse.audit import services as audit

from . import recent_events
from .sign_in_limits import OF_ADDRESS, OF_NAME, OF_NAME_HERE, AttemptCounts

MOST_AN_HOUR = 100
_HOUR = timedelta(hours=1)
_LISTED = recent_events.key_of("failed sign-ins in the audit")
SIGNED_IN, FAILED, LIMIT = "sign-in", "sign-in failed", "sign-in limit"


def signed_in(user: Any, address: str, browser: str) -> None:
    audit.record(SIGNED_IN, user, f"{user.get_username()} signed in from {address} with {browser}")


def failed(name: str, address: str, state: AttemptCounts) -> None:
    """One wrong password, and the limit it reached."""
    user = _owner(name)
    who = user.get_username() if user else "a name that nobody has"
    _write(FAILED, user, f"Failed sign-in as {who} from {address}")
    if state.here.number == OF_NAME_HERE:
        _write(LIMIT, user, f"Five wrong passwords for {who} from {address}: refused there for 15 minutes")
    if state.address.number == OF_ADDRESS:
        _write(LIMIT, None, f"{OF_ADDRESS} failed sign-ins from {address}: refused there for 15 minutes")
    if state.name.number == OF_NAME:
        _write(LIMIT, user, f"{OF_NAME} wrong passwords for {who}: one try from each new address for a while")


def wrong_own_password(user: Any, address: str, number: int) -> None:
    """Somebody who is signed in typed another password than their own."""
    _write(FAILED, user, f"Wrong password of {user.get_username()} typed in their session, from {address}: {number}")


def _owner(name: str) -> Any:
    users = get_user_model()
    typed = unicodedata.normalize("NFKC", name).strip()
    return users.objects.filter(username__iexact=typed).first()


def _write(action: str, user: Any, sentence: str) -> None:
    listed = recent_events.number_of(_LISTED)
    if listed >= MOST_AN_HOUR:
        return
    recent_events.note([_LISTED], _HOUR)
    audit.record(action, user or get_user_model()(), sentence)
    if listed + 1 == MOST_AN_HOUR:
        audit.record(action, get_user_model()(), f"{MOST_AN_HOUR} failures within an hour: further ones are not listed")
