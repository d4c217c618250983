"""Administrators manage people; nobody else learns more of these pages than is theirs (managers: test_members)."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from clearinghouse.accounts.models import Person
from clearinghouse.audit.models import Entry
from clearinghouse.library.models import Project
from tests.people import PASSWORD

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def browser(signed_in: Any, administrator: Any) -> Client:
    return signed_in(administrator)


def test_the_list_shows_everybody_with_role_and_projects(browser: Client, editor: Any, reader: Any) -> None:
    page = browser.get("/settings/people/").content.decode()
    assert "editor" in page
    assert "Indexer (read only)" in page
    assert "Quality measures" in page


def test_adding_a_person_shows_a_password_once_that_works(browser: Client, project: Project) -> None:
    given = {"username": "anna", "first_name": "Anna", "role": "manager", "projects": [project.pk]}
    page = browser.post("/settings/people/new/", given).content.decode()
    password = re.search(r'<code id="password">([^<]+)<', page).group(1)
    user = get_user_model().objects.get(username="anna")
    assert user.check_password(password)
    assert (user.person.role, list(user.person.projects.all())) == ("manager", [project])
    assert not user.is_staff
    assert password not in browser.get("/settings/people/").content.decode()
    entry = Entry.objects.get(kind="person", action="add")
    assert password not in str(entry.after) + entry.sentence
    assert entry.after["projects"] == [project.name]


def test_a_name_taken_in_other_letters_is_refused(browser: Client, editor: Any) -> None:
    response = browser.post("/settings/people/new/", {"username": "EDITOR"})
    assert response.status_code == 422
    assert "already taken" in response.content.decode() and "Choose a role" in response.content.decode()


def test_editing_changes_role_and_projects_and_is_written_down(browser: Client, editor: Any) -> None:
    fresh = Project.objects.create(name="Second")
    given = {"role": "indexer", "projects": [fresh.pk], "last_name": "Ng"}
    assert browser.post(f"/settings/people/{editor.pk}/", given).status_code == 302
    person = Person.objects.get(user=editor)
    assert (person.role, list(person.projects.all()), person.user.last_name) == ("indexer", [fresh], "Ng")
    entry = Entry.objects.get(kind="person", action="change")
    assert (entry.before["role"], entry.after["role"]) == ("developer", "indexer")
    assert (entry.actor, entry.after["projects"]) == ("administrator", ["Second"])


def test_a_user_without_a_role_can_be_given_one(browser: Client) -> None:
    user = get_user_model().objects.create_user("bare")
    assert browser.get(f"/settings/people/{user.pk}/").status_code == 200
    browser.post(f"/settings/people/{user.pk}/", {"role": "developer"})
    assert Person.objects.get(user=user).role == "developer"


def test_a_new_password_ends_the_sessions_of_that_person(browser: Client, signed_in: Any, editor: Any) -> None:
    theirs = signed_in(editor)
    page = browser.post(f"/settings/people/{editor.pk}/password/").content.decode()
    password = re.search(r'<code id="password">([^<]+)<', page).group(1)
    editor.refresh_from_db()
    assert editor.check_password(password)
    assert not editor.check_password(PASSWORD)
    assert theirs.get("/me/").status_code == 302


def test_a_deactivated_person_is_out_at_once_and_can_be_brought_back(
    browser: Client, signed_in: Any, editor: Any
) -> None:
    theirs = signed_in(editor)
    browser.post(f"/settings/people/{editor.pk}/active/", {"active": "0"})
    assert theirs.get("/me/").status_code == 302
    assert "Inactive" in browser.get("/settings/people/").content.decode()
    browser.post(f"/settings/people/{editor.pk}/active/", {"active": "1"})
    assert get_user_model().objects.get(pk=editor.pk).is_active


def test_administrators_cannot_lock_themselves_out(browser: Client, administrator: Any) -> None:
    browser.post(f"/settings/people/{administrator.pk}/active/", {"active": "0"})
    response = browser.post(f"/settings/people/{administrator.pk}/", {"role": "indexer"})
    assert response.status_code == 422
    administrator.refresh_from_db()
    assert administrator.is_active
    assert administrator.person.role == "administrator"


def _pages(user: Any) -> list[tuple[str, str]]:
    base = f"/settings/people/{user.pk}/"
    return [
        ("GET", "/settings/people/"),
        ("GET", "/settings/people/new/"),
        ("POST", "/settings/people/new/"),
        ("GET", base),
        ("POST", base),
        ("POST", f"{base}password/"),
        ("POST", f"{base}active/"),
    ]


def everything() -> list[Any]:
    """All that is known of people, and how much was written down about them."""
    tables = (get_user_model(), Person)
    return [*(list(table.objects.order_by("pk").values()) for table in tables), Entry.objects.count()]


def test_every_people_page_needs_sign_in_and_who_manages_people(
    client: Client, signed_in: Any, editor: Any, reader: Any, stranger: Any
) -> None:
    roleless = get_user_model().objects.create_user("roleless")
    given = {"username": "mallory", "role": "administrator", "active": "0"}
    before = everything()
    for method, path in _pages(editor):
        assert client.generic(method, path).status_code == 302
        for user in (editor, reader, stranger):
            response = _send(signed_in, user, method, path, given)
            assert response.status_code == 403, (user, method, path)
            assert "Who can grant it: an administrator" in response.content.decode()
        assert _send(signed_in, roleless, method, path, given).status_code == 404
    for row in before[0]:
        row["last_login"] = get_user_model().objects.get(pk=row["id"]).last_login
    assert before == everything()


def _send(signed_in: Any, user: Any, method: str, path: str, given: dict[str, str]) -> Any:
    browser = signed_in(user)
    return browser.get(path) if method == "GET" else browser.post(path, given)


def test_reading_changes_nothing_and_commands_are_not_reached_by_get(browser: Client, editor: Any) -> None:
    before = Entry.objects.count()
    for method, path in _pages(editor):
        assert browser.get(path).status_code == (200 if ("GET", path) in _pages(editor) else 405), (method, path)
    assert Entry.objects.count() == before


def test_extra_fields_in_a_form_do_nothing(browser: Client, editor: Any) -> None:
    given = {"role": "developer", "is_superuser": "on", "is_staff": "on", "password": "x", "username": "renamed"}
    browser.post(f"/settings/people/{editor.pk}/", given)
    editor.refresh_from_db()
    assert (editor.username, editor.is_superuser, editor.is_staff) == ("editor", False, False)
    assert editor.check_password(PASSWORD)


def test_the_list_costs_the_same_queries_for_twice_the_people(
    browser: Client, project: Project, django_assert_max_num_queries: Any
) -> None:
    from clearinghouse.accounts import services
    from clearinghouse.accounts.models import Role

    for number in range(30):
        services.add_person(f"person{number}", Role.INDEXER, [project])
    with django_assert_max_num_queries(6):
        browser.get("/settings/people/")
