"""Detect and Test sign-in in the dialog: both look at the site now, within seconds, and save nothing."""

from typing import Any

from django.http import QueryDict
from django.views.decorators.debug import sensitive_variables

from clearinghouse.library.models import Document
from crawler.preview.drafts import draft_of
from crawler.preview.form_detection import SignInPage, detect
from crawler.preview.sign_in_tries import tried_with

from ..models import CrawlPoint


def fill_in(data: QueryDict) -> SignInPage:
    """The names of the form's fields, read from the sign-in page; its problem says why not, for the person."""
    found = detect(str(data.get("sign_in_url") or data.get("url") or "").strip())
    if not found.problem:
        data["sign_in_url"] = found.url
        data["sign_in_user_field"], data["sign_in_password_field"] = found.user_field, found.password_field
    return found


@sensitive_variables("entries")
def tried(document: Document, point: CrawlPoint | None, entries: dict[str, Any], _: str) -> dict[str, Any]:
    return {"tried": tried_with(document, point, draft_of(point, entries), str(entries.get("password") or ""))}
