"""Sessions and people are read anew for every request, cheaply; what changed meanwhile counts at once."""

from collections.abc import Callable
from datetime import timedelta
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.db import connections
from django.test import Client
from django.test.utils import CaptureQueriesContext
from django.utils import timezone

from clearinghouse.accounts.models import BrowserSession, Person, Role
from clearinghouse.accounts.sign_in.sessions import BACKEND, BACKEND_BEFORE, PeopleBackend, SessionStore
from clearinghouse.library import services
from clearinghouse.library.models import Document
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db(databases="__all__")
SignedIn = Callable[[Any], Client]


class Listener(ModelBackend):
    """Stands behind ours and notes whether it was asked."""

    asked = 0

    def authenticate(self, request: Any, **credentials: Any) -> Any:
        Listener.asked += 1
        return super().authenticate(request, **credentials)


def test_knowing_who_asks_takes_two_questions(signed_in: SignedIn, editor: Any) -> None:
    browser = signed_in(editor)
    browser.get("/healthz")
    with CaptureQueriesContext(connections["default"]) as asked:
        browser.get("/help/topic-that-is-not-there/")
    told = [one["sql"] for one in asked.captured_queries]
    assert len([sql for sql in told if "clearinghouse_session" in sql or "auth_user" in sql]) == 2


def test_a_session_that_was_ended_elsewhere_opens_nothing_any_more(signed_in: SignedIn, editor: Any) -> None:
    browser = signed_in(editor)
    assert browser.get("/documents/").status_code == 200
    BrowserSession.objects.all().delete()
    assert browser.get("/documents/")["Location"].startswith("/sign-in/")


def test_an_update_signs_nobody_out(signed_in: SignedIn, editor: Any) -> None:
    browser = signed_in(editor)
    stored = SessionStore(browser.cookies["sessionid"].value)
    stored[BACKEND] = BACKEND_BEFORE
    stored.save()
    assert browser.get("/documents/").status_code == 200


def test_a_session_that_is_over_opens_nothing(signed_in: SignedIn, editor: Any) -> None:
    browser = signed_in(editor)
    BrowserSession.objects.update(expire_date=timezone.now() - timedelta(seconds=1))
    assert browser.get("/documents/").status_code == 302


def test_who_is_deactivated_or_gets_another_password_is_out_with_the_next_request(
    signed_in: SignedIn, editor: Any, reader: Any
) -> None:
    browser, other = signed_in(editor), signed_in(reader)
    assert browser.get("/documents/").status_code == other.get("/documents/").status_code == 200
    get_user_model().objects.filter(pk=editor.pk).update(is_active=False)
    reader.set_password("another one altogether")
    reader.save()
    assert browser.get("/documents/").status_code == other.get("/documents/").status_code == 302


def test_another_role_counts_with_the_next_request(signed_in: SignedIn, administrator: Any) -> None:
    browser = signed_in(administrator)
    assert browser.get("/settings/").status_code == 200
    Person.objects.filter(user=administrator).update(role=Role.INDEXER)
    assert browser.get("/settings/").status_code == 403
    Person.objects.filter(user=administrator).delete()
    assert browser.get("/crawls/").status_code == 404


def test_a_document_given_or_taken_counts_with_the_next_request(
    signed_in: SignedIn, stranger: Any, document: Document
) -> None:
    browser = signed_in(stranger)
    address = f"/documents/{document.pk}/crawl-points/"
    assert browser.get(address).status_code == 404
    services.assign(document, stranger)
    assert browser.get(address).status_code == 200
    services.unassign(document, stranger)
    assert browser.get(address).status_code == 404


def test_a_person_is_read_with_the_user(editor: Any, django_assert_num_queries: Any) -> None:
    superuser = get_user_model().objects.create_superuser("root", password=PASSWORD)
    with django_assert_num_queries(2):
        known, root = PeopleBackend().get_user(editor.pk), PeopleBackend().get_user(superuser.pk)
        assert known == editor and known.person.role == Role.DEVELOPER and known.person.user is known
        assert root.is_superuser and getattr(root, "person", None) is None
    assert known.last_login is None and known.date_joined == editor.date_joined
    known.person.role = Role.MANAGER
    known.person.save(update_fields=["role"])
    assert Person.objects.get(user=editor).role == Role.MANAGER
    assert PeopleBackend().get_user(10**9) is None


def test_a_session_that_names_the_backend_of_django_goes_on(client: Client, editor: Any) -> None:
    client.force_login(editor, backend="django.contrib.auth.backends.ModelBackend")
    assert client.get("/documents/").status_code == 200


def test_a_wrong_password_is_computed_once(client: Client, editor: Any, settings: Any) -> None:
    settings.AUTHENTICATION_BACKENDS = ["clearinghouse.accounts.sign_in.sessions.PeopleBackend", f"{__name__}.Listener"]
    answer = client.post("/sign-in/", {"username": "editor", "password": "wrong"})
    assert answer.status_code == 422 and Listener.asked == 0
