"""Owns: signing in and out, one's own password and preferences.

Does not: decide who may (policies), change people (people.py). Called by: urls, settings.CSRF_FAILURE_VIEW.
"""

import sys
from typing import Any

from django.conf import settings
from django.contrib import messages
from django.contrib.auth import logout, update_session_auth_hash
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.shortcuts import redirect, render
from django.template.loader import render_to_string
from django.templatetags.static import static
from django.urls import reverse
from django.views.decorators.cache import never_cache
from django.views.decorators.debug import sensitive_post_parameters
from django.views.decorators.http import require_http_methods, require_POST

from ..database import full_disk
from ..operations import logs
from ..web import full_disk_page
from ..web.templatetags.formats import plural
from . import services
from .forms import OwnPasswordForm, PreferencesForm, SignInForm, problems_of
from .keys import api_keys
from .sign_in import sign_in_limits, signing_in
from .sign_in.password_hashing import TooManySignIns
from .sign_in.visitor_address import safe_next

THEME_COOKIE = "theme"
THEMES = ("system", "light", "dark")
KEYS_COOKIE = "keys"
ROWS_COOKIE = "rows"
ROWS = ("20", "50", "100")
_YEAR = 365 * 24 * 3600
_REFUSED_SIGN_IN = (
    f"The user name or the password is wrong. After {sign_in_limits.OF_NAME_HERE} wrong tries with one name you wait "
    "15 minutes."
)


@never_cache
@sensitive_post_parameters("password")
@require_http_methods(["GET", "HEAD", "POST"])
def sign_in(request: HttpRequest) -> HttpResponse:
    target = safe_next(request.POST.get("next", request.GET.get("next", "")))
    if request.user.is_authenticated:
        return HttpResponseRedirect(target or "/")
    form = SignInForm(request.POST or None)
    wait = 0
    if request.method == "POST" and form.is_valid():
        try:
            if browser := _sign_in_with(request, form.cleaned_data):
                return _known_by(browser, HttpResponseRedirect(target or "/"))
            form.add_error(None, _REFUSED_SIGN_IN)
        except (sign_in_limits.TooManyTries, TooManySignIns) as refusal:
            form.add_error(None, str(refusal))
            wait = refusal.seconds
    context = {"form": form, "problems": problems_of(form) if form.is_bound else [], "next": target}
    page = render(request, "accounts/sign_in.html", context, status=429 if wait else 422 if form.is_bound else 200)
    if wait:
        page.headers["Retry-After"] = str(wait)
    return page


def _sign_in_with(request: HttpRequest, given: dict[str, Any]) -> str:
    """By what this browser is known from now on; empty when the name or the password is wrong."""
    user = signing_in.try_sign_in(request, given["username"], given["password"])
    return "" if user is None else signing_in.begin(request, user, given["stay"])


def _known_by(browser: str, response: HttpResponse) -> HttpResponse:
    """A cookie for the sign-in page alone: it opens nothing, and keeps others from locking this person out."""
    response.set_cookie(
        signing_in.BROWSER_COOKIE, browser, max_age=int(sign_in_limits.KNOWN_FOR.total_seconds()),
        path=reverse("sign-in"), httponly=True, samesite="Lax", secure=settings.SESSION_COOKIE_SECURE,
    )  # fmt: skip
    return response


@require_POST
def sign_out(request: HttpRequest) -> HttpResponse:
    logout(request)
    return redirect("sign-in")


@sensitive_post_parameters()
@require_http_methods(["GET", "HEAD", "POST"])
def password(request: HttpRequest) -> HttpResponse:
    given = api_keys.must_change_password(request.user)
    target = safe_next(request.POST.get("next", request.GET.get("next", "")))
    form = OwnPasswordForm(request, request.POST or None)
    if form.is_bound and form.is_valid():
        user = form.save()
        update_session_auth_hash(request, user)
        here = request.session.session_key
        ended = services.password_was_changed(user, end_keys=form.cleaned_data["end_keys"], here=here)
        also = f" {plural(ended, 'key')} ended." if ended else ""
        messages.success(request, f"Your password is changed. Other browsers are signed out.{also}")
        return HttpResponseRedirect(target or "/") if given else redirect("me")
    context = {"form": form, "problems": problems_of(form) if form.is_bound else [], "given": given, "next": target}
    return render(request, "accounts/password.html", context, status=422 if form.is_bound else 200)


