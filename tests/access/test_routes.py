"""What holds for every address of the product, read from the URL configuration itself."""

import re
from collections.abc import Iterator
from typing import Any

import pytest
from django.conf import settings
from django.test import Client
from django.urls import URLPattern, URLResolver, get_resolver

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl", "primary", "backup"])
OPEN = re.compile(r"/sign-in/|/search/.*|/help/.*|/healthz|/readyz|/opensearch\.xml")
_SAMPLES = {"int": "1", "str": "x", "slug": "x", "path": "x", "uuid": "00000000-0000-0000-0000-000000000000"}


def routes(resolver: URLResolver | None = None, before: str = "/") -> Iterator[tuple[str, Any]]:
    for entry in (resolver or get_resolver()).url_patterns:
        path = before + str(entry.pattern).lstrip("^/").removesuffix("$").removesuffix("\\Z")
        if isinstance(entry, URLPattern):
            yield _filled(path), entry.callback
        else:
            yield from routes(entry, path)


def _filled(path: str) -> str:
    path = re.sub(r"<(?:(\w+):)?\w+>", lambda found: _SAMPLES.get(found[1] or "str", "1"), path)
    return re.sub(r"\(\?P<[^>]*>[^)]*\)", "x", path)


def test_nothing_is_answered_to_a_visitor_but_the_open_addresses() -> None:
    found = 0
    for path, _ in routes():
        if OPEN.fullmatch(path):
            continue
        found += 1
        for method in ("GET", "POST", "PUT", "DELETE", "PATCH", "HEAD", "OPTIONS"):
            response = Client(raise_request_exception=False).generic(method, path)
            assert response.status_code == 302, (method, path, response.status_code)
            assert response.url.startswith("/sign-in/"), (method, path)
    assert found > 10


def test_no_view_is_exempt_from_the_csrf_token() -> None:
    exempt = [path for path, view in routes() if getattr(view, "csrf_exempt", False)]
    assert exempt == []


def test_a_person_without_a_role_finds_nothing_but_their_own_pages(signed_in: Any, django_user_model: Any) -> None:
    browser = signed_in(django_user_model.objects.create_user("bare"))
    browser.raise_request_exception = False
    own = re.compile(r"/me/.*|/sign-.*|/settings/admin/(login|logout|password_change).*")
    for path, _ in routes():
        if OPEN.fullmatch(path) or own.fullmatch(path) or path in {"/", settings.STATIC_URL}:
            continue
        response = browser.get(path)
        assert response.status_code in {302, 403, 404, 405} or _empty(response), (path, response.status_code)


def _empty(response: Any) -> bool:
    """A list page may answer with an empty list."""
    return response.status_code == 200 and "/1/" not in response.content.decode()
