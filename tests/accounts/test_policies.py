"""The matrix of roles and scopes, read back as sentences."""

from typing import Any

import pytest
from django.contrib.auth import get_user_model
from django.contrib.auth.models import AnonymousUser
from django.http import Http404

from clearinghouse.accounts import options
from clearinghouse.accounts.policies import (
    Action,
    NotAllowed,
    doc_ids_for,
    document_or_404,
    documents_for,
    may,
    require,
    role_of,
    who_can_grant,
)
from clearinghouse.library import services
from clearinghouse.library.models import Document, Sheet
from tests.people import PROJECT

pytestmark = pytest.mark.django_db(databases="__all__")

_EXPECTED = {
    # action: who may do it to `document` among editor, reader, manager, administrator (never the stranger)
    Action.VIEW: "editor reader manager administrator",
    Action.EDIT: "editor manager administrator",
    Action.TEST: "editor reader manager administrator",
    Action.REQUEST: "editor manager",
    Action.LAUNCH: "administrator",
    Action.CONTROL: "administrator",
    Action.VIEW_RUNS: "editor reader manager administrator",
    Action.PROPAGATE: "administrator",
    Action.VIEW_PROPAGATION: "manager administrator",
    Action.ADMINISTER: "administrator",
    Action.ASSIGN: "manager administrator",
    Action.MANAGE_PEOPLE: "manager administrator",
    Action.CURATE: "manager administrator",
}


@pytest.mark.parametrize("action", Action)
def test_the_matrix_decides_for_every_role_and_action(
    action: Action, document: Document, editor: Any, reader: Any, manager: Any, administrator: Any, stranger: Any
) -> None:
    people = {
        "editor": editor,
        "reader": reader,
        "manager": manager,
        "administrator": administrator,
        "stranger": stranger,
    }
    allowed = " ".join(name for name, user in people.items() if may(user, action, document))
    assert allowed == _EXPECTED[action]


def test_a_developer_reads_but_does_not_edit_other_documents_of_the_project(document: Document, editor: Any) -> None:
    neighbour = services.add_document("Neighbour", project=PROJECT)
    assert may(editor, Action.VIEW, neighbour)
    assert not may(editor, Action.EDIT, neighbour)
    assert not may(editor, Action.VIEW_RUNS, neighbour)
    with pytest.raises(NotAllowed):
        document_or_404(editor, neighbour.pk, Action.EDIT)


def test_a_document_somebody_may_not_see_does_not_exist(document: Document, stranger: Any) -> None:
    with pytest.raises(Http404):
        document_or_404(stranger, document.pk)
    with pytest.raises(Http404):
        document_or_404(stranger, document.pk, Action.EDIT)


def test_a_deleted_document_is_found_by_nobody(document: Document, administrator: Any) -> None:
    services.delete_document(document)
    with pytest.raises(Http404):
        document_or_404(administrator, document.pk)
    assert list(documents_for(administrator)) == []


def test_a_document_without_a_cover_sheet_is_seen_by_administrators(administrator: Any, stranger: Any) -> None:
    bare = Document.objects.create()
    assert document_or_404(administrator, bare.pk).title == f"Document {bare.pk}"
    assert not may(stranger, Action.VIEW, bare)


def test_a_superuser_is_an_administrator_without_being_given_a_role(db: Any) -> None:
    root = get_user_model().objects.create_superuser("root", password="x")
    assert role_of(root) == "administrator"
    assert may(root, Action.LAUNCH)


def test_nobody_and_people_without_a_role_may_do_nothing(document: Document) -> None:
    roleless = get_user_model().objects.create_user("roleless")
    for user in (AnonymousUser(), roleless):
        assert role_of(user) is None
        assert not any(may(user, action) or may(user, action, document) for action in Action)
        assert not any(documents_for(user, action).exists() or doc_ids_for(user, action) for action in Action)
        with pytest.raises(Http404):
            require(user, Action.LAUNCH)
        with pytest.raises(Http404):
            document_or_404(user, document.pk)


def test_lists_hold_nothing_for_what_a_role_may_not_do(document: Document, reader: Any) -> None:
    assert list(documents_for(reader)) == [document]
    assert not documents_for(reader, Action.EDIT).exists() and doc_ids_for(reader, Action.EDIT) == set()


def test_a_deactivated_person_may_do_nothing(document: Document, administrator: Any) -> None:
    administrator.is_active = False
    assert not may(administrator, Action.VIEW, document)
    assert not documents_for(administrator).exists() and doc_ids_for(administrator) == set()


def test_members_of_a_deleted_project_lose_sight_of_it(document: Document, reader: Any) -> None:
    Sheet.objects.get(pk=document.pk).project.delete()
    assert not may(reader, Action.VIEW, document)


def test_keys_for_other_databases_are_all_or_a_set(document: Document, editor: Any, administrator: Any) -> None:
    assert doc_ids_for(administrator, Action.VIEW_RUNS) is None
    assert doc_ids_for(editor, Action.VIEW_RUNS) == {document.pk}


def test_a_refusal_names_who_can_grant_it(document: Document, manager: Any, administrator: Any) -> None:
    assert who_can_grant(Action.EDIT, document) == "the project manager, manager"
    assert who_can_grant(Action.LAUNCH, document) == "an administrator, administrator"


def test_listing_documents_costs_one_query(document: Document, editor: Any, django_assert_num_queries: Any) -> None:
    assert role_of(editor)
    with django_assert_num_queries(1):
        for each in documents_for(editor):
            assert each.title
            assert each.sheet.project.name
            assert each.status is None


@pytest.mark.parametrize("action", [Action.LAUNCH, Action.CONTROL])
def test_administrators_may_let_developers_and_managers_launch_what_is_theirs(
    action: Action, document: Document, other_document: Document, editor: Any, manager: Any, reader: Any
) -> None:
    options.choose({options.DEVELOPERS_LAUNCH: "yes"})
    assert may(editor, action, document)
    assert not may(editor, action, other_document)
    assert not may(manager, action, document)
    assert not may(reader, action, document)
    options.choose({options.DEVELOPERS_LAUNCH: "no", options.MANAGERS_LAUNCH: "yes"})
    later = [get_user_model().objects.get(pk=user.pk) for user in (editor, manager)]
    assert not may(later[0], action, document)
    assert may(later[1], action, document)
    assert not may(later[1], action, other_document)
    assert not may(later[1], Action.PROPAGATE)