@require_http_methods(["GET", "HEAD", "POST"])
def preferences(request: HttpRequest) -> HttpResponse:
    """Colours and keys are kept in cookies of this browser; the rows of a page are the person's, wherever they sign in.

    Who has no place in the house yet keeps them in a cookie, too.
    """
    kept = request.COOKIES
    initial = {
        "theme": kept.get(THEME_COOKIE, "system"),
        "keys": kept.get(KEYS_COOKIE) == "on",
        "rows": rows_of(request),
    }
    form = PreferencesForm(request.POST or None, initial=initial)
    if form.is_bound and form.is_valid():
        response = redirect("me")
        given = form.cleaned_data
        chosen = {
            THEME_COOKIE: given["theme"],
            KEYS_COOKIE: "on" if given["keys"] else "off",
            ROWS_COOKIE: given["rows"],
        }
        for name, value in chosen.items():
            _keep(request, response, name, value)
        services.choose_rows(request.user, given["rows"])
        messages.success(request, "Saved.")
        return response
    return _form_page(request, "accounts/preferences.html", form)


@require_POST
def single_keys(request: HttpRequest) -> HttpResponse:
    """The switch beside the list of keys, the same as in Preferences."""
    response = redirect(f"{reverse('help')}#keys")
    _keep(request, response, KEYS_COOKIE, "on" if request.POST.get("keys") == "on" else "off")
    return response


def _keep(request: HttpRequest, response: HttpResponse, name: str, value: str) -> None:
    response.set_cookie(name, value, max_age=_YEAR, httponly=True, samesite="Lax", secure=request.is_secure())


def rows_of(request: HttpRequest) -> str:
    """How many rows a page of a list has for this person; empty for who chose nothing."""
    person = getattr(request.user, "person", None)
    rows = person.rows if person else request.COOKIES.get(ROWS_COOKIE, "")
    return rows if rows in ROWS else ""


def page_size(request: HttpRequest, usual: int) -> int:
    """The rows of a page of a list: what was chosen in Preferences, else what is usual for that list."""
    return int(rows_of(request) or usual)


def _form_page(request: HttpRequest, template: str, form: Any) -> HttpResponse:
    context = {"form": form, "problems": problems_of(form) if form.is_bound else []}
    return render(request, template, context, status=422 if form.is_bound else 200)


def csrf_refused(request: HttpRequest, reason: str = "") -> HttpResponse:
    if request.path_info.startswith("/api/"):
        sentence = "Send the token of the session in the header X-CSRFToken, or use a personal key."
        return JsonResponse({"code": "token", "error": sentence}, status=403)
    return render(request, "accounts/csrf_refused.html", status=403)


def fault(request: HttpRequest) -> HttpResponse:
    """A fault of ours, or a full disk; to a program it is told in JSON."""
    if full_disk.is_full(sys.exc_info()[1]):
        return full_disk_page.answer(request, _without_database(request))
    if request.path_info.startswith("/api/"):
        sentence = "A fault of ours. It is written down; try again later."
        return JsonResponse({"code": "fault", "error": sentence}, status=500)
    return HttpResponse(render_to_string("500.html", _without_database(request)), status=500)


def _without_database(request: HttpRequest) -> dict[str, Any]:
    """What a page needs that asks nobody."""
    theme = request.COOKIES.get(THEME_COOKIE, "")
    return {
        "style": _file("app.css"),
        "mark": _file("icon.svg"),
        "theme": theme if theme in THEMES and theme != "system" else "",
        "sent": request.method not in {"GET", "HEAD"},
        "path": request.get_full_path(),
        "number": logs.known().get("request", ""),
    }


def _file(name: str) -> str:
    """A static file by its digest; by its plain name where nothing was collected, because this page must come."""
    try:
        return static(name)
    except ValueError:
        return f"{settings.STATIC_URL}{name}"
