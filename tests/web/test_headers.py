"""What every answer carries, and what the frame shows to whom."""

from typing import Any

import pytest
from django.test import Client

from clearinghouse.web.middleware import CONTENT_SECURITY, WithoutNul

pytestmark = pytest.mark.django_db(databases="__all__")
PATHS = ["/me/", "/me/password/", "/settings/people/", "/settings/people/new/", "/nothing/here/"]


@pytest.mark.parametrize("path", PATHS)
def test_signed_in_pages_are_strict_and_stored_by_nobody(signed_in: Any, administrator: Any, path: str) -> None:
    response = signed_in(administrator).get(path)
    assert response["Content-Security-Policy"] == CONTENT_SECURITY
    assert response["Cache-Control"] == "no-store"
    assert response["X-Content-Type-Options"] == "nosniff"
    assert response["X-Frame-Options"] == "DENY"
    assert response["Referrer-Policy"] == "same-origin"
    assert "camera=()" in response["Permissions-Policy"]
    assert "Cookie" in response["Vary"]


def test_the_strict_policy_allows_no_inline_code_and_no_other_site() -> None:
    assert "unsafe" not in CONTENT_SECURITY
    assert "http" not in CONTENT_SECURITY
    for rule in ("default-src 'self'", "script-src 'self'", "object-src 'none'", "base-uri 'none'"):
        assert rule in CONTENT_SECURITY


def test_the_sign_in_page_is_strict_and_not_stored(client: Client) -> None:
    response = client.get("/sign-in/")
    assert response["Content-Security-Policy"] == CONTENT_SECURITY
    assert "no-store" in response["Cache-Control"]


def test_pages_of_ours_have_no_inline_style_or_script(signed_in: Any, administrator: Any) -> None:
    for path in (*PATHS, f"/settings/people/{administrator.pk}/"):
        page = signed_in(administrator).get(path).content.decode()
        assert " style=" not in page
        assert " onclick=" not in page
        assert "<script>" not in page
        assert "<style" not in page


def test_visitors_are_shown_the_door_even_where_there_is_nothing(client: Client) -> None:
    response = client.get("/no/such/page/")
    assert response.status_code == 302
    assert response["Cache-Control"] == "no-store"
    assert client.get("/settings/admin/").url == "/sign-in/?next=%2Fsettings%2Fadmin%2F"


def test_a_page_that_is_not_there_says_so_kindly(signed_in: Any, editor: Any) -> None:
    response = signed_in(editor).get("/no/such/page/")
    assert response.status_code == 404
    assert "you may not see it" in response.content.decode()


def test_somebody_without_a_role_is_told_whom_to_ask(signed_in: Any, django_user_model: Any) -> None:
    response = signed_in(django_user_model.objects.create_user("bare")).get("/settings/people/")
    assert response.status_code == 404
    assert "no role yet" in response.content.decode()


def test_a_forged_host_is_refused(client: Client) -> None:
    for path in ("/", "/sign-in/", "/me/", "/search/"):
        assert client.get(path, headers={"Host": "evil.example"}).status_code == 400


def test_the_navigation_holds_only_what_the_person_may_use(signed_in: Any, editor: Any, administrator: Any) -> None:
    assert "/settings/" not in signed_in(editor).get("/me/").content.decode()
    page = signed_in(administrator).get("/settings/people/").content.decode()
    assert '<a href="/settings/" aria-current="page">Settings</a>' in page


def test_the_character_nul_in_an_address_is_left_out(signed_in: Any, administrator: Any, rf: Any) -> None:
    """PostgreSQL compares no text with it."""
    seen = []
    request = rf.get("/search/?q=pen%00cil&page=1")
    WithoutNul(lambda asked: seen.append(asked.GET.dict()))(request)
    assert seen == [{"q": "pencil", "page": "1"}]
    assert signed_in(administrator).get("/crawls/?q=%00").status_code == 200
