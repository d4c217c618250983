"""The people of every test: always the same three around one document, a manager and an administrator.

editor     content developer, assigned to `document`
reader     indexer, member of the document's project: sees it, changes nothing
stranger   content developer of another project: `document` does not exist for them
manager    project manager of the document's project
administrator   may do everything
"""

from collections.abc import Callable
from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.test import Client

from clearinghouse.accounts.models import Person, Role
from clearinghouse.library import services
from clearinghouse.library.models import Document, Project

PASSWORD = "correct horse battery"
PROJECT = "Quality measures"
TITLE = "Measures of hospital quality"


def make_person(name: str, role: Role, *projects: Project) -> Any:
    user = get_user_model().objects.create_user(name, password=PASSWORD)
    person = Person.objects.create(user=user, role=role)
    person.projects.set(projects)
    return user


@pytest.fixture
def project(db: Any) -> Project:
    return Project.objects.create(name=PROJECT)


@pytest.fixture
def document(project: Project) -> Document:
    return services.add_document(TITLE, project=project.name)


@pytest.fixture
def other_document(db: Any) -> Document:
    """The stranger's document, in the stranger's project."""
    return services.add_document("Asthma guideline", project="Guidelines")


@pytest.fixture
def editor(document: Document, project: Project) -> Any:
    user = make_person("editor", Role.DEVELOPER, project)
    services.assign(document, user)
    return user


@pytest.fixture
def reader(project: Project) -> Any:
    return make_person("reader", Role.INDEXER, project)


@pytest.fixture
def stranger(other_document: Document) -> Any:
    user = make_person("stranger", Role.DEVELOPER, other_document.sheet.project)
    services.assign(other_document, user)
    return user


@pytest.fixture
def manager(project: Project) -> Any:
    return make_person("manager", Role.MANAGER, project)


@pytest.fixture
def administrator(db: Any) -> Any:
    return make_person("administrator", Role.ADMINISTRATOR)


@pytest.fixture
def signed_in() -> Callable[[Any], Client]:
    """signed_in(editor) is a browser in which the editor has signed in."""

    def browser(user: Any) -> Client:
        client = Client()
        client.force_login(user)
        return client

    return browser
