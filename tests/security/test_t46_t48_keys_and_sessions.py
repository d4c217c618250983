"""Keys, sessions and passwords that somebody else knows: each ends with what it rests on (threats T46, T47, T48)."""

import re
import sqlite3
import time
from collections.abc import Callable
from contextlib import closing
from datetime import timedelta
from typing import Any

import pytest
import requests
from django.conf import settings
from django.contrib.auth import get_user_model
from django.core.management import call_command
from django.test import Client
from django.utils import timezone

from clearinghouse.accounts import services
from clearinghouse.accounts.keys import api_keys
from clearinghouse.accounts.models import ApiKey, BrowserSession, Role
from clearinghouse.accounts.sign_in import sessions
from clearinghouse.audit.models import Entry
from clearinghouse.database.aliases import LOCK_WAIT_SECONDS
from clearinghouse.web.middleware import POLLS
from tests.accounts.matrix import OPEN, SHUT
from tests.accounts.routes import routes
from tests.accounts.test_routes import reachable, row
from tests.flow.conftest import house, prepared_folder
from tests.flow.house import House
from tests.people import PASSWORD, make_person

__all__ = ["house", "prepared_folder"]

pytestmark = pytest.mark.django_db(databases="__all__")
NEW = "an entirely new sentence"


def opens(text: str) -> bool:
    return Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/me/").status_code == 200


def sign_in(name: str, password: str, **more: Any) -> Client:
    browser = Client(headers={"User-Agent": "Mozilla/5.0 (Windows NT 10.0; rv:140.0) Gecko/20100101 Firefox/140.0"})
    browser.post("/sign-in/", {"username": name, "password": password, **more})
    return browser


def is_in(browser: Client) -> bool:
    return browser.get("/me/").status_code == 200


# T46: keys -----------------------------------------------------------------------------------------------------------


ENDS: list[tuple[str, Callable[[Any], Any]]] = [
    ("reset", services.reset_password),
    ("deactivation", lambda user: services.set_active(user, False)),
    ("deactivation and activation", lambda user: [services.set_active(user, active) for active in (False, True)]),
    ("another role", lambda user: services.update_person(user, Role.ADMINISTRATOR, [])),
]


@pytest.mark.parametrize(("how", "end"), ENDS, ids=[how for how, _ in ENDS])
def test_t46_a_key_ends_with_what_its_owner_was(editor: Any, how: str, end: Callable[[Any], Any]) -> None:
    _, text = api_keys.create(editor, "nightly")
    assert opens(text)
    end(editor)
    assert not opens(text)
    assert Entry.objects.filter(kind="apikey", action="revoke", sentence__contains="nightly").count() == 1


def test_t46_a_manager_who_reset_a_password_keeps_nothing_of_it(manager: Any, signed_in: Any, editor: Any) -> None:
    """As it was found: the manager signs in as the member, makes a key, and later the member becomes administrator."""
    page = signed_in(manager).post(f"/settings/people/{editor.pk}/password/").content.decode()
    known = re.search(r'<code id="password">([^<]+)<', page)[1]
    thief = sign_in("editor", known)
    made = thief.post("/me/keys/new/", {"name": "mine now", "days": "365", "password": known})
    assert made.url.startswith("/me/password/")
    assert not ApiKey.objects.exists()


def test_t46_names_and_projects_of_the_same_role_end_no_key(editor: Any, project: Any) -> None:
    _, text = api_keys.create(editor, "nightly")
    services.update_person(editor, Role.DEVELOPER, [project], first_name="Ann")
    assert opens(text)


@pytest.mark.parametrize(("ticked", "goes_on"), [("on", False), ("", True)])
def test_t46_at_ones_own_change_keys_end_unless_one_unticks_it(
    signed_in: Any, editor: Any, ticked: str, goes_on: bool
) -> None:
    _, text = api_keys.create(editor, "nightly")
    browser = signed_in(editor)
    form = browser.get("/me/password/").content.decode()
    assert re.search(r'<input type="checkbox" name="end_keys"[^>]* checked', form)
    given = {"old_password": PASSWORD, "new_password1": NEW, "new_password2": NEW}
    assert browser.post("/me/password/", given | ({"end_keys": ticked} if ticked else {})).status_code == 302
    assert opens(text) is goes_on


def test_t46_a_key_ends_by_itself_and_says_so(editor: Any) -> None:
    key, text = api_keys.create(editor, "nightly", 30)
    assert abs(key.expires_at - timezone.now() - timedelta(days=30)) < timedelta(minutes=1)
    ApiKey.objects.update(expires_at=timezone.now() - timedelta(seconds=1))
    answer = Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/me/")
    assert (answer.status_code, answer.json()["error"][:18]) == (401, "This key has ended")
    ApiKey.objects.update(expires_at=None)
    assert not opens(text)


