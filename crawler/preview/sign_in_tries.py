"""With which password a sign-in is tested, and how often: a saved one goes only by the settings it was saved with."""

from datetime import timedelta

from django.views.decorators.debug import sensitive_variables

from clearinghouse.accounts.sign_in import recent_events
from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint

from ..errors import TooManyAtOnce
from ..values import PointSettings
from .drafts import saved_points
from .sign_in_test import SignInTest, try_sign_in

UNSAVED = "Enter the password, or save first: the saved one is sent only by the settings it was saved with"
TOO_MANY = "Too many tries. The site could lock the account: wait five minutes"
_TRIES, _WITHIN = 10, timedelta(minutes=5)  # of one document
_BOUND = ("url", "root", "auth_type", "login", "sign_in_url", "sign_in_user_field", "sign_in_password_field")


@sensitive_variables("password")
def tried_with(document: Document, point: CrawlPoint | None, draft: PointSettings, password: str) -> SignInTest:
    """With the password typed just now; without one, the saved one by the saved settings."""
    if not password:
        saved = saved_points(document).get(draft.id) if point else None
        if saved is None or any(getattr(saved, name) != getattr(draft, name) for name in _BOUND):
            return SignInTest(UNSAVED)
        draft = saved
    if not _may_try(document):
        return SignInTest(TOO_MANY)
    try:
        return try_sign_in(draft, password)
    except TooManyAtOnce as refusal:
        return SignInTest(str(refusal), retry_after=refusal.seconds)


def _may_try(document: Document) -> bool:
    """Counted for all web processes together, so that nobody guesses passwords through us (threat T9)."""
    key = recent_events.key_of("sign-in to a site", document.pk)
    if recent_events.number_of(key) >= _TRIES:
        return False
    recent_events.note([key], _WITHIN)
    return recent_events.number_of(key) <= _TRIES
