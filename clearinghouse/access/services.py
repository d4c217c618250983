"""Owns: every change to people: accounts, roles, projects, passwords set by administrators, each with its audit entry.

Does not: ask who may. Called by: the people screens, the admin, the demo.
"""

import secrets
from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.views.decorators.debug import sensitive_variables

from clearinghouse.audit import services as audit
from clearinghouse.library.models import Project

from .models import Person, Role

_PASSWORD_WORDS = 4
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that can be misread


def random_password() -> str:
    """Four groups of five letters and figures: 99 bits, readable over the telephone."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(5)) for _ in range(_PASSWORD_WORDS))


@transaction.atomic
def add_person(name: str, role: Role, projects: Iterable[Project] = (), **names: str) -> tuple[Any, str]:
    """A new user with a random password, which is returned once and kept nowhere."""
    password = random_password()
    user = get_user_model().objects.create_user(name, password=password, **names)
    person = Person.objects.create(user=user, role=role)
    person.projects.set(projects)
    audit.record("add", person, f"Added {name} as {role.label.lower()}", after=facts(user))
    return user, password


@transaction.atomic
def update_person(user: Any, role: Role, projects: Iterable[Project], **names: str) -> None:
    before = facts(user)
    for name, value in names.items():
        setattr(user, name, value)
    user.save(update_fields=list(names)) if names else None
    person, _ = Person.objects.update_or_create(user=user, defaults={"role": role})
    person.projects.set(projects)
    user.person = person
    after = facts(user)
    if after != before:
        audit.record("change", person, f"Changed {user.get_username()}", before=before, after=after)


@transaction.atomic
@sensitive_variables("password")
def reset_password(user: Any) -> str:
    """A new random password, returned once; every session of the person ends."""
    password = random_password()
    user.set_password(password)
    user.save(update_fields=["password"])
    audit.record("password", user, f"Gave {user.get_username()} a new password")
    return password


@transaction.atomic
def set_active(user: Any, active: bool) -> None:
    if user.is_active == active:
        return
    user.is_active = active
    user.save(update_fields=["is_active"])
    word = "Activated" if active else "Deactivated"
    audit.record("activate" if active else "deactivate", user, f"{word} {user.get_username()}")


def facts(user: Any) -> dict[str, Any]:
    """What the audit keeps of a person."""
    person = getattr(user, "person", None)
    return {
        "user": user.get_username(),
        "name": user.get_full_name(),
        "mail": user.email,
        "role": person.role if person else "",
        "projects": sorted(person.projects.values_list("name", flat=True)) if person else [],
        "active": user.is_active,
    }


def choose_rows(user: Any, rows: str) -> None:
    """How many rows a page of a list has; one's own choice, so no audit."""
    Person.objects.filter(user=user.pk).update(rows=rows)
