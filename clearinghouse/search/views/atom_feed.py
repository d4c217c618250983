"""Owns: a search as an Atom feed: its newest pages, for who wants to be told. Permanent, like every search."""

from datetime import datetime
from xml.sax.saxutils import escape

from django.db import DatabaseError
from django.http import HttpRequest, HttpResponse
from django.urls import reverse
from django.utils import timezone
from django.utils.feedgenerator import Atom1Feed
from django.views.decorators.http import require_safe

from clearinghouse.search.engine import Hit

from .. import public_search
from .search_params import SearchParams, chosen
from .visitor_limits import asked_to_wait

ENTRIES = 30
_UNAVAILABLE = 503


@require_safe
def feed(request: HttpRequest) -> HttpResponse:
    if wait := asked_to_wait(request):
        return wait
    asked = chosen(request.GET)
    try:
        found = public_search.answer(asked.text, asked.newest_first.narrow, limit=ENTRIES)
    except DatabaseError:
        return HttpResponse("The search does not answer at the moment.", status=_UNAVAILABLE, content_type="text/plain")
    # Only what was asked for: a feed does not bring pages of another query in the meantime.
    hits = [hit for hit in found.results.hits if found.as_asked and not hit.missing]
    answer = HttpResponse(_atom(request, asked, hits, found.results.indexed_at), content_type=Atom1Feed.content_type)
    answer.headers["X-Robots-Tag"] = "noindex"
    return answer


def _atom(request: HttpRequest, asked: SearchParams, hits: list[Hit], at: datetime | None) -> str:
    page = request.build_absolute_uri(reverse("search") + asked.href())
    made = _Feed(
        title=f"{_plain(asked.text)[:200] or 'All pages'} - Search - Clearinghouse",
        link=page,
        description="The newest pages this search finds",
        feed_url=request.build_absolute_uri(),
        feed_guid=page,
        updated=at or datetime(1970, 1, 1, tzinfo=timezone.get_default_timezone()),
    )
    for hit in hits:
        made.add_item(
            title=_plain(hit.title),
            link=hit.url,
            description=escape(_plain(hit.snippet)),  # readers take it for HTML
            unique_id=request.build_absolute_uri(reverse("search-result", args=[hit.published_id])),
            pubdate=hit.crawled_at,
            updateddate=hit.crawled_at,
        )
    return str(made.writeString("utf-8"))


class _Feed(Atom1Feed):
    """Atom says when the index was changed last, also when there is no entry."""

    def latest_post_date(self) -> datetime:
        at: datetime = self.feed["updated"]
        return at


def _plain(text: str) -> str:
    """Without what XML cannot hold."""
    return "".join(letter for letter in text if letter.isprintable())