def test_t46_a_key_is_made_after_the_password_only(signed_in: Any, editor: Any) -> None:
    browser = signed_in(editor)
    for password in ("", "wrong"):
        refused = browser.post("/me/keys/new/", {"name": "nightly", "days": "30", "password": password})
        assert refused.status_code == 422 and 'value="nightly"' in refused.content.decode()
    assert browser.post("/me/keys/new/", {"name": "x", "days": "9999", "password": PASSWORD}).status_code == 422
    assert not ApiKey.objects.exists()
    assert browser.post("/me/keys/new/", {"name": "nightly", "days": "30", "password": PASSWORD}).status_code == 200


def test_t46_administrators_see_whose_keys_there_are_and_revoke_them(
    signed_in: Any, administrator: Any, editor: Any
) -> None:
    key, text = api_keys.create(editor, "nightly")
    browser = signed_in(administrator)
    page = browser.get("/settings/api-keys/").content.decode()
    assert "nightly" in page and "editor" in page and "in 179 days" in page
    assert text not in page and text[:8] not in page and key.digest not in page
    assert browser.post(f"/settings/api-keys/{key.pk}/revoke/").status_code == 302
    assert not opens(text)
    entry = Entry.objects.latest("id")
    assert (entry.actor, entry.action) == ("administrator", "revoke") and "editor" in entry.sentence


def test_t46_a_password_from_the_command_line_ends_them_too(editor: Any, monkeypatch: pytest.MonkeyPatch) -> None:
    _, text = api_keys.create(editor, "nightly")
    theirs = sign_in("editor", PASSWORD)
    monkeypatch.setattr("getpass.getpass", lambda **_: NEW)
    call_command("changepassword", "editor", verbosity=0)
    assert get_user_model().objects.get(pk=editor.pk).check_password(NEW)
    assert not opens(text) and not is_in(theirs)


# T47: passwords that somebody else knows -----------------------------------------------------------------------------


@pytest.fixture
def temporary(project: Any) -> tuple[Any, str]:
    return services.add_person("anna", Role.ADMINISTRATOR, [project])


def test_t47_nothing_opens_before_the_temporary_password_is_changed(temporary: Any, document: Any) -> None:
    """Every address of the site that is not open to everybody, by GET and by POST."""
    browser, given = sign_in("anna", temporary[1]), {"doc_id": document.pk}
    asked = 0
    for route in {route.name: route for route in routes()}.values():
        if not reachable(route) or route.name in ("password", "sign-out") or row(route)[0] in (OPEN, SHUT):
            continue
        path = route.path(dict.fromkeys(route.arguments, 1) | dict.fromkeys(_TEXTS, "x") | given)
        for method in ("GET", "POST"):
            answer = browser.generic(method, path)
            where = answer.get("Location", "") or str(answer.status_code)
            assert where.startswith("/me/password/") or answer.status_code == 403, (method, path, where)
            asked += 1
    assert asked > 200
    assert browser.get("/search/").status_code == 200, "what everybody may see, they may see too"


_TEXTS = ("name", "key", "rest", "topic", "action", "tab", "session")


def test_t47_after_another_one_was_chosen_everything_opens(temporary: Any) -> None:
    user, password = temporary
    browser = sign_in("anna", password)
    page = browser.get(browser.get("/documents/?q=a").url)
    assert "Choose a password of your own" in page.content.decode()
    assert 'href="/documents/"' not in page.content.decode()  # nothing is offered that would lead back here
    given = {"old_password": password, "next": "/documents/?q=a"}
    same = browser.post("/me/password/", given | {"new_password1": password, "new_password2": password})
    assert same.status_code == 422 and "choose another one" in same.content.decode()
    done = browser.post("/me/password/", given | {"new_password1": NEW, "new_password2": NEW})
    assert done.url == "/documents/?q=a"
    assert browser.get("/documents/").status_code == 200
    user.person.refresh_from_db()
    assert not user.person.must_change_password


def test_t47_a_part_of_a_page_leads_there_too(temporary: Any) -> None:
    browser = sign_in("anna", temporary[1])
    answer = browser.get("/crawls/7/live", headers={"HX-Request": "true"})
    assert answer["HX-Redirect"].startswith("/me/password/") and not answer.content


