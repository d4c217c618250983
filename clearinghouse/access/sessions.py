"""Owns: how a session and the person it belongs to are read, which happens for every request: one plain statement each.

Nothing is remembered between two requests: who signed out, was deactivated or got another role is met by the next one.
Putting these two questions together from models took five times as long as answering them, and most of a poll.
Does not: begin, renew or end sessions (Django). Called by: settings, as SESSION_ENGINE and AUTHENTICATION_BACKENDS.
"""

from functools import lru_cache
from typing import Any

from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import HttpRequest
from django.utils import timezone

from clearinghouse.databases import DEFAULT
from clearinghouse.full_disk import left_out_when_full

_SESSION = "SELECT session_data FROM django_session WHERE session_key = %s AND expire_date > %s"


class SessionStore(db.SessionStore):
    def save(self, must_create: bool = False) -> None:
        """A new session must be written. What changes in one that stands (a notice was shown) may be left out when
        there is no room: who only reads goes on."""
        if must_create:
            super().save(must_create)
            return
        with left_out_when_full("a change of a session"):
            super().save(must_create)

    def load(self) -> dict[str, Any]:
        connection = connections[DEFAULT]
        now = connection.ops.adapt_datetimefield_value(timezone.now())
        with connection.cursor() as cursor:
            cursor.execute(_SESSION, [self.session_key, now])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return {}
        found: dict[str, Any] = self.decode(row[0])
        return found


class PeopleBackend(ModelBackend):
    """Users with their place in the house."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> Any:
        """What is refused here is refused: Django's own backend stands behind this one only so that sessions which
        were begun with it go on, and asking it too would compute every wrong password twice."""
        user = super().authenticate(request, **credentials)
        if user is None:
            raise PermissionDenied
        return user

    def get_user(self, user_id: Any) -> Any:
        user = next(iter(get_user_model()._default_manager.raw(_question(), [user_id])), None)
        if user is None or not self.user_can_authenticate(user):
            return None
        _give_place(user)
        return user


@lru_cache
def _question() -> str:
    quote = connections[DEFAULT].ops.quote_name
    users, people = get_user_model()._meta, _person()._meta
    columns = [f"u.{quote(field.column)}" for field in users.concrete_fields]
    columns += [f"p.{quote(field.column)} AS {quote(f'person_{field.attname}')}" for field in people.concrete_fields]
    key = quote(users.pk.column)
    tables = f"{quote(users.db_table)} u LEFT JOIN {quote(people.db_table)} p ON p.{quote(people.pk.column)} = u.{key}"
    return f"SELECT {', '.join(columns)} FROM {tables} WHERE u.{key} = %s"  # noqa: S608


def _give_place(user: Any) -> None:
    names = [field.attname for field in _person()._meta.concrete_fields]
    values = [user.__dict__.pop(f"person_{name}") for name in names]
    if values[names.index("user_id")] is None:
        user._state.fields_cache["person"] = None  # as Django remembers that there is none
    else:
        user.person = _person().from_db(DEFAULT, names, values)


def _person() -> Any:
    from .models import Person  # the settings name this module before there are models

    return Person
