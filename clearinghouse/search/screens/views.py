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

from clearinghouse.published.models import PublishedDocument, PublishedMeta, PublishedVersion
from clearinghouse.search import engine, serving
from clearinghouse.search.engine import Hit, Results
from clearinghouse.search.snippets import Marker, excerpt, marked

from .chosen import LAST_PAGE, PER_PAGE, SORTS, Chosen, chips, chosen, facets, type_tag
from .copies import copy_of

_UNAVAILABLE = 503


@require_safe
def search(request: HttpRequest) -> HttpResponse:
    asked = chosen(request.GET)
    context: dict[str, Any] = {"asked": asked, "sorts": SORTS, "status": 200}
    try:
        alias = serving.public_alias()
        offset = (asked.page - 1) * PER_PAGE
        results = engine.search(asked.text, alias=alias, limit=PER_PAGE, offset=offset, filters=asked.narrow)
    except DatabaseError:
        context |= {"unavailable": True, "status": _UNAVAILABLE}
        return render(request, "search/search.html", context, status=_UNAVAILABLE)
    if results.query or asked.narrow:
        context |= _shown(asked, results)
    return render(request, "search/search.html", context)


def _shown(asked: Chosen, results: Results) -> dict[str, Any]:
    pages = Paginator(range(min(results.total, LAST_PAGE * PER_PAGE)), PER_PAGE)
    marker = Marker(results.query.words)
    return {
        "results": results,
        "hits": [_hit(hit, marker) for hit in results.hits],
        "facets": facets(asked, results),
        "chips": chips(asked, results),
        "page": pages.get_page(asked.page),
        "start": (asked.page - 1) * PER_PAGE + 1,
        "without": _without_a_word(asked, results),
    }


def _hit(hit: Hit, marker: Marker) -> dict[str, Any]:
    return {
        "hit": hit,
        "title": marked(hit.title, marker),
        "path": path_of(hit.url),
        "tag": type_tag(hit.type_id),
        "href": web_address(hit.url),
    }


def _without_a_word(asked: Chosen, results: Results) -> list[tuple[str, str]]:
    """For a search that found nothing: the same search without each of its words."""
    if results.total or len(results.query.groups) < 2:
        return []
    words = results.query.shown.split(" ")
    if len(words) != len(results.query.groups):
        return []
    return [(word, asked.href(q=" ".join(w for w in words if w != word))) for word in words]


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
        "document": names.first(),
        "tag": type_tag(row.type_id),
        "href": web_address(row.url),
        "path": path_of(row.url),
        "headings": row.headings.splitlines()[:20],
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
    return copy_of(row)


def _page_or_404(published_id: int) -> tuple[PublishedVersion, int, str]:
    alias = serving.public_alias()
    generation = serving.live_generation(alias)
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
