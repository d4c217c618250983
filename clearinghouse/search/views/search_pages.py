"""Public search: the results page, the record of a page, the cached copy, the description for browsers.

No sign-in, no script needed, never the doc_library of content development unless it serves the public by choice.
"""

from typing import Any
from urllib.parse import unquote, urlsplit

from django.core.paginator import Paginator
from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.views.decorators.http import require_safe

from clearinghouse import env
from clearinghouse.accounts.policies import role_of
from clearinghouse.published.models import PublishedDocument, PublishedMeta, PublishedVersion
from clearinghouse.search.engine import Hit, Results
from clearinghouse.search.small_words import known as small_words
from clearinghouse.search.words import words_of

from .. import engine, public_search, public_target
from ..public_search import PublicResults
from ..ranking.snippets import Marker, excerpt, marked, without_permalinks
from .cached_copy import copy_of
from .search_params import LAST_PAGE, PER_PAGE, SORTS, SearchParams, chips, chosen, facets, language, type_tag
from .visitor_limits import asked_to_wait, count_search

_UNAVAILABLE = 503
_MOST_LEFT_OUT = 12  # words of a query that are offered to be left out


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    if wait := asked_to_wait(request):
        return wait
    asked = chosen(request.GET)
    context: dict[str, Any] = {"asked": asked, "sorts": SORTS, "status": 200}
    offset = (asked.page - 1) * PER_PAGE
    try:
        found = public_search.answer(asked.text, asked.narrow, limit=PER_PAGE, offset=offset)
    except DatabaseError:
        context |= {"unavailable": True, "status": _UNAVAILABLE}
        return render(request, "search/search.html", context, status=_UNAVAILABLE)
    if found.typed or asked.narrow:
        if asked.page == 1:
            count_search(request, asked.text, found.as_asked)
        context |= _shown(asked, found.results) | _helped(asked, found) | {"staff": role_of(request.user) is not None}
    elif asked.text:
        context["unread"] = {"notes": found.typed.notes}
    return render(request, "search/search.html", context)


def _shown(asked: SearchParams, results: Results) -> dict[str, Any]:
    pages = Paginator(range(min(results.entries, LAST_PAGE * PER_PAGE)), PER_PAGE)
    marker = Marker(results.query.words)
    return {
        "results": results,
        "hits": [_hit(hit, marker, asked) for hit in results.hits],
        "facets": facets(asked, results),
        "chips": chips(asked, results),
        "page": pages.get_page(asked.page),
        "start": (asked.page - 1) * PER_PAGE + 1,
        "without": _without_a_word(asked, results),
    }


def _helped(asked: SearchParams, found: PublicResults) -> dict[str, Any]:
    """What people taught the search, and ways on where it found little."""
    marker = Marker(found.results.query.words)
    return {
        "answer": found,
        "best": [_hit(hit, marker, asked) for hit in found.best],
        "without_a_filter": [] if found.results.total else without_a_filter(asked),
        "meant": asked.href(q=found.second.meant) if found.second.meant else "",
        "contact": contact(),
    }


def _hit(hit: Hit, marker: Marker, asked: SearchParams) -> dict[str, Any]:
    return {
        "similar": asked.href(similar=hit.published_id) if hit.similar else "",
        "more": asked.href(folder=hit.folder) if hit.more_from_folder else "",
        "hit": hit,
        "title": marked(hit.title, marker),
        "path": path_of(hit.url),
        "tag": type_tag(hit.type_id),
        "href": web_address(hit.url),
    }


def _without_a_word(asked: SearchParams, results: Results) -> list[tuple[str, str]]:
    """For a search that found nothing: the same search without each of its words."""
    if results.total or len(results.query.required) < 2:
        return []
    words = asked.text.split()
    if len(words) > _MOST_LEFT_OUT or '"' in asked.text or "OR" in words:
        return []
    telling = [word for word in dict.fromkeys(words) if not small_words().issuperset(words_of(word))]
    return [(word, asked.href(q=" ".join(w for w in words if w != word))) for word in telling]


def without_a_filter(asked: SearchParams) -> list[tuple[str, str]]:
    """For a search that found nothing: what it is narrowed to, and the same search without that."""
    named = [("project", "Search all projects"), ("document", "Search all documents"), ("type", "Search all types"),
             ("site", "Search all sites"), ("crawled", "Search pages of any age"),
             ("language", "Search all languages")]  # fmt: skip
    return [(label, asked.without(name)) for name, label in named if asked.facets[name]]


def contact() -> tuple[str, str]:
    """Address and text of the link to who can be asked; empty when the setting is."""
    text = env.text("SEARCH_CONTACT")
    if text.startswith(("http://", "https://")):
        return text, "Ask the people of this library"
    return (f"mailto:{text}", text) if "@" in text else ("", "")


def path_of(url: str) -> list[str]:
    """The address as a path of names: site, folders, file."""
    parts = urlsplit(url)
    names = [unquote(name) for name in parts.path.split("/") if name]
    return [parts.netloc, *names] + ([f"?{parts.query}"] if parts.query else [])


def web_address(url: str) -> str:
    """The address for a link; empty unless http or https."""
    return url if url.startswith(("http://", "https://")) else ""


@require_safe
def result(request: HttpRequest, published_id: int) -> HttpResponse:
    """The record of one published page."""
    row, generation, alias = _page_or_404(published_id)
    names = PublishedDocument.objects.using(alias).filter(
        doc_id=row.doc_id, gen_from__lte=generation, gen_to__gt=generation
    )
    marker = Marker(())
    context = {
        "row": row,
        "back": chosen(request.GET).here if request.GET else "",
        "document": names.first(),
        "tag": type_tag(row.type_id),
        "href": web_address(row.url),
        "path": path_of(row.url),
        "language": language(row.language),
        "headings": without_permalinks(row.headings).splitlines()[:20],
        "metas": PublishedMeta.objects.using(alias).filter(published_id=row.id).order_by("id")[:50],
        "excerpt": excerpt(row.text, marker, 700),
    }
    return render(request, "search/result.html", context)


@require_safe
def cached(request: HttpRequest, published_id: int) -> HttpResponse:
    """The copy that was stored, in a sandbox."""
    row, _, _ = _page_or_404(published_id)
    if row.body is None:
        raise Http404("No copy of this page is kept")
    return copy_of(request, row)


def _page_or_404(published_id: int) -> tuple[PublishedVersion, int, str]:
    alias = public_target.public_alias()
    generation = public_target.live_generation(alias)
    row = engine.page(alias, generation, published_id) if generation else None
    if row is None:
        raise Http404("This page is not in the public index")
    return row, generation, alias


@require_safe
def opensearch(request: HttpRequest) -> HttpResponse:
    """Lets a browser offer this search in its address field."""
    response = render(request, "search/opensearch.xml", content_type="application/opensearchdescription+xml")
    response.headers["X-Content-Type-Options"] = "nosniff"
    return response