def test_t47_no_key_of_such_an_account_opens_anything(editor: Any) -> None:
    _, text = api_keys.create(editor, "nightly")
    type(editor.person).objects.filter(pk=editor.pk).update(must_change_password=True)
    answer = Client(headers={"Authorization": f"Bearer {text}"}).get("/api/v1/me/")
    assert (answer.status_code, answer.json()["code"]) == (403, "password")


def test_t47_an_account_without_a_place_gets_no_role_by_it() -> None:
    user = get_user_model().objects.create_user("bare", password=PASSWORD)
    password = services.reset_password(user)
    browser = sign_in("bare", password)
    assert browser.get("/me/").url.startswith("/me/password/")
    given = {"old_password": password, "new_password1": NEW, "new_password2": NEW}
    assert browser.post("/me/password/", given).status_code == 302
    assert browser.get("/documents/").status_code == 404


# T48: sessions -------------------------------------------------------------------------------------------------------


def shift(**times: timedelta) -> None:
    for one in BrowserSession.objects.all():
        for name, by in times.items():
            setattr(one, name, getattr(one, name) - by)
        one.save()


def begun(browser: Client, ago: timedelta) -> None:
    session = browser.session
    session[sessions.BEGUN] = (timezone.now() - ago).timestamp()
    session.save()


def test_t48_an_unticked_session_ends_after_an_hour_without_use_on_the_server(editor: Any) -> None:
    browser = sign_in("editor", PASSWORD)
    for minutes in (50, 50, 50):
        shift(seen_at=timedelta(minutes=minutes), expire_date=timedelta(minutes=minutes))
        assert is_in(browser)  # used meanwhile: the hour begins anew
    shift(seen_at=timedelta(minutes=61), expire_date=timedelta(minutes=61))
    assert not is_in(browser)


def test_t48_and_after_twelve_hours_however_much_it_is_used(editor: Any) -> None:
    browser = sign_in("editor", PASSWORD)
    begun(browser, timedelta(hours=11, minutes=59))
    assert is_in(browser)
    assert BrowserSession.objects.get().expire_date < timezone.now() + timedelta(minutes=2)
    begun(browser, timedelta(hours=12, seconds=1))
    assert not is_in(browser)


def test_t48_a_ticked_one_lasts_14_days_and_no_longer(editor: Any) -> None:
    browser = sign_in("editor", PASSWORD, stay="on")
    shift(seen_at=timedelta(days=3))
    assert is_in(browser)
    begun(browser, timedelta(days=14, seconds=1))
    assert not is_in(browser)


def test_t48_whatever_asks_again_by_itself_is_known() -> None:
    asks = re.compile(r'<\w+ id="([\w-]+)"(?:(?!<\w).)*?hx-trigger="every ', re.DOTALL)
    texts = [path.read_text() for path in (settings.BASE_DIR / "templates").rglob("*.html")]
    assert {name for text in texts for name in asks.findall(text)} == POLLS
    assert sum(text.count('hx-trigger="every ') for text in texts) == sum(len(asks.findall(text)) for text in texts)


@pytest.mark.parametrize("poll", sorted(POLLS))
def test_t48_a_page_left_open_keeps_no_session(editor: Any, poll: str) -> None:
    browser = sign_in("editor", PASSWORD)
    shift(seen_at=timedelta(minutes=30), expire_date=timedelta(minutes=30))
    before = BrowserSession.objects.get().expire_date
    assert browser.get("/me/", headers={"HX-Request": "true", "HX-Trigger": poll}).status_code == 200
    assert BrowserSession.objects.get().expire_date == before
    assert browser.get("/me/", headers={"HX-Request": "true", "HX-Trigger": "other"}).status_code == 200
    assert BrowserSession.objects.get().expire_date > before


def test_t48_deactivation_ends_sessions_and_activation_revives_none(editor: Any) -> None:
    browser = sign_in("editor", PASSWORD)
    services.set_active(editor, False)
    editor.person.refresh_from_db()
    assert not is_in(browser) and editor.person.deactivated_at
    services.set_active(editor, True)
    editor.person.refresh_from_db()
    assert not is_in(browser) and editor.person.deactivated_at is None
    assert is_in(sign_in("editor", PASSWORD))


