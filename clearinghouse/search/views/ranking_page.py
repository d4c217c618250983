"""Owns: the page Explain this ranking, for everybody who works here. Does not: rank (explained)."""

from typing import Any

from django.db import DatabaseError
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import render
from django.urls import reverse
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, may, require
from clearinghouse.web.base_context import address_named

from ..ranking.explained_ranking import PLACES, Explained, explained
from .search_pages import path_of, web_address
from .search_params import chosen, type_tag

_UNAVAILABLE = 503


@require_safe
def ranking(request: HttpRequest, published_id: int) -> HttpResponse:
    require(request.user, Action.VIEW)
    asked = chosen(request.GET)
    context: dict[str, Any] = {"asked": asked, "back": reverse("search") + asked.here}
    try:
        told = explained(asked.text, asked.narrow, published_id)
    except DatabaseError:
        return render(request, "search/ranking.html", context, status=_UNAVAILABLE)
    if told is None:
        raise Http404("This page is not in the public index")
    context |= {
        "told": told,
        "row": told.row,
        "path": path_of(told.row.url),
        "href": web_address(told.row.url),
        "tag": type_tag(told.row.type_id),
        "places": list(PLACES.values()),
        "verdict": verdict_of(told),
        "bars": [(label, value, f"{_share(value, told):.1f}") for label, value in told.parts],
        "curation": address_named("curation") if may(request.user, Action.CURATE) else "",
    }
    return render(request, "search/ranking.html", context)


def _share(value: float, told: Explained) -> float:
    """Per cent of the longest part."""
    longest = max((part for _, part in told.parts), default=0.0)
    return max(0.0, 100 * value / longest) if longest > 0 else 0.0


def verdict_of(told: Explained) -> str:
    """Where the page stands, in one sentence."""
    total = told.answer.total
    if told.recommended:
        return "It is shown first, because somebody recommended it for this query."
    if told.place is not None:
        return f"It is number {told.place:,} of {total:,}."
    if told.matches:
        return f"It is found, further down than the first {len(told.answer.results.hits):,} of {total:,}."
    return "This query does not find it."
