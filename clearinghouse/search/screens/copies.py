"""Owns: the cached copy of a published page, shown where it can harm nobody. Called by: the views."""

from django.http import HttpResponse

from clearinghouse.published import copies
from clearinghouse.published.models import PublishedVersion


def copy_of(row: PublishedVersion) -> HttpResponse:
    return copies.answer(row.pk, row.type_id, bytes(row.body or b""), row.url, row.crawled_at)