def test_t48_one_sees_where_one_is_signed_in_and_ends_it(editor: Any, reader: Any) -> None:
    here, there, third = (sign_in("editor", PASSWORD) for _ in range(3))
    other = sign_in("reader", PASSWORD)
    page = here.get("/me/sessions/").content.decode()
    assert page.count("Firefox on Windows</") + page.count("Firefox on Windows ") >= 3
    assert "127.0.0.1" in page and page.count("This browser") == 1
    assert not [one.pk for one in BrowserSession.objects.all() if one.pk in page], "no key of a session on a page"
    ends = re.findall(r'action="(/me/sessions/\w+/end/)"', page)
    assert len(ends) == 2
    assert other.post(ends[0]).status_code == 404
    assert here.post(ends[0]).status_code == 302
    assert [is_in(one) for one in (here, there, third)].count(True) == 2
    assert here.post("/me/sessions/end-others/").status_code == 302
    assert [is_in(one) for one in (here, there, third, other)] == [True, False, False, True]
    assert Entry.objects.filter(action="sign-out", actor="editor").count() == 2


def test_t48_who_ends_the_session_they_are_in_is_signed_out(editor: Any) -> None:
    browser = sign_in("editor", PASSWORD)
    name = browser.get("/me/sessions/").context["sessions"][0].name
    answer = browser.post(f"/me/sessions/{name}/end/")
    assert (answer.status_code, answer.url) == (302, "/sign-in/") and not is_in(browser)


@pytest.mark.sqlite  # which has one writer at a time
def test_t48_a_busy_database_makes_no_page_late(house: House) -> None:
    """Somebody writes for a while; the time of the last use is left out, and written with the next request."""
    house.manage("load_demo")
    address, browser = house.start_web(), requests.Session()
    page = browser.get(f"{address}/sign-in/").text
    token = re.search(r'name="csrfmiddlewaretoken" value="(\w+)"', page)[1]
    password = re.search(r"^developer +(\S+)", (house.folder / "demo-sign-ins").read_text(), re.M)[1]
    sent = {"csrfmiddlewaretoken": token, "username": "developer", "password": password}
    assert browser.post(f"{address}/sign-in/", sent).ok
    with closing(sqlite3.connect(house.folder / "doc_library.sqlite3", isolation_level=None)) as other:
        other.execute("UPDATE clearinghouse_session SET seen_at = '2026-01-01 00:00:00'")
        other.execute("BEGIN IMMEDIATE")
        began = time.perf_counter()
        answer = browser.get(f"{address}/me/sessions/")
        assert time.perf_counter() - began < LOCK_WAIT_SECONDS / 2
        assert answer.ok and "This browser" in answer.text
        other.execute("ROLLBACK")
        browser.get(f"{address}/me/sessions/")
        ((seen,),) = other.execute("SELECT seen_at FROM clearinghouse_session").fetchall()
    assert not seen.startswith("2026-01-01")


@pytest.mark.sqlite
def test_t48_nor_does_it_make_a_program_late(house: House) -> None:
    """The last use of its key is left out: it waited for the writer, and was answered "database is locked"."""
    house.manage("load_demo")
    made = "from django.contrib.auth import get_user_model as m; from clearinghouse.accounts.keys import api_keys;"
    made += 'print(api_keys.create(m().objects.get(username="developer"), "test")[1])'
    key = house.run("shell", "-c", made).stdout.split()[-1]
    address = house.start_web()
    with closing(sqlite3.connect(house.folder / "doc_library.sqlite3", isolation_level=None)) as other:
        other.execute("BEGIN IMMEDIATE")
        began = time.perf_counter()
        answer = requests.get(f"{address}/api/v1/me/", headers={"Authorization": f"Bearer {key}"}, timeout=60)
        assert time.perf_counter() - began < LOCK_WAIT_SECONDS / 2 and answer.ok
        other.execute("ROLLBACK")


def test_t48_the_last_use_is_written_every_two_minutes_at_most(editor: Any) -> None:
    browser = sign_in("editor", PASSWORD)
    browser.get("/me/sessions/")
    before = BrowserSession.objects.get().seen_at
    browser.get("/me/sessions/")
    assert BrowserSession.objects.get().seen_at == before


def test_t48_everything_that_asks_by_itself_is_known_as_such() -> None:
    from clearinghouse.web.middleware import POLLS
    from tests.house.test_templates import templates

    asking = [tag for text in templates().values() for tag in re.findall(r'<\w+[^<]*?hx-trigger="every', text)]
    ids = {re.search(r'\bid="([\w-]+)"', tag)[1] for tag in asking}
    assert ids == POLLS


def test_t48_another_password_of_another_person_ends_nobody_elses(editor: Any) -> None:
    other = make_person("other", Role.DEVELOPER)
    mine, theirs = sign_in("editor", PASSWORD), sign_in("other", PASSWORD)
    services.reset_password(other)
    assert is_in(mine) and not is_in(theirs)
