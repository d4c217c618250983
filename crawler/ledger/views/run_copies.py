"""The stored copy of a page of a run, shown where it can harm nobody."""

from django.http import HttpRequest, HttpResponse

from clearinghouse.published import stored_copies
from crawler.models import PageVersion


def copy_of(request: HttpRequest, version: PageVersion, body: bytes, page: str) -> HttpResponse:
    """`page` is the path of our page about it."""
    back = [("Back to this page of the run", request.build_absolute_uri(page))]
    response = stored_copies.answer(version.pk, version.type_id, body, version.url, version.found_at, back)
    response.headers["Cache-Control"] = "private, no-store"
    return response
