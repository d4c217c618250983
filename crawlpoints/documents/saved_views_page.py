"""All saved views of a person: opened, renamed, deleted; and how a list saves and deletes its own."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts.policies import Action, require
from clearinghouse.web.listing import number_in, query_without

from .. import saved_views
from ..models import SavedView
from ..point_checks import Invalid

_LONGEST = 4000  # of a filter that is sent; one that can be kept is shorter


@require_http_methods(["GET", "HEAD", "POST"])
def my_views(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW)
    if request.method == "POST":
        return _change(request)
    views = SavedView.objects.filter(person=request.user.pk).order_by("screen", "name")
    rows = [{"view": one, "list": _label(one.screen), "url": f"{_address(one.screen)}?{one.query}"} for one in views]
    return render(request, "documents/saved_views.html", {"rows": rows, "longest": saved_views.NAME_LENGTH})


def _change(request: HttpRequest) -> HttpResponse:
    """Only one's own; a view that is gone already needs no word."""
    if request.POST.get("do") == "delete":
        _delete(request)
        return redirect("me-views")
    try:
        if view := saved_views.rename(request.user, number_in(request.POST, "view"), request.POST.get("name", "")):
            messages.success(request, f"The view is called {view.name} now.")
    except Invalid as wrong:
        messages.error(request, f"{wrong}.")
    return redirect("me-views")


def _delete(request: HttpRequest) -> None:
    if view := saved_views.forget(request.user, number_in(request.POST, "view")):
        messages.success(request, f"Deleted the view {view.name}.")


def delete_view_of(request: HttpRequest, screen: str) -> HttpResponse:
    _delete(request)
    return redirect(_address(screen))


def save_view_of(request: HttpRequest, screen: str) -> HttpResponse:
    """The filter that was sent, under the name that was typed; then the list with this filter."""
    query = request.POST.get("query", "")[:_LONGEST]
    try:
        view = saved_views.keep(request.user, request.POST.get("name", ""), query, screen)
    except Invalid as wrong:
        messages.error(request, f"{wrong}.")
    else:
        messages.success(request, f"Saved the view {view.name}.")
        query = view.query
    return redirect(f"{_address(screen)}?{query}")


def plain_query(request: HttpRequest) -> str:
    """The filter in the address, without the place in the list."""
    return query_without(request.GET, *saved_views.NOT_KEPT)


def _label(screen: str) -> str:
    return screen.replace("-", " ").capitalize()


def _address(screen: str) -> str:
    return reverse("documents") if screen == saved_views.DOCUMENTS else reverse("report", args=[screen])
