"""With which password a sign-in is tested, and how often: a saved one goes only by the settings it was saved with."""

from django.core.cache import cache
from django.views.decorators.debug import sensitive_variables

from clearinghouse.library.models import Document
from crawlpoints.models import CrawlPoint

from ..errors import TooManyAtOnce
from ..values import PointSettings
from .drafts import saved_points
from .sign_in import SignInTest, try_sign_in

UNSAVED = "Enter the password, or save first: the saved one is sent only by the settings it was saved with"
TOO_MANY = "Too many tries. The site could lock the account: wait five minutes"
_TRIES, _SECONDS = 10, 300  # of one document
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
    """Counted, so that nobody guesses passwords through us (threat T9)."""
    key = f"sign-in-tests:{document.pk}"
    cache.add(key, 0, _SECONDS)
    try:
        return cache.incr(key) <= _TRIES
    except ValueError:  # its time ran out between the two lines
        return True
