"""Owns: the page on which administrators see everybody's API keys and revoke them; never the key itself.

Does not: make or end keys (keys). Called by: urls.
"""

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from ..policies import Action, require
from ..views import page_size
from . import api_keys

_ROWS = 50


@require_safe
def listed(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    rows = api_keys.listed_keys().order_by("expires_at", "pk")
    page = Paginator(rows, page_size(request, _ROWS)).get_page(request.GET.get("page"))
    return render(request, "accounts/people_keys.html", {"page": page, "now": timezone.now()})


@require_POST
def revoke(request: HttpRequest, key_id: int) -> HttpResponse:
    require(request.user, Action.ADMINISTER)
    key = api_keys.revoke_of_anybody(key_id)
    if key is None:
        raise Http404("No such key")
    who = key.user.get_username()
    messages.success(request, f"Revoked the key {key.name} of {who}. Programs that use it are refused from now on.")
    return redirect("people-keys")
