"""All saved views of a person: opened, renamed, deleted; each list keeps its own where it is."""

from django.contrib import messages
from django.http import HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.urls import reverse
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts.policies import Action, require

from .. import saved_views
from ..models import SavedView
from ..point_checks import Invalid


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
    text = request.POST.get("view", "")
    number = int(text) if text.isascii() and text.isdigit() and len(text) < 10 else 0
    try:
        if request.POST.get("do") == "delete":
            if view := saved_views.forget(request.user, number):
                messages.success(request, f"Deleted the view {view.name}.")
        elif view := saved_views.rename(request.user, number, request.POST.get("name", "")):
            messages.success(request, f"The view is called {view.name} now.")
    except Invalid as wrong:
        messages.error(request, f"{wrong}.")
    return redirect("me-views")


def _label(screen: str) -> str:
    return screen.replace("-", " ").capitalize()


def _address(screen: str) -> str:
    return reverse("documents") if screen == saved_views.DOCUMENTS else reverse("report", args=[screen])
