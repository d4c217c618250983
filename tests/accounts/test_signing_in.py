"""The door: who gets in, where they land, how often they may knock."""

import re
import time
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client
from django.utils import timezone

from clearinghouse.accounts.models import RecentEvent
from clearinghouse.accounts.sign_in.visitor_key import visitor_key
from tests.people import PASSWORD
from tests.proves import proves

pytestmark = pytest.mark.django_db(databases="__all__")

DISGUISES = [
    "//evil.example",
    "///evil.example",
    "////evil.example",
    "/\\evil.example",
    "\\\\evil.example",
    "\\/evil.example",
    "/\t/evil.example",
    "/\n/evil.example",
    "/\r/evil.example",
    "\t//evil.example",
    " //evil.example",
    "https://evil.example",
    "http://evil.example",
    "https:evil.example",
    "https:/evil.example",
    "https:///evil.example",
    "HTTPS://evil.example",
    "ftp://evil.example",
    "javascript:alert(1)",
    "JaVaScRiPt:alert(1)",
    "data:text/html,x",
    "vbscript:x",
    "//evil.example/%2f..",
    "//testserver@evil.example/",
    "http://testserver.evil.example",
    "http:\\\\evil.example",
    "/\x00/evil.example",
    "//[::1]/",
    "//①②.example",
    "evil.example",
    "https://testserver@evil.example/",
    "http://testserver/absolute",
    "",
]


def knock(client: Client, name: str, password: str, **more: Any) -> Any:
    return client.post("/sign-in/", {"username": name, "password": password, **more})


def test_the_right_password_opens_and_leads_to_the_page_asked_for(client: Client, editor: Any) -> None:
    response = client.get("/me/?tab=1")
    assert response.status_code == 302
    assert response.url == "/sign-in/?next=%2Fme%2F%3Ftab%3D1"
    page = client.get(response.url)
    assert 'name="next" value="/me/?tab=1"' in page.content.decode()
    response = knock(client, "editor", PASSWORD, next="/me/?tab=1")
    assert (response.status_code, response.url) == (302, "/me/?tab=1")
    assert client.get("/me/").status_code == 200


@pytest.mark.parametrize("target", DISGUISES)
def test_nobody_is_sent_to_another_site_after_signing_in(client: Client, editor: Any, target: str) -> None:
    assert knock(client, "editor", PASSWORD, next=target).url == "/"
    assert client.get("/sign-in/", {"next": target}).url == "/"  # signed in already


def test_wrong_password_unknown_name_and_inactive_account_get_the_same_answer(client: Client, editor: Any) -> None:
    get_user_model().objects.create_user("gone", password=PASSWORD, is_active=False)
    answers = []
    for name, password in (("editor", "wrong"), ("nobody", "wrong"), ("gone", PASSWORD)):
        response = knock(Client(), name, password)
        assert response.status_code == 422
        answers.append(re.sub(r'value="[^"]*"|"X-CSRFToken": "[^"]*"', "", response.content.decode()))
    assert len(set(answers)) == 1
    assert "wrong" in answers[0]


def test_the_password_typed_is_never_sent_back(client: Client, editor: Any) -> None:
    assert "C4n4ry" not in knock(client, "editor", "C4n4ry-x").content.decode()


def wrong_tries() -> int:
    """How many rows of wrong tries there are; each try has three: name and address, address, name."""
    return RecentEvent.objects.filter(until__lt=timezone.now() + timedelta(minutes=15)).count() // 3


def later(minutes: int) -> None:
    for row in RecentEvent.objects.all():
        shift = timedelta(minutes=minutes)
        RecentEvent.objects.filter(pk=row.pk).update(at=row.at - shift, until=row.until - shift)


def test_after_five_wrong_attempts_even_the_right_password_waits_15_minutes(client: Client, editor: Any) -> None:
    for _ in range(5):
        assert knock(client, "editor", "wrong").status_code == 422
    locked = knock(client, "EDITOR ", PASSWORD)
    assert locked.status_code == 429
    assert "try again in 15 minutes" in locked.content.decode()
    assert 'value="EDITOR "' in locked.content.decode()  # what was typed is still there, but for the password
    assert 800 < int(locked["Retry-After"]) <= 900
    assert knock(client, "editor", PASSWORD).status_code == 429  # the very name: the one above is no account
    assert "_auth_user_id" not in client.session
    assert wrong_tries() == 5  # nobody waits longer because somebody goes on trying
    later(16)
    assert knock(client, "editor", PASSWORD).status_code == 302
    assert not wrong_tries()


def test_200_attempts_from_one_address_lock_that_account_there_and_nothing_else(client: Client, editor: Any) -> None:
    codes = [knock(client, "editor", f"guess{number}").status_code for number in range(200)]
    assert codes == [422] * 5 + [429] * 195
    assert wrong_tries() == 5
    assert knock(client, "editor", PASSWORD).status_code == 429
    elsewhere = Client(REMOTE_ADDR="192.0.2.7")
    assert knock(elsewhere, "editor", PASSWORD).status_code == 302


def test_the_addresses_of_one_household_have_five_attempts_together(editor: Any) -> None:
    """Of the sixth version everybody has 2^64 of them."""
    for number in range(5):
        assert knock(Client(REMOTE_ADDR=f"2001:db8:1:2::{number:x}"), "editor", "wrong").status_code == 422
    assert knock(Client(REMOTE_ADDR="2001:db8:1:2:ffff::9"), "editor", PASSWORD).status_code == 429
    assert knock(Client(REMOTE_ADDR="2001:db8:1:3::1"), "editor", PASSWORD).status_code == 302


