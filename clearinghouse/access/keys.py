"""Owns: personal API keys: made, recognized, revoked. Does not: decide what their owner may do (policies).

Called by: the middleware of the API, the page on which people manage their keys.
"""

import hashlib
import secrets
from datetime import timedelta
from typing import Any

from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from clearinghouse.audit import services as audit
from clearinghouse.full_disk import left_out_when_full

from .models import ApiKey

PREFIX = "chk_"
SCHEME = "bearer "
MOST = 10  # live keys of one person
_SHOWN = 8
_NOTED_EVERY = timedelta(minutes=1)


class TooMany(Exception):
    """This person has as many live keys as a person may have."""


@transaction.atomic
@sensitive_variables("text")
def create(user: Any, name: str) -> tuple[ApiKey, str]:
    """The key and its text, which is shown once and kept nowhere."""
    if live_keys(user).count() >= MOST:
        raise TooMany(f"You have {MOST} keys. Revoke one first.")
    text = PREFIX + secrets.token_urlsafe(32)
    key = ApiKey.objects.create(user=user, name=name, beginning=text[:_SHOWN], digest=_digest(text))
    audit.record("add", key, f"Made the API key {key} of {user.get_username()}")
    return key, text


@transaction.atomic
def revoke(user: Any, key_id: int) -> ApiKey | None:
    """The key, which no longer opens anything; None when this person has no such key."""
    key = live_keys(user).filter(pk=key_id).first()
    if key is not None:
        key.revoked_at = timezone.now()
        key.save(update_fields=["revoked_at"])
        audit.record("revoke", key, f"Revoked the API key {key} of {user.get_username()}")
    return key


@sensitive_variables("header")
def user_of(header: str) -> Any | None:
    """Whose key stands in this Authorization header; None for unknown and revoked keys and inactive people."""
    if not header.lower().startswith(SCHEME):
        return None
    digest = _digest(header[len(SCHEME) :].strip())
    key = ApiKey.objects.select_related("user__person").filter(digest=digest, revoked_at__isnull=True).first()
    if key is None or not key.user.is_active:
        return None
    now = timezone.now()
    if key.last_used_at is None or now - key.last_used_at > _NOTED_EVERY:
        with left_out_when_full("the last use of an API key"):
            ApiKey.objects.filter(pk=key.pk).update(last_used_at=now)
    return key.user


def live_keys(user: Any) -> Any:
    return ApiKey.objects.filter(user=user, revoked_at__isnull=True)


def _digest(text: str) -> str:
    return hashlib.sha256(text.encode("utf-8", "surrogatepass")).hexdigest()
