"""Owns: every change to people: accounts, roles, projects, passwords, each with its audit entry.

What a change makes untrue ends with it: another's password ends sessions and keys, another role the keys.
Does not: ask who may. Called by: the people screens, the form for one's own password, commands, the demo.
"""

import secrets
from collections.abc import Iterable
from typing import Any

from django.contrib.auth import get_user_model
from django.db import transaction
from django.utils import timezone
from django.views.decorators.debug import sensitive_variables

from clearinghouse.audit import services as audit
from clearinghouse.library.models import Project

from .keys import api_keys
from .models import BrowserSession, Person, Role
from .sign_in import sign_in_limits

_PASSWORD_WORDS = 4
_LETTERS = "abcdefghjkmnpqrstuvwxyz23456789"  # nothing that can be misread


def random_password() -> str:
    """Four groups of five letters and figures: 99 bits, readable over the telephone."""
    return "-".join("".join(secrets.choice(_LETTERS) for _ in range(5)) for _ in range(_PASSWORD_WORDS))


@transaction.atomic
def add_person(
    name: str, role: Role, projects: Iterable[Project] = (), *, temporary: bool = True, **names: str
) -> tuple[Any, str]:
    """A new user with a random password, which is returned once and kept nowhere.

    A temporary one is changed at the first sign-in: until then nothing else opens.
    """
    password = random_password()
    user = get_user_model().objects.create_user(name, password=password, **names)
    person = Person.objects.create(user=user, role=role, must_change_password=temporary)
    person.projects.set(projects)
    audit.record("add", person, f"Added {name} as {role.label.lower()}", after=facts(user))
    return user, password


@transaction.atomic
def update_person(user: Any, role: Role, projects: Iterable[Project], **names: str) -> None:
    before = facts(user)
    had = before["role"]
    for name, value in names.items():
        setattr(user, name, value)
    user.save(update_fields=list(names)) if names else None
    person, _ = Person.objects.update_or_create(user=user, defaults={"role": role})
    person.projects.set(projects)
    user.person = person
    after = facts(user)
    if after != before:
        audit.record("change", person, f"Changed {user.get_username()}", before=before, after=after)
    if had != role:
        api_keys.end_all(user, "Another role")


@transaction.atomic
@sensitive_variables("password")
def reset_password(user: Any, *, temporary: bool = True) -> str:
    """A new random password, returned once; every session and key of the person ends."""
    password = random_password()
    user.set_password(password)
    user.save(update_fields=["password"])
    _must_change(user, temporary)
    audit.record("password", user, f"Gave {user.get_username()} a new password")
    end_access(user, "A new password")
    sign_in_limits.forgive(user.get_username())
    return password


@transaction.atomic
def password_was_changed(user: Any, *, end_keys: bool, here: str | None = None) -> int:
    """After somebody chose a password of their own: other sessions end; how many keys did."""
    _must_change(user, False)
    audit.record("password", user, f"{user.get_username()} changed their password")
    BrowserSession.objects.filter(user=user).exclude(session_key=here).delete()
    return api_keys.end_all(user, "A new password") if end_keys else 0


def _must_change(user: Any, must: bool) -> None:
    """An account without a place in the house has an empty role then, which is none."""
    if must:
        person, _ = Person.objects.get_or_create(user=user, defaults={"role": ""})
        user.person = person
    Person.objects.filter(user=user).update(must_change_password=must)
    if person := getattr(user, "person", None):
        person.must_change_password = must


def end_access(user: Any, why: str) -> None:
    """Nobody goes on with what they had: every session and every key of this person ends."""
    BrowserSession.objects.filter(user=user).delete()
    api_keys.end_all(user, why)


@transaction.atomic
def set_active(user: Any, active: bool) -> None:
    if user.is_active == active:
        return
    user.is_active = active
    user.save(update_fields=["is_active"])
    Person.objects.filter(user=user).update(deactivated_at=None if active else timezone.now())
    word = "Activated" if active else "Deactivated"
    audit.record("activate" if active else "deactivate", user, f"{word} {user.get_username()}")
    end_access(user, word)  # also of who is activated: whatever was left from before opens nothing


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
