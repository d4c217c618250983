"""Trying passwords: from one address, from everywhere, in a session; and what is written of it (threats T49 to T52)."""

import threading
import time
from collections.abc import Iterator
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.hashers import MD5PasswordHasher
from django.test import Client

from clearinghouse.accounts import services
from clearinghouse.accounts.models import RecentEvent
from clearinghouse.accounts.sign_in import password_hashing, sign_in_audit
from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Document
from crawler.preview import sign_in_tries
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db(databases="__all__")
NEW = "an entirely new sentence"


class CountingHasher(MD5PasswordHasher):
    """A real one that counts; the second name makes Django take it for another than the fast one of the tests."""

    algorithm = "counting"
    computed = 0

    def encode(self, password: str, salt: str) -> str:
        CountingHasher.computed += 1
        return super().encode(password, salt)


@pytest.fixture
def computed(settings: Any) -> Iterator[Any]:
    """How many passwords were computed since."""
    settings.PASSWORD_HASHERS = [f"{__name__}.CountingHasher", *settings.PASSWORD_HASHERS]
    CountingHasher.computed = 0
    yield lambda: CountingHasher.computed


def knock(name: str, password: str, address: str = "198.51.100.9") -> Any:
    return Client(REMOTE_ADDR=address).post("/sign-in/", {"username": name, "password": password})


def later(by: timedelta) -> None:
    for row in RecentEvent.objects.all():
        RecentEvent.objects.filter(pk=row.pk).update(at=row.at - by, until=row.until - by)


# T49: one address ----------------------------------------------------------------------------------------------------


def test_t49_of_24_names_from_one_address_ten_are_computed(computed: Any, db: Any) -> None:
    codes = [knock(f"name{number}", "Summer2026!").status_code for number in range(24)]
    assert codes == [422] * 10 + [429] * 14
    assert computed() == 10
    assert knock("name1", "Summer2026!", "198.51.100.10").status_code == 422


def test_t49_and_of_all_addresses_of_one_household_together(db: Any) -> None:
    codes = [knock(f"n{number}", "x", f"2001:db8:9:9::{number:x}").status_code for number in range(12)]
    assert codes == [422] * 10 + [429] * 2


def test_t49_who_waits_is_told_how_long_and_keeps_what_they_typed(db: Any) -> None:
    for number in range(10):
        knock(f"name{number}", "x")
    refused = knock("anna", "x")
    page = refused.content.decode()
    assert "Too many wrong tries from your network address: try again in 15 minutes" in page
    assert 'value="anna"' in page and 800 < int(refused["Retry-After"]) <= 900
    later(timedelta(minutes=15, seconds=1))
    assert knock("anna", "x").status_code == 422


def test_t49_who_signed_in_from_there_lately_is_met_by_their_own_mistakes_only(editor: Any) -> None:
    assert knock("editor", PASSWORD).status_code == 302
    for number in range(10):
        knock(f"name{number}", "x")
    assert knock("reader", "x").status_code == 429
    assert knock("editor", "mistyped").status_code == 422
    assert knock("editor", PASSWORD).status_code == 302


def test_t49_an_own_account_does_not_wipe_out_what_is_counted(editor: Any) -> None:
    for number in range(9):
        knock(f"name{number}", "x")
    knock("editor", PASSWORD)
    assert [knock(f"more{number}", "x").status_code for number in range(3)] == [422, 429, 429]


def test_t49_a_refused_try_writes_nothing(editor: Any) -> None:
    for _ in range(5):
        knock("editor", "wrong")
    rows, entries = RecentEvent.objects.count(), Entry.objects.count()
    for _ in range(20):
        assert knock("editor", "wrong").status_code == 429
    assert (RecentEvent.objects.count(), Entry.objects.count()) == (rows, entries)


