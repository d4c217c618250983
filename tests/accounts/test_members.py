"""Project managers manage the members of their own projects, and reach nobody and nothing else by it."""

import re
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from clearinghouse.accounts.models import Person, Role
from clearinghouse.library import services as library
from clearinghouse.library.models import Document, Project
from tests.people import PASSWORD, make_person

pytestmark = pytest.mark.django_db(databases="__all__")


@pytest.fixture
def browser(signed_in: Any, manager: Any) -> Client:
    return signed_in(manager)


def test_managers_find_the_members_of_their_projects_and_nobody_else(
    browser: Client, editor: Any, reader: Any, stranger: Any, administrator: Any
) -> None:
    assert 'href="/settings/"' in browser.get("/documents/").content.decode()
    assert 'href="/settings/people/"' in (page := browser.get("/settings/").content.decode())
    assert "/settings/workers/" not in page and "/settings/projects/" not in page
    assert [user for user, _ in browser.get("/settings/people/").context["rows"]] == [editor, reader]


def test_managers_add_members_to_their_projects_only(browser: Client, project: Project, stranger: Any) -> None:
    given = {"username": "anna", "role": "developer", "projects": [project.pk]}
    page = browser.post("/settings/people/new/", given).content.decode()
    user = get_user_model().objects.get(username="anna")
    assert user.check_password(re.search(r'<code id="password">([^<]+)<', page).group(1))
    assert list(user.person.projects.all()) == [project]
    theirs = stranger.person.projects.get()
    for wrong in ({"projects": [theirs.pk]}, {"projects": []}, {"role": "administrator"}, {"role": "manager"}):
        answer = browser.post("/settings/people/new/", given | {"username": "mallory"} | wrong)
        assert answer.status_code == 422, wrong
    assert not get_user_model().objects.filter(username="mallory").exists()


def test_managers_change_role_and_sign_in_of_their_members(browser: Client, editor: Any, project: Project) -> None:
    page = f"/settings/people/{editor.pk}/"
    assert browser.post(page, {"role": "indexer", "projects": [project.pk]}).status_code == 302
    assert Person.objects.get(user=editor).role == "indexer"
    assert browser.post(page, {"role": "administrator", "projects": [project.pk]}).status_code == 422
    browser.post(f"{page}password/")
    browser.post(f"{page}active/", {"active": "0"})
    editor.refresh_from_db()
    assert (editor.check_password(PASSWORD), editor.is_active) == (False, False)


@pytest.mark.parametrize("reach", ["project", "document"])
def test_who_reaches_more_than_the_managers_projects_keeps_password_role_and_other_memberships(
    browser: Client, editor: Any, project: Project, other_document: Document, reach: str
) -> None:
    other = other_document.sheet.project
    if reach == "project":
        editor.person.projects.add(other)
    else:
        library.assign(other_document, editor)
    page = f"/settings/people/{editor.pk}/"
    assert "also works outside your projects" in browser.get(page).content.decode()
    assert browser.post(f"{page}password/").status_code == 403
    assert browser.post(f"{page}active/", {"active": "0"}).status_code == 403
    assert browser.post(page, {"role": "indexer", "first_name": "X", "projects": []}).status_code == 302
    editor.refresh_from_db()
    assert (editor.person.role, editor.first_name, editor.is_active) == ("developer", "", True)
    assert editor.check_password(PASSWORD)
    assert list(editor.person.projects.all()) == ([other] if reach == "project" else [])


def test_managers_do_not_reach_other_managers_administrators_and_strangers(
    browser: Client, project: Project, stranger: Any
) -> None:
    chief = make_person("chief", Role.ADMINISTRATOR, project)
    peer = make_person("peer", Role.MANAGER, project)
    for person in (chief, peer, stranger):
        page = f"/settings/people/{person.pk}/"
        assert browser.get(page).status_code == 404
        for path in (page, f"{page}password/", f"{page}active/"):
            assert browser.post(path, {"role": "indexer", "active": "0"}).status_code == 404
        person.refresh_from_db()
        assert person.is_active and person.check_password(PASSWORD)
