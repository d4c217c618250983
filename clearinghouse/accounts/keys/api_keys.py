"""Owns: personal API keys: made, recognized, ended. Does not: decide what their owner may do (policies).

Every key ends by itself after the days its owner chose, and with a password that somebody else gave, a deactivation
or another role. Called by: the middleware of the API, the pages on which keys are managed, services.
"""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from clearinghouse.audit import services as audit
from clearinghouse.database.aliases import DEFAULT, without_waiting
from clearinghouse.web.plurals import plural

from ..models import ApiKey

PREFIX = "chk_"
SCHEME = "bearer "
MOST = 10  # live keys of one person
DAYS = 180  # unless its owner chooses otherwise
LIVES = (30, 90, 180, 365)
_SHOWN_AFTER = timedelta(days=30)  # a key that ended by itself is listed so long
_SHOWN = 8
_NOTED_EVERY = timedelta(minutes=1)


class TooMany(Exception):
    """This person has as many live keys as a person may have."""


class KeyRefused(Exception):
    """A key that opens nothing; the sentence says why to whoever sent it."""


@transaction.atomic
@sensitive_variables("text")
def create(user: Any, name: str, days: int = DAYS) -> tuple[ApiKey, str]:
    """The key and its text, which is shown once and kept nowhere."""
    if live_keys(user).count() >= MOST:
        raise TooMany(f"You have {MOST} keys. Revoke one first.")
    text = PREFIX + secrets.token_urlsafe(32)
    until = timezone.now() + timedelta(days=days)
    key = ApiKey.objects.create(user=user, name=name, beginning=text[:_SHOWN], digest=_digest(text), expires_at=until)
    audit.record("add", key, f"Made the API key {key} of {user.get_username()} for {plural(days, 'day')}")
    return key, text


@transaction.atomic
def revoke(user: Any, key_id: int) -> ApiKey | None:
    """The key, which no longer opens anything; None when this person has no such key."""
    key = listed_keys().filter(user=user, pk=key_id).first()
    if key is not None:
        _end(key, "Revoked")
    return key


@transaction.atomic
def revoke_of_anybody(key_id: int) -> ApiKey | None:
    """For administrators."""
    key = listed_keys().filter(pk=key_id).first()
    if key is not None:
        _end(key, "Revoked")
    return key


@transaction.atomic
def end_all(user: Any, why: str) -> int:
    """How many keys of this person opened something until now; none does any more."""
    ended = list(ApiKey.objects.filter(user=user, revoked_at__isnull=True))
    for key in ended:
        _end(key, f"{why}: ended")
    return len(ended)


def _end(key: ApiKey, what: str) -> None:
    key.revoked_at = timezone.now()
    key.save(update_fields=["revoked_at"])
    audit.record("revoke", key, f"{what} the API key {key} of {key.user.get_username()}")


@sensitive_variables("header")
def user_of(header: str) -> Any:
    """Whose key stands in this Authorization header. Raises KeyRefused for every key that opens nothing."""
    if not header.lower().startswith(SCHEME):
        raise KeyRefused("This key is not known, or it was revoked.")
    digest = _digest(header[len(SCHEME) :].strip())
    key = ApiKey.objects.select_related("user__person").filter(digest=digest, revoked_at__isnull=True).first()
    if key is None or not key.user.is_active:
        raise KeyRefused("This key is not known, or it was revoked.")
    now = timezone.now()
    if key.expires_at is None or key.expires_at <= now:
        raise KeyRefused("This key has ended: make a new one on the page My keys.")
    if key.last_used_at is None or now - key.last_used_at > _NOTED_EVERY:
        with without_waiting(DEFAULT):
            ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key.user


def must_change_password(user: Any) -> bool:
    """Whether somebody else knows the password of this person, who has not chosen another one yet."""
    person = getattr(user, "person", None)
    return bool(person and person.must_change_password)


def live_keys(user: Any) -> Any:
    return ApiKey.objects.filter(user=user, revoked_at__isnull=True, expires_at__gt=timezone.now())


def listed_keys() -> Any:
    """What opens something, and what ended by itself lately, so that a program that stopped finds the reason."""
    lately = timezone.now() - _SHOWN_AFTER
    return ApiKey.objects.filter(revoked_at__isnull=True, expires_at__gt=lately).select_related("user__person")


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
