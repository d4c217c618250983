"""Owns: the page on which people manage their own API keys. Does not: make keys (keys.py). Called by: urls."""

from typing import Any

from django.contrib import messages
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_POST, require_safe

from ..forms import KeyForm, problems_of
from . import api_keys


@require_safe
def listed(request: HttpRequest) -> HttpResponse:
    return _page(request, KeyForm(request))


@sensitive_post_parameters("password")
@require_POST
def new(request: HttpRequest) -> HttpResponse:
    form = KeyForm(request, request.POST)
    if form.is_valid():
        try:
            key, text = api_keys.create(request.user, form.cleaned_data["name"], form.cleaned_data["days"])
        except api_keys.TooMany as refusal:
            form.add_error("name", str(refusal))
        else:
            # In the answer itself: a redirect would have to keep it somewhere.
            return render(request, "accounts/key_once.html", {"key": key, "text": text})
    return _page(request, form, 422)


@require_POST
def revoke(request: HttpRequest, key_id: int) -> HttpResponse:
    key = api_keys.revoke(request.user, key_id)
    if key is None:
        raise Http404("No such key")
    messages.success(request, f"Revoked the key {key}. Programs that use it are refused from now on.")
    return redirect("api-keys")


def _page(request: HttpRequest, form: Any, status: int = 200) -> HttpResponse:
    context = {
        "form": form,
        "problems": problems_of(form) if form.is_bound else [],
        "keys": api_keys.listed_keys().filter(user=request.user),
        "now": timezone.now(),
        "most": api_keys.MOST,
    }
    return render(request, "accounts/keys.html", context, status=status)
