"""One's own password and preferences."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from clearinghouse.audit.models import Entry
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db(databases="__all__")
NEW = "an entirely new sentence"


def test_changing_the_password_keeps_this_browser_and_ends_the_others(signed_in: Any, editor: Any) -> None:
    here, there = signed_in(editor), signed_in(editor)
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert here.post("/me/password/", given).status_code == 302
    assert here.get("/me/").status_code == 200
    assert there.get("/me/").status_code == 302
    editor.refresh_from_db()
    assert editor.check_password(NEW)
    entry = Entry.objects.get(action="password")
    assert entry.actor == "editor"
    assert NEW not in str(entry.before) + str(entry.after) + entry.sentence


@pytest.mark.parametrize(
    ("old", "first", "second"), [("wrong", NEW, NEW), (PASSWORD, "short", "short"), (PASSWORD, NEW, NEW + "x")]
)
def test_a_refused_password_change_says_why_and_echoes_nothing(
    signed_in: Any, editor: Any, old: str, first: str, second: str
) -> None:
    given = {"old_password": old, "new_password1": first, "new_password2": second}
    response = signed_in(editor).post("/me/password/", given)
    assert response.status_code == 422
    page = response.content.decode()
    assert "There is a problem" in page
    assert "Error: Change password" in page
    assert f'value="{first}"' not in page
    assert editor.check_password(PASSWORD)


@pytest.mark.parametrize(("theme", "shown"), [("dark", 'data-theme="dark"'), ("light", 'data-theme="light"')])
def test_the_theme_is_chosen_without_javascript(signed_in: Any, editor: Any, theme: str, shown: str) -> None:
    browser = signed_in(editor)
    assert browser.post("/me/", {"theme": theme}).status_code == 302
    assert shown in browser.get("/me/").content.decode()
    browser.post("/me/", {"theme": "system"})
    assert "data-theme" not in browser.get("/me/").content.decode()


def test_a_theme_nobody_offers_is_refused_and_a_forged_cookie_ignored(signed_in: Any, editor: Any) -> None:
    browser = signed_in(editor)
    assert browser.post("/me/", {"theme": '"><script>'}).status_code == 422
    browser.cookies["theme"] = "neon"
    assert "data-theme" not in browser.get("/me/").content.decode()


@pytest.mark.parametrize("path", ["/me/", "/me/password/"])
def test_own_pages_need_sign_in_and_reading_them_changes_nothing(
    client: Client, signed_in: Any, reader: Any, path: str, django_capture_on_commit_callbacks: Any
) -> None:
    assert client.get(path).status_code == 302
    before = get_user_model().objects.filter(pk=reader.pk).values().get()
    browser = signed_in(reader)
    before |= {"last_login": get_user_model().objects.get(pk=reader.pk).last_login}
    assert browser.get(path).status_code == 200
    assert get_user_model().objects.filter(pk=reader.pk).values().get() == before
    assert not Entry.objects.filter(actor="reader").exists()


def test_posting_a_role_to_a_page_that_does_not_offer_one_changes_nothing(signed_in: Any, reader: Any) -> None:
    signed_in(reader).post("/me/", {"theme": "dark", "role": "administrator", "is_superuser": "on"})
    reader.refresh_from_db()
    assert reader.person.role == "indexer"
    assert not reader.is_superuser


def test_single_keys_have_one_switch_that_stands_in_the_help_too(signed_in: Any, editor: Any, client: Client) -> None:
    browser = signed_in(editor)
    assert "Turn on single keys" in browser.get("/help/").content.decode()
    assert browser.post("/me/single-keys/", {"keys": "on"}).url == "/help/#keys"
    page = browser.get("/help/").content.decode()
    assert "Turn off single keys" in page and "data-single-keys" in page
    assert browser.get("/me/").context["form"].initial["keys"] is True
    browser.post("/me/single-keys/", {"keys": "off"})
    assert "data-single-keys" not in browser.get("/help/").content.decode()
    assert "single keys</button>" not in client.get("/help/").content.decode()
