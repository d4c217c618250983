"""Owns: the page on which people see where they are signed in, and end that elsewhere; sessions that are over.

Does not: say how long a session lasts (sessions). Called by: urls, the sign-in.
"""

import hashlib
from typing import Any, NamedTuple

from django.contrib import messages
from django.contrib.auth import logout
from django.db import transaction
from django.http import Http404, HttpRequest, HttpResponse
from django.shortcuts import redirect, render
from django.utils import timezone
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.audit import services as audit
from clearinghouse.web.templatetags.formats import plural

from ..models import BrowserSession


class Listed(NamedTuple):
    name: str  # for its address: the key of a session stands on no page
    row: BrowserSession
    is_this: bool


def forget_ended() -> None:
    BrowserSession.objects.filter(expire_date__lt=timezone.now()).delete()


@require_safe
def listed(request: HttpRequest) -> HttpResponse:
    here = request.session.session_key
    found = [Listed(_name(row), row, row.pk == here) for row in _of(request.user)]
    found.sort(key=lambda one: not one.is_this)
    return render(request, "accounts/sessions.html", {"sessions": found, "others": len(found) > 1})


@require_POST
def end(request: HttpRequest, session: str) -> HttpResponse:
    row = next((row for row in _of(request.user) if _name(row) == session), None)
    if row is None:
        raise Http404("No such session")
    is_this = row.pk == request.session.session_key
    _end(request.user, [row])
    if is_this:
        logout(request)
        return redirect("sign-in")
    messages.success(request, f"Ended the session in {row.browser or 'another browser'}.")
    return redirect("own-sessions")


@require_POST
def end_others(request: HttpRequest) -> HttpResponse:
    others = [row for row in _of(request.user) if row.pk != request.session.session_key]
    _end(request.user, others)
    messages.success(request, f"Ended {plural(len(others), 'other session')}." if others else "No other session.")
    return redirect("own-sessions")


def _of(user: Any) -> list[BrowserSession]:
    """Those of today's password: after another one the rows of before open nothing."""
    return list(BrowserSession.objects.filter(user=user.pk, expire_date__gt=timezone.now()).order_by("-seen_at"))


@transaction.atomic
def _end(user: Any, rows: list[BrowserSession]) -> None:
    for row in rows:
        row.delete()
        where = f"{row.browser} from {row.address}" if row.browser else "another browser"
        audit.record("sign-out", user, f"{user.get_username()} ended their session in {where}")


def _name(row: BrowserSession) -> str:
    return hashlib.sha256(f"session {row.pk}".encode()).hexdigest()[:32]
