"""Owns: the cached copy of a published page, shown where it can harm nobody. Called by: the views."""

from django.http import HttpRequest, HttpResponse
from django.urls import reverse

from clearinghouse.published import stored_copies
from clearinghouse.published.models import PublishedVersion

from .search_params import chosen


def copy_of(request: HttpRequest, row: PublishedVersion) -> HttpResponse:
    """Its banner leads back to the search its address carries, which is read like that of a page of results."""
    query = chosen(request.GET).here if request.GET else ""
    ways = [("Record of this page", reverse("search-result", args=[row.pk]) + query)]
    if query:
        ways.insert(0, ("Back to the results", reverse("search") + query))
    back = [(text, request.build_absolute_uri(path)) for text, path in ways]
    return stored_copies.answer(row.pk, row.type_id, bytes(row.body or b""), row.url, row.crawled_at, back)
