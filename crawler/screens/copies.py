"""The stored copy of a page of a run, shown where it can harm nobody."""

from django.http import HttpResponse

from clearinghouse.published import copies

from ..models import PageVersion


def copy_of(version: PageVersion, body: bytes) -> HttpResponse:
    response = copies.answer(version.pk, version.type_id, body, version.url, version.found_at)
    response.headers["Cache-Control"] = "private, no-store"
    return response
