"""Owns: who may do what to which document, as one map. Does not: know about requests or pages.

Called by: every view, the admin, the commands that act for a person. There is no other way to a document.
"""

from enum import StrEnum
from functools import lru_cache
from typing import Any

from django.contrib.auth import get_user_model
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.db.models import Q, QuerySet
from django.http import Http404

from clearinghouse.library.models import Document, Project

from ..database.aliases import DEFAULT
from . import options
from .models import Role


class Action(StrEnum):
    VIEW = "view"
    EDIT = "edit"
    TEST = "test"
    REQUEST = "request"
    LAUNCH = "launch"
    CONTROL = "control"
    VIEW_RUNS = "view_runs"
    PROPAGATE = "propagate"
    VIEW_PROPAGATION = "view_propagation"
    ADMINISTER = "administer"
    ASSIGN = "assign"
    MANAGE_PEOPLE = "manage_people"
    CURATE = "curate"


class RoleScope(StrEnum):
    NOTHING = "nothing"
    OWN = "own"  # documents assigned to the person
    PROJECT = "project"  # documents of the person's projects
    OWN_AND_PROJECT = "own and project"
    ALL = "all"


# What each role may do, and to which documents; what is not named, it may not do.
POWERS: dict[Role, dict[Action, RoleScope]] = {
    Role.DEVELOPER: {
        Action.VIEW: RoleScope.OWN_AND_PROJECT,
        Action.EDIT: RoleScope.OWN,
        Action.TEST: RoleScope.OWN,
        Action.REQUEST: RoleScope.OWN,
        Action.VIEW_RUNS: RoleScope.OWN,
    },
    Role.INDEXER: dict.fromkeys((Action.VIEW, Action.TEST, Action.VIEW_RUNS), RoleScope.PROJECT),
    Role.MANAGER: {
        Action.VIEW: RoleScope.PROJECT,
        Action.EDIT: RoleScope.PROJECT,
        Action.TEST: RoleScope.PROJECT,
        Action.REQUEST: RoleScope.PROJECT,
        Action.VIEW_RUNS: RoleScope.PROJECT,
        Action.VIEW_PROPAGATION: RoleScope.ALL,
        Action.ASSIGN: RoleScope.PROJECT,
        Action.MANAGE_PEOPLE: RoleScope.PROJECT,
        Action.CURATE: RoleScope.PROJECT,
    },
    Role.ADMINISTRATOR: dict.fromkeys(set(Action) - {Action.REQUEST}, RoleScope.ALL),
}

# What the administrators may grant by a setting: role, the setting, the scope it gives.
GRANTS: dict[Role, tuple[str, RoleScope]] = {
    Role.DEVELOPER: (options.DEVELOPERS_LAUNCH, RoleScope.OWN),
    Role.MANAGER: (options.MANAGERS_LAUNCH, RoleScope.PROJECT),
}
_ANYBODY = -19_700_101  # nobody's key: its place in a statement
GRANTABLE = (Action.LAUNCH, Action.CONTROL)


class NotAllowed(PermissionDenied):
    """A person who may see the thing may not do this to it; its text, shown on the page, says who can grant it."""

    def __init__(self, action: Action, document: Document | None = None) -> None:
        super().__init__(f"Who can grant it: {who_can_grant(action, document)}.")
        self.action = action
        self.document = document


def role_of(user: Any) -> Role | None:
    """None for visitors, inactive users and users nobody gave a role."""
    if not getattr(user, "is_active", False) or not user.is_authenticated:
        return None
    if user.is_superuser:
        return Role.ADMINISTRATOR
    person = getattr(user, "person", None)
    return Role(person.role) if person and person.role else None


def scope_of(user: Any, action: Action) -> RoleScope:
    role = role_of(user)
    if role is None:
        return RoleScope.NOTHING
    granted = _granted(user, role) if action in GRANTABLE and action not in POWERS[role] else RoleScope.NOTHING
    return POWERS[role].get(action, granted)


