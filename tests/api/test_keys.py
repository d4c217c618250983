"""Personal keys: shown once, stored as a digest, revocable; and what keeps the API shut to everybody else."""

import re
from datetime import timedelta
from typing import Any

import pytest
from django.test import Client
from django.utils import timezone

from clearinghouse.accounts.keys import api_keys
from clearinghouse.accounts.models import ApiKey
from clearinghouse.audit.models import Entry
from crawler.api import api_dispatch
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])


def bearer(text: str) -> dict[str, str]:
    return {"Authorization": f"Bearer {text}"}


def test_a_key_is_made_shown_once_used_and_revoked(signed_in: Any, editor: Any) -> None:
    browser = signed_in(editor)
    page = browser.post(
        "/me/keys/new/", {"name": "nightly export", "days": "30", "password": PASSWORD}
    ).content.decode()
    text = re.search(r'<code id="key"[^>]*>([^<]+)<', page).group(1)
    assert Client().get("/api/v1/me/", headers=bearer(text)).json()["user"] == "editor"
    again = browser.get("/me/keys/").content.decode()
    assert "nightly export" in again
    assert text not in again
    assert ApiKey.objects.get().last_used_at is not None
    browser.post(f"/me/keys/{ApiKey.objects.get().pk}/revoke/")
    assert Client().get("/api/v1/me/", headers=bearer(text)).status_code == 401
    assert [entry.action for entry in Entry.objects.filter(kind="apikey").order_by("id")] == ["add", "revoke"]


def test_no_column_of_the_key_is_its_text(editor: Any) -> None:
    key, text = api_keys.create(editor, "test")
    stored = ApiKey.objects.filter(pk=key.pk).values().get()
    assert text not in str(stored)
    assert len(text) > 40
    assert text not in str([(entry.sentence, entry.after) for entry in Entry.objects.all()])


def test_nobody_revokes_or_sees_the_key_of_another(signed_in: Any, editor: Any, administrator: Any) -> None:
    key, _ = api_keys.create(editor, "mine")
    browser = signed_in(administrator)
    assert browser.post(f"/me/keys/{key.pk}/revoke/").status_code == 404
    assert "mine" not in browser.get("/me/keys/").content.decode()
    assert ApiKey.objects.get().revoked_at is None


def test_the_eleventh_key_is_refused(signed_in: Any, editor: Any) -> None:
    for number in range(api_keys.MOST):
        api_keys.create(editor, f"key {number}")
    response = signed_in(editor).post("/me/keys/new/", {"name": "one more", "days": "30", "password": PASSWORD})
    assert response.status_code == 422
    assert "Revoke one first" in response.content.decode()


@pytest.mark.parametrize("header", ["", "Bearer ", "Bearer chk_wrong", "Basic ZWRpdG9yOng=", "bearer", "Bearer \x00"])
def test_other_headers_open_nothing_and_the_answer_is_json(header: str, editor: Any) -> None:
    response = Client().get("/api/v1/me/", headers={"Authorization": header} if header else {})
    assert (response.status_code, response.json()["code"]) == (401, "sign_in")
    assert response["WWW-Authenticate"] == "Bearer"
    assert response["Cache-Control"] == "no-store"


def test_the_key_of_a_deactivated_person_opens_nothing(editor: Any) -> None:
    _, text = api_keys.create(editor, "test")
    editor.is_active = False
    editor.save()
    assert Client().get("/api/v1/me/", headers=bearer(text)).status_code == 401


def test_a_wrong_key_is_not_helped_by_a_session(signed_in: Any, editor: Any) -> None:
    assert signed_in(editor).get("/api/v1/me/", headers=bearer("chk_wrong")).status_code == 401


def test_a_key_opens_the_api_and_no_screen(editor: Any) -> None:
    _, text = api_keys.create(editor, "test")
    response = Client().get("/documents/", headers=bearer(text))
    assert (response.status_code, response.url) == (302, "/sign-in/?next=%2Fdocuments%2F")


def test_a_session_needs_the_token_and_a_key_does_not(editor: Any, document: Any) -> None:
    """No other site can make a browser send the header of a key; a cookie it could."""
    browser = Client(enforce_csrf_checks=True)
    browser.force_login(editor)
    address = f"/api/v1/documents/{document.pk}/exclude-urls/"
    sent = {"data": {"pattern": "https://x.example/print/*"}, "content_type": "application/json"}
    refused = browser.post(address, **sent)
    assert (refused.status_code, refused.json()["code"]) == (403, "token")
    page = browser.get("/me/").content.decode()
    token = re.search(r'"X-CSRFToken": "([^"]+)"', page).group(1)
    assert browser.post(address, headers={"X-CSRFToken": token}, **sent).status_code == 201
    _, text = api_keys.create(editor, "test")
    sent["data"] = {"pattern": "https://x.example/other/*"}
    assert Client(enforce_csrf_checks=True, headers=bearer(text)).post(address, **sent).status_code == 201


def test_the_last_use_is_noted_at_most_once_a_minute(editor: Any, django_assert_num_queries: Any) -> None:
    key, text = api_keys.create(editor, "test")
    assert api_keys.user_of(f"Bearer {text}") == editor
    with django_assert_num_queries(1):
        api_keys.user_of(f"Bearer {text}")
    ApiKey.objects.filter(pk=key.pk).update(last_used_at=timezone.now() - timedelta(minutes=2))
    with django_assert_num_queries(2):
        api_keys.user_of(f"Bearer {text}")


def test_who_asks_too_often_waits_and_others_do_not(
    program: Any, editor: Any, reader: Any, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(api_dispatch, "_RATE", api_dispatch.Rate(3))
    asks = program(editor).ask
    answers = [asks("GET", "me/")[0] for _ in range(8)]
    assert 429 in answers
    assert set(answers) <= {200, 429}
    assert program(reader).ask("GET", "me/")[0] == 200