@pytest.mark.parametrize(
    ("one", "other", "same"),
    [
        ("192.0.2.7", "192.0.2.7:4711", True),
        ("192.0.2.7:1", "192.0.2.8:1", False),
        ("2001:db8::1", "[2001:db8::2]:443", True),
        ("2001:db8::1", "2001:db8:0:1::1", False),
        ("::ffff:192.0.2.7", "192.0.2.7", True),
        ("::ffff:192.0.2.7", "::ffff:192.0.2.8", False),
        ("unknown", "other", False),
        ("", "", True),
    ],
)
def test_who_counts_as_one_visitor(one: str, other: str, same: bool) -> None:
    assert (visitor_key(one) == visitor_key(other)) is same


def test_a_success_forgets_the_failures_before_it(client: Client, editor: Any) -> None:
    for _ in range(4):
        knock(client, "editor", "wrong")
    knock(client, "editor", PASSWORD)
    assert not wrong_tries()


def test_behind_a_proxy_the_address_is_the_one_the_proxy_saw(monkeypatch: Any, editor: Any) -> None:
    monkeypatch.setenv("CLEARINGHOUSE_BEHIND_PROXY", "1")
    for number in range(6):
        forged = Client(HTTP_X_FORWARDED_FOR=f"203.0.113.{number}, 198.51.100.9")
        response = knock(forged, "editor", "wrong" if number < 5 else PASSWORD)
        assert response.status_code == (422 if number < 5 else 429)


def test_the_time_of_an_answer_does_not_tell_whether_the_account_exists(settings: Any, client: Client) -> None:
    settings.PASSWORD_HASHERS = ["django.contrib.auth.hashers.PBKDF2PasswordHasher"]
    get_user_model().objects.create_user("known", password=PASSWORD)

    def best(name: str) -> float:
        times = []
        for number in range(4):
            browser = Client(REMOTE_ADDR=f"192.0.2.{number}")
            start = time.perf_counter()
            knock(browser, name, "wrong")
            times.append(time.perf_counter() - start)
        return min(times)

    known, unknown = best("known"), best("unknown")
    assert abs(known - unknown) < 0.5 * max(known, unknown)  # without the dummy hash it differs tenfold


def test_the_session_key_and_the_csrf_token_change_at_the_door(client: Client, editor: Any) -> None:
    client.get("/sign-in/")
    session = client.session  # an anonymous session planted by somebody else
    session["planted"] = True
    session.save()
    client.cookies["sessionid"] = session.session_key
    token = client.cookies["csrftoken"].value
    knock(client, "editor", PASSWORD)
    assert client.cookies["sessionid"].value != session.session_key
    assert client.cookies["csrftoken"].value != token


def test_only_who_asks_for_it_has_a_cookie_that_outlives_the_browser(editor: Any) -> None:
    short, long = Client(), Client()
    knock(short, "editor", PASSWORD)
    knock(long, "editor", PASSWORD, stay="on")
    assert short.cookies["sessionid"]["max-age"] == ""
    assert long.cookies["sessionid"]["max-age"] == pytest.approx(14 * 24 * 3600, abs=5)


def test_signing_out_is_a_post_and_ends_the_session(signed_in: Any, editor: Any) -> None:
    browser = signed_in(editor)
    assert browser.get("/sign-out/").status_code == 405
    assert browser.get("/me/").status_code == 200
    assert browser.post("/sign-out/").url == "/sign-in/"
    assert browser.get("/me/").status_code == 302


@proves("J4")
def test_a_poll_after_the_session_ended_says_sign_in_again_in_place(client: Client, db: Any) -> None:
    headers = {"HX-Request": "true", "HX-Current-URL": "http://testserver/crawls/7/?tab=log"}
    response = client.get("/crawls/7/live", headers=headers)
    assert response.status_code == 286  # htmx stops polling
    assert response["HX-Retarget"] == "#status"
    assert "/sign-in/?next=%2Fcrawls%2F7%2F%3Ftab%3Dlog" in response.content.decode()
    assert "<form" not in response.content.decode()
    evil = client.post("/me/", headers=headers | {"HX-Current-URL": "http://evil.example//evil.example/"})
    assert evil.status_code == 200
    assert 'href="/sign-in/"' in evil.content.decode()


def test_a_form_without_its_token_is_refused_with_a_page_that_explains(editor: Any) -> None:
    strict = Client(enforce_csrf_checks=True)
    response = strict.post("/sign-in/", {"username": "editor", "password": PASSWORD})
    assert response.status_code == 403
    assert "send it again" in response.content.decode()
    strict.force_login(editor)
    for path in ("/me/", "/me/password/", "/sign-out/", "/settings/people/new/"):
        assert strict.post(path, {}).status_code == 403


def test_a_fresh_install_has_no_account(db: Any) -> None:
    assert not get_user_model().objects.exists()


def test_a_form_sent_too_late_returns_to_its_page_with_the_filter(client: Client) -> None:
    answer = client.post(
        "/documents/views/save/", {}, headers={"Referer": "http://testserver/documents/?q=a&sort=-pages"}
    )
    assert answer.url == "/sign-in/?next=%2Fdocuments%2F%3Fq%3Da%26sort%3D-pages"