def _granted(user: Any, role: Role) -> RoleScope:
    """Asked once in a request: the answer is kept on its user."""
    if role not in GRANTS:
        return RoleScope.NOTHING
    option, scope = GRANTS[role]
    if not hasattr(user, "launch_granted"):
        user.launch_granted = options.text(option) == "yes"
    return scope if user.launch_granted else RoleScope.NOTHING


def may(user: Any, action: Action, document: Document | None = None) -> bool:
    """Without a document: whether there can be any document (or thing) this person may do this to."""
    scope = scope_of(user, action)
    if document is None or scope in (RoleScope.NOTHING, RoleScope.ALL):
        return scope is not RoleScope.NOTHING
    return Document.everything.filter(_within(user.pk, scope), pk=document.pk).exists()


def documents_for(user: Any, action: Action = Action.VIEW) -> QuerySet[Document]:
    documents = Document.objects.select_related("sheet__project", "status")
    return documents.filter(_within(user.pk, scope_of(user, action)))


def document_or_404(user: Any, doc_id: int, action: Action = Action.VIEW) -> Document:
    """The document; 404 for who may not see it, Refused for who may see it but not do this."""
    document = documents_for(user).filter(pk=doc_id).first()
    if document is None:
        raise Http404("No such document")
    if action is not Action.VIEW and not may(user, action, document):
        raise NotAllowed(action, document)
    return document


def sees_logins(user: Any) -> bool:
    """Whether the user IDs of crawl points are shown: to every role that edits some, not to those who only read."""
    return may(user, Action.EDIT)


def require(user: Any, action: Action) -> None:
    """For things that belong to no document: 404 for people without a role, Refused for the others."""
    if role_of(user) is None:
        raise Http404("No such page")
    if not may(user, action):
        raise NotAllowed(action)


def doc_ids_for(user: Any, action: Action = Action.VIEW) -> set[int] | None:
    """Keys for filtering another database; None means every document, deleted ones too."""
    scope = scope_of(user, action)
    if scope is RoleScope.ALL:
        return None
    if scope is RoleScope.NOTHING:
        return set()
    statement, parameters = _keys_within(scope)
    with connections[DEFAULT].cursor() as cursor:
        cursor.execute(statement, [user.pk if one == _ANYBODY else one for one in parameters])
        return {row[0] for row in cursor.fetchall()}


@lru_cache
def _keys_within(scope: RoleScope) -> tuple[str, tuple[Any, ...]]:
    """The question, put together once in a process: that takes ten times as long as answering it, and polls ask it."""
    return Document.objects.filter(_within(_ANYBODY, scope)).values_list("pk").query.sql_with_params()


def who_can_grant(action: Action, document: Document | None = None) -> str:
    """Whom to ask, by name: managers of the document's project where they may do it, else administrators."""
    people = get_user_model().objects.filter(is_active=True)
    sheet = getattr(document, "sheet", None)
    if sheet and sheet.project_id and action in POWERS[Role.MANAGER]:
        managers = people.filter(person__role=Role.MANAGER, person__projects=sheet.project_id)
        if names := _names(managers):
            return f"the project manager, {names}"
    administrators = people.filter(Q(is_superuser=True) | Q(person__role=Role.ADMINISTRATOR)).distinct()
    names = _names(administrators)
    return f"an administrator, {names}" if names else "an administrator"


def _names(people: Any) -> str:
    return " or ".join(user.get_full_name() or user.get_username() for user in people.order_by("pk")[:3])


def _within(user_id: Any, scope: RoleScope) -> Q:
    own = Q(pk__in=Document.everything.filter(assignments__person=user_id).values("pk"))
    projects = Project.objects.filter(people=user_id).values("pk")
    in_project = Q(pk__in=Document.everything.filter(sheet__project__in=projects).values("pk"))
    return {
        RoleScope.NOTHING: Q(pk__in=[]),
        RoleScope.OWN: own,
        RoleScope.PROJECT: in_project,
        RoleScope.OWN_AND_PROJECT: own | in_project,
        RoleScope.ALL: Q(),
    }[scope]