def test_t49_a_process_computes_one_password_at_a_time_and_few_wait() -> None:
    now_computing, most, refused = 0, 0, 0
    lock, begin = threading.Lock(), threading.Barrier(8)

    def one() -> None:
        nonlocal now_computing, most, refused
        begin.wait()
        try:
            with password_hashing.turn():
                with lock:
                    now_computing += 1
                    most = max(most, now_computing)
                time.sleep(0.2)
                with lock:
                    now_computing -= 1
        except password_hashing.TooManySignIns:
            with lock:
                refused += 1

    threads = [threading.Thread(target=one) for _ in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert (most, refused) == (password_hashing.AT_ONCE, 8 - password_hashing.AT_ONCE - password_hashing.WAITING)


def test_t49_while_others_are_computed_one_is_asked_to_press_again(editor: Any, computed: Any) -> None:
    """Nothing is counted against who was not looked at."""
    begun, leave = threading.Event(), threading.Event()

    def hold() -> None:
        with password_hashing.turn():
            begun.set()
            leave.wait(30)

    holders = [threading.Thread(target=hold) for _ in range(password_hashing.AT_ONCE + password_hashing.WAITING)]
    for thread in holders:
        thread.start()
    try:
        begun.wait(10)
        busy = knock("editor", PASSWORD)
    finally:
        leave.set()
        for thread in holders:
            thread.join()
    assert (busy.status_code, busy["Retry-After"]) == (429, "5")
    assert "Many people are signing in at the moment" in busy.content.decode()
    assert computed() == 0 and not RecentEvent.objects.exists()
    assert knock("editor", PASSWORD).status_code == 302


# T50: from everywhere ------------------------------------------------------------------------------------------------


def test_t50_nobody_locks_somebody_out_from_afar(editor: Any) -> None:
    """Ten addresses try two passwords each; the person still gets in, from a place known and from a new one."""
    assert knock("editor", PASSWORD, "192.0.2.1").status_code == 302
    codes = [knock("editor", "guess", f"203.0.113.{number}").status_code for number in range(10) for _ in range(2)]
    assert codes.count(422) == 15 and codes[-2:] == [422, 429]  # after ten each new place has one try in place of five
    assert [knock("editor", "mistyped", "192.0.2.1").status_code for _ in range(4)] == [422] * 4
    assert knock("editor", PASSWORD, "192.0.2.1").status_code == 302
    assert knock("editor", PASSWORD, "192.0.2.200").status_code == 302


def test_t50_nor_from_the_same_address(editor: Any) -> None:
    """Behind one proxy, or in one office: what a browser is known by counts for it alone."""
    mine = Client(REMOTE_ADDR="198.51.100.9")
    assert mine.post("/sign-in/", {"username": "editor", "password": PASSWORD}).status_code == 302
    cookie = mine.cookies["browser"]
    assert cookie["httponly"] and cookie["path"] == "/sign-in/" and "_auth_user_id" not in cookie.value
    mine.post("/sign-out/")
    assert [knock("editor", "guess").status_code for _ in range(6)] == [422] * 5 + [429]
    assert knock("editor", PASSWORD).status_code == 429
    tries = [mine.post("/sign-in/", {"username": "editor", "password": word}).status_code for word in ("x", PASSWORD)]
    assert tries == [422, 302]


def test_t50_a_cookie_that_nobody_was_given_buys_no_tries(editor: Any) -> None:
    codes = []
    for number in range(8):
        thief = Client(REMOTE_ADDR="198.51.100.9")
        thief.cookies["browser"] = f"made-up-{number}"
        codes.append(thief.post("/sign-in/", {"username": "editor", "password": "guess"}).status_code)
    assert codes == [422] * 5 + [429] * 3


def test_t50_a_cookie_has_five_tries_too_and_is_for_its_name_alone(editor: Any, reader: Any) -> None:
    mine = Client(REMOTE_ADDR="198.51.100.9")
    mine.post("/sign-in/", {"username": "editor", "password": PASSWORD})
    mine.post("/sign-out/")
    for name in ("editor", "reader"):
        codes = [mine.post("/sign-in/", {"username": name, "password": "guess"}).status_code for _ in range(6)]
        assert codes[-1] == 429 and codes.count(422) == 5


def test_t50_a_name_that_does_not_exist_is_slowed_like_any_other(editor: Any) -> None:
    def codes(name: str) -> list[int]:
        return [knock(name, "x", f"203.0.113.{number}").status_code for number in range(12) for _ in range(2)]

    assert codes("editor") == codes("nobody")


def test_t50_a_refusal_tells_nothing_of_the_account(editor: Any) -> None:
    for name in ("editor", "nobody"):
        for _ in range(5):
            knock(name, "x", f"203.0.113.{len(name)}")
    pages = [knock(name, "x", f"203.0.113.{len(name)}").content.decode() for name in ("editor", "nobody")]
    sentences = [page[page.index("There is a problem") : page.index("</ul>")] for page in pages]
    assert sentences[0] == sentences[1]


def test_t50_a_new_password_opens_at_once_where_the_old_one_was_tried_too_often(editor: Any) -> None:
    for _ in range(6):
        refused = knock("editor", "forgotten")
    assert "ask an administrator for a new password" in refused.content.decode()
    assert knock("editor", services.reset_password(editor)).status_code == 302


# T51: the audit ------------------------------------------------------------------------------------------------------


def test_t51_sign_ins_failures_and_limits_are_written_down(editor: Any) -> None:
    browser = {"User-Agent": "Mozilla/5.0 (Macintosh; Intel Mac OS X 15) AppleWebKit/605 Version/18 Safari/605"}
    Client(REMOTE_ADDR="192.0.2.1", headers=browser).post("/sign-in/", {"username": "editor", "password": PASSWORD})
    entry = Entry.objects.get(action="sign-in")
    assert (entry.actor, entry.thing_id, entry.kind) == ("editor", editor.pk, "user")
    assert entry.sentence == "editor signed in from 192.0.2.1 with Safari on macOS"
    for _ in range(6):
        knock("editor", "wrong")
    failed = Entry.objects.filter(action="sign-in failed")
    assert {one.sentence for one in failed} == {"Failed sign-in as editor from 198.51.100.9"} and failed.count() == 5
    limit = Entry.objects.get(action="sign-in limit")
    assert limit.sentence == "Five wrong passwords for editor from 198.51.100.9: refused there for 15 minutes"


def test_t51_what_nobody_is_called_is_not_written_it_may_be_a_password(editor: Any) -> None:
    knock("C4n4ry-swordfish", "x")
    knock("editor", "C4n4ry-swordfish")
    written = str(list(Entry.objects.values())) + str(list(RecentEvent.objects.values()))
    assert "C4n4ry" not in written and "a name that nobody has" in written


def test_t51_an_attack_does_not_fill_the_audit(db: Any) -> None:
    for number in range(130):
        knock("nobody", "x", f"10.{number}.0.1")
    failed = Entry.objects.filter(action__startswith="sign-in")
    assert failed.count() == sign_in_audit.MOST_AN_HOUR + 1
    assert "further ones are not listed" in failed.latest("id").sentence
    later(timedelta(hours=1))
    knock("nobody", "x", "10.200.0.1")
    assert failed.count() == sign_in_audit.MOST_AN_HOUR + 2


# T52: one's own password, typed in a session -------------------------------------------------------------------------


@pytest.mark.parametrize("form", ["password", "key"])
def test_t52_the_old_password_is_not_guessed_in_a_session(
    signed_in: Any, editor: Any, computed: Any, form: str
) -> None:
    browser = signed_in(editor)

    def guess(password: str) -> Any:
        if form == "key":
            return browser.post("/me/keys/new/", {"name": "mine", "days": "30", "password": password})
        given = {"old_password": password, "new_password1": NEW, "new_password2": NEW}
        return browser.post("/me/password/", given)

    for number in range(5):
        assert "not your password" in guess(f"guess{number}").content.decode()
    before = computed()
    refused = guess(PASSWORD)
    assert (
        refused.status_code == 422 and "Too many wrong passwords: try again in 15 minutes" in refused.content.decode()
    )
    assert computed() == before
    assert Entry.objects.filter(action="sign-in failed", actor="editor").count() == 5
    assert get_user_model().objects.get(pk=editor.pk).check_password(PASSWORD)
    later(timedelta(minutes=16))
    assert guess(PASSWORD).status_code in (200, 302)


# T9: signing in to a site --------------------------------------------------------------------------------------------


def test_t9_sign_ins_to_sites_are_counted_for_all_web_processes_together(document: Document) -> None:
    """The cache of another process is another one: what was counted there must count here."""
    from django.core.cache import cache

    may = []
    for _ in range(12):
        may.append(sign_in_tries._may_try(document))
        cache.clear()  # as another process would find it
    assert may == [True] * 10 + [False] * 2
    later(timedelta(seconds=301))
    assert sign_in_tries._may_try(document)
