"""Owns: which people somebody manages, and how far: administrators everybody, project managers those of their projects.

A project manager gives and takes membership in the own projects. Password, name and role of a person are the manager's
only while that person reaches nothing outside these projects: a new password would open that, too.
Does not: change people (services). Called by: the people screens.
"""

from typing import Any

from django.contrib.auth import get_user_model
from django.db.models import QuerySet
from django.http import Http404

from clearinghouse.library.models import Assignment, Project

from .models import Role
from .policies import Action, NotAllowed, RoleScope, require, scope_of

GIVEN_BY_MANAGERS = (Role.DEVELOPER, Role.INDEXER)


def projects_of(manager: Any) -> QuerySet[Project]:
    """The projects whose members this person manages."""
    scope = scope_of(manager, Action.MANAGE_PEOPLE)
    if scope is RoleScope.ALL:
        return Project.objects.all()
    return Project.objects.filter(people=manager.pk) if scope is RoleScope.PROJECT else Project.objects.none()


def manages_all(manager: Any) -> bool:
    return scope_of(manager, Action.MANAGE_PEOPLE) is RoleScope.ALL


def people_of(manager: Any) -> QuerySet[Any]:
    users = get_user_model().objects.all()
    if manages_all(manager):
        return users
    members = users.filter(is_superuser=False, person__role__in=GIVEN_BY_MANAGERS)
    return members.filter(person__projects__in=projects_of(manager)).distinct()


def person_or_404(manager: Any, user_id: int) -> Any:
    """404 for who is no member of a project of theirs."""
    require(manager, Action.MANAGE_PEOPLE)
    person = people_of(manager).filter(pk=user_id).first()
    if person is None:
        raise Http404("No such person")
    return person


def wholly(manager: Any, person: Any) -> bool:
    """Whether everything this person reaches is the manager's to give; a superuser's only by another one."""
    if person.is_superuser and not manager.is_superuser:
        return False
    if manages_all(manager):
        return True
    mine = projects_of(manager)
    elsewhere = Assignment.objects.filter(person=person.pk).exclude(document__sheet__project__in=mine)
    return not person.person.projects.exclude(pk__in=mine).exists() and not elsewhere.exists()


def require_wholly(manager: Any, user_id: int) -> Any:
    person = person_or_404(manager, user_id)
    if not wholly(manager, person):
        raise NotAllowed(Action.ADMINISTER)
    return person


def kept_projects(manager: Any, person: Any) -> list[Project]:
    """The memberships that are not the manager's to take."""
    return [] if manages_all(manager) else list(person.person.projects.exclude(pk__in=projects_of(manager)))
