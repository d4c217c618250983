"""Owns: what holds for every request: security headers, the door, whose name stands in the rows that change.

Does not: decide about documents (policies). Called by: settings.MIDDLEWARE.
"""

import re
import secrets
from collections.abc import Callable
from typing import Any
from urllib.parse import urlsplit

from django.conf import settings
from django.http import HttpRequest, HttpResponse, HttpResponseRedirect, JsonResponse
from django.template.loader import render_to_string
from django.urls import reverse
from django.utils.cache import patch_vary_headers
from django.utils.http import urlencode

from ..accounts.keys import api_keys
from ..accounts.sign_in.visitor_address import safe_next
from ..database.records import acting_as
from ..operations.logs import begin_about
from . import body_limits, proxies

Respond = Callable[[HttpRequest], HttpResponse]

CONTENT_SECURITY = (
    "default-src 'self'; script-src 'self'; style-src 'self'; img-src 'self'; object-src 'none'; "
    "base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
# The queue pages of django-rq are not ours and carry inline scripts and styles.
LOOSER_SECURITY = (
    "default-src 'self'; script-src 'self' 'unsafe-inline'; style-src 'self' 'unsafe-inline'; img-src 'self' data:; "
    "object-src 'none'; base-uri 'none'; form-action 'self'; frame-ancestors 'self'"
)
LOOSER_PATHS = ("/settings/queues/",)
PERMISSIONS = "camera=(), display-capture=(), geolocation=(), microphone=(), payment=(), usb=()"

MACHINES = {"/healthz", "/readyz", "/metrics"}
OPEN_PATHS = {"/sign-in/", "/opensearch.xml"} | MACHINES
OPEN_PREFIXES = ("/search/", "/help/")
API_PREFIX = "/api/v1/"
_NUMBER = re.compile(r"[\w-]{8,64}", re.ASCII)
POLLS = {"live-poll", "log-poll"}  # the ids of what asks again and again by itself
_STOP_POLLING = 286  # htmx: show this answer and ask no more


class NamedRequest:
    """Every request has a number, made here or by the proxy: its lines in the log carry it, its answer names it."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        by_ours = proxies.trusted(str(request.META.get("REMOTE_ADDR", "")))
        given = request.headers.get("X-Request-Id", "") if by_ours else ""
        number = given if _NUMBER.fullmatch(given) else secrets.token_hex(8)
        begin_about(request=number)
        response = self.get_response(request)
        response.headers["X-Request-Id"] = number
        return response


class ContentSecurity:
    """A view that needs its own policy (a cached copy in its sandbox) sets it; everything else gets the strict one."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        response = self.get_response(request)
        policy = LOOSER_SECURITY if request.path_info.startswith(LOOSER_PATHS) else CONTENT_SECURITY
        response.headers.setdefault("Content-Security-Policy", policy)
        response.headers.setdefault("Permissions-Policy", PERMISSIONS)
        return response


class WithoutNul:
    """Nothing of ours holds the character NUL, and PostgreSQL refuses a text with one: it is left out."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        asked = request.META.get("QUERY_STRING", "")
        while "%00" in asked or "\0" in asked:  # again: what is left of %0%000 is another one
            asked = request.META["QUERY_STRING"] = asked.replace("%00", "").replace("\0", "")
        return self.get_response(request)

    def process_view(self, request: HttpRequest, *_: Any) -> None:
        """Here whoever must be signed in is, so that nobody else's form is read."""
        if request.path_info.startswith(API_PREFIX):  # there it is JSON or a table, and read where it is meant
            return
        sent = request.POST
        if any("\0" in value for _, values in sent.lists() for value in values):
            sent = sent.copy()
            for name, values in list(sent.lists()):
                sent.setlist(name, [value.replace("\0", "") for value in values])
            request.POST = sent


class BodyLimit:
    """Refused before anything of it is read: Django would store a file of any size on the disk, for anybody."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        length = request.META.get("CONTENT_LENGTH") or "0"
        most = body_limits.most_bytes(request.path_info)
        if length.isdigit() and int(length) <= most:
            return self.get_response(request)
        text = body_limits.sentence(most)
        return HttpResponse(text, status=413, content_type="text/plain", headers={"Cache-Control": "no-store"})


class NobodyForMachines:
    """What machines ask is asked for nobody: a person who looks there while a database is away is answered, too."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.path_info in MACHINES:
            request.COOKIES = {}
        return self.get_response(request)


class KeyOrSession:
    """Under /api/ a personal key in the Authorization header stands for its owner; a session does too.

    With a key no cookie takes part, so no other site can make a browser send the request: the token against
    cross-site requests is asked of sessions only.
    """

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        header = request.headers.get("Authorization", "")
        if request.path_info.startswith(API_PREFIX) and header:
            try:
                request.user = api_keys.user_of(header)
            except api_keys.KeyRefused as refusal:
                return no_key(str(refusal))
            request._dont_enforce_csrf_checks = True  # type: ignore[attr-defined]
        return self.get_response(request)


def no_key(sentence: str, status: int = 401, code: str = "sign_in") -> HttpResponse:
    answer = JsonResponse({"code": code, "error": sentence}, status=status)
    if status == 401:
        answer.headers["WWW-Authenticate"] = "Bearer"
    answer.headers["Cache-Control"] = "no-store"
    return answer


class SignInRequired:
    """Nothing is open but the named paths; whatever a signed-in person sees is stored by no cache."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        known = request.user.is_authenticated
        if not known and not _is_open(request.path_info):
            return _to_the_door(request)
        response = self.get_response(request)
        if known:
            response.headers["Cache-Control"] = "no-store"
        patch_vary_headers(response, ["Cookie"])
        return response


class SessionInUse:
    """What a person does keeps their session; what an open page asks by itself every few seconds does not."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if request.user.is_authenticated and request.headers.get("HX-Trigger") not in POLLS:
            request.session.used()
        return self.get_response(request)


class OwnPasswordFirst:
    """Who has a password that somebody else knows chooses another one before anything else opens."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not api_keys.must_change_password(request.user) or _is_open_before(request.path_info):
            return self.get_response(request)
        if request.path_info.startswith(API_PREFIX):
            sentence = "Sign in and choose a password of your own first: somebody else knows the one you have."
            return no_key(sentence, 403, "password")
        back = safe_next(request.get_full_path() if request.method in {"GET", "HEAD"} else _page_before(request))
        url = reverse("password") + (f"?{urlencode({'next': back})}" if back not in {"", "/"} else "")
        if request.headers.get("HX-Request") == "true":
            return HttpResponse(headers={"HX-Redirect": url, "Cache-Control": "no-store"})
        return HttpResponseRedirect(url, headers={"Cache-Control": "no-store"})


def _is_open_before(path: str) -> bool:
    return _is_open(path) or path in (reverse("password"), reverse("sign-out"))


class Acting:
    """Rows changed by this request carry the name of the person who sent it."""

    def __init__(self, get_response: Respond) -> None:
        self.get_response = get_response

    def __call__(self, request: HttpRequest) -> HttpResponse:
        if not request.user.is_authenticated:
            return self.get_response(request)
        with acting_as(request.user.get_username()):
            return self.get_response(request)


def _is_open(path: str) -> bool:
    return path in OPEN_PATHS or path.startswith((*OPEN_PREFIXES, settings.STATIC_URL))


def _to_the_door(request: HttpRequest) -> HttpResponse:
    if request.path_info.startswith(API_PREFIX):
        return no_key("Send a personal key as “Authorization: Bearer …”; make one on the page Preferences.")
    if request.headers.get("HX-Request") == "true":
        return _sign_in_again(request)
    back = request.get_full_path() if request.method in {"GET", "HEAD"} else _page_before(request)
    response = HttpResponseRedirect(_sign_in_url(back))
    response.headers["Cache-Control"] = "no-store"
    return response


def _sign_in_again(request: HttpRequest) -> HttpResponse:
    """A notice in the status region; the page, and what was typed into it, stays as it is."""
    page = urlsplit(request.headers.get("HX-Current-URL", ""))
    back = page.path + (f"?{page.query}" if page.query else "")
    text = render_to_string("accounts/sign_in_again.html", {"sign_in_url": _sign_in_url(back)})
    headers = {"HX-Retarget": "#status", "HX-Reswap": "innerHTML", "Cache-Control": "no-store"}
    return HttpResponse(text, status=_STOP_POLLING if request.method == "GET" else 200, headers=headers)


def _page_before(request: HttpRequest) -> str:
    """A form sent after the session ended returns to the page that held it."""
    page = urlsplit(request.headers.get("Referer", ""))
    back = page.path + (f"?{page.query}" if page.query else "")
    return back if page.netloc == request.get_host() else ""


def _sign_in_url(back: str) -> str:
    back = safe_next(back)
    return reverse("sign-in") + (f"?{urlencode({'next': back})}" if back not in {"", "/"} else "")
