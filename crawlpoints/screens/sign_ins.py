"""Detect and Test sign-in in the dialog: both look at the site now, within seconds, and save nothing."""

from typing import Any

from django.core.cache import cache
from django.http import QueryDict
from django.views.decorators.debug import sensitive_variables

from clearinghouse.library.models import Document
from crawler.preview.detect import detect
from crawler.preview.sign_in import SignInTest, try_sign_in

from ..models import CrawlPoint
from .tester import draft_of, saved_points

UNSAVED = "Enter the password, or save first: the saved one is sent only by the settings it was saved with"
TOO_MANY = "Too many tries. The site could lock the account: wait five minutes"
_TRIES, _SECONDS = 10, 300  # of one document
_BOUND = ("url", "root", "auth_type", "login", "sign_in_url", "sign_in_user_field", "sign_in_password_field")


def fill_in(data: QueryDict) -> str:
    """The names of the form's fields, read from the sign-in page; or why not, for the person."""
    found = detect(str(data.get("sign_in_url") or data.get("url") or "").strip())
    if not found.problem:
        data["sign_in_url"] = found.url
        data["sign_in_user_field"], data["sign_in_password_field"] = found.user_field, found.password_field
    return found.problem


@sensitive_variables("entries", "password")
def tried(document: Document, point: CrawlPoint | None, entries: dict[str, Any], _: str) -> dict[str, Any]:
    draft = draft_of(point, entries)
    password = str(entries.get("password") or "")
    if not password:
        saved = saved_points(document).get(draft.id) if point else None
        if saved is None or any(getattr(saved, name) != getattr(draft, name) for name in _BOUND):
            return {"tried": SignInTest(UNSAVED)}
        draft = saved
    if not _may_try(document):
        return {"tried": SignInTest(TOO_MANY)}
    return {"tried": try_sign_in(draft, password)}


def _may_try(document: Document) -> bool:
    """Counted, so that nobody guesses passwords through us (threat T9)."""
    key = f"sign-in-tests:{document.pk}"
    cache.add(key, 0, _SECONDS)
    try:
        return cache.incr(key) <= _TRIES
    except ValueError:  # its time ran out between the two lines
        return True
