"""Saved views of the reports: the filters of an address under a name of the person's own. Called by: views."""

from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect
from django.urls import reverse

from crawlpoints import saved_views
from crawlpoints.point_checks import Invalid

_LONGEST = 4000


def kept_of(request: HttpRequest, name: str) -> dict[str, Any]:
    """What the page of a report shows of them."""
    query = plain_query(request)
    views = [(one, one.query == query) for one in saved_views.views_of(request.user, name)]
    return {"own_views": views, "query": query}


def plain_query(request: HttpRequest) -> str:
    """The filter in the address, without the place in the list."""
    query = request.GET.copy()
    for one in saved_views.NOT_KEPT:
        query.pop(one, None)
    return query.urlencode()


def save(request: HttpRequest, name: str) -> HttpResponse:
    query = request.POST.get("query", "")[:_LONGEST]
    try:
        view = saved_views.keep(request.user, request.POST.get("name", ""), query, name)
    except Invalid as wrong:
        messages.error(request, f"{wrong}.")
        return redirect(f"{reverse('report', args=[name])}?{query}")
    messages.success(request, f"Saved the view {view.name}.")
    return redirect(f"{reverse('report', args=[name])}?{view.query}")


def forget(request: HttpRequest, name: str) -> HttpResponse:
    text = request.POST.get("view", "")
    known = text.isascii() and text.isdigit() and len(text) < 10
    if known and (view := saved_views.forget(request.user, int(text))):
        messages.success(request, f"Deleted the view {view.name}.")
    return redirect("report", name)
