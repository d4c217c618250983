"""Owns: how a session and the person it belongs to are read, which happens for every request: one plain statement each.

Nothing is remembered between two requests: who signed out, was deactivated or got another role is met by the next one.
Putting these two questions together from models took five times as long as answering them, and most of a poll.
A session ends on the server: 12 hours after it began or an hour after it was last used, or after 14 days for who
asked to stay signed in; what the cookie says is for the browser only.
Does not: sign in (sign_in), show or end somebody's sessions (own_sessions). Called by: settings, as SESSION_ENGINE and
AUTHENTICATION_BACKENDS; the middleware, which says when one was used.
"""

from datetime import UTC, datetime, timedelta
from functools import lru_cache
from typing import Any

from django.contrib.auth import BACKEND_SESSION_KEY as BACKEND
from django.contrib.auth import SESSION_KEY as USER
from django.contrib.auth import get_user_model
from django.contrib.auth.backends import ModelBackend
from django.contrib.sessions.backends import db
from django.core.exceptions import PermissionDenied
from django.db import connections
from django.http import HttpRequest
from django.utils import timezone

from clearinghouse.database.aliases import DEFAULT, without_waiting
from clearinghouse.database.full_disk import left_out_when_full

LONGEST = timedelta(hours=12)
IDLE = timedelta(hours=1)
STAYING = timedelta(days=14)
NOTED_EVERY = timedelta(minutes=2)  # when a session was last used
BACKEND_BEFORE = "clearinghouse.access.sessions.PeopleBackend"  # in sessions that began before 0.3.0
BEGUN, STAYS, ADDRESS, BROWSER = "begun", "stays", "address", "browser"

_SESSION = (
    "SELECT session_data, CASE WHEN seen_at < %s THEN 1 ELSE 0 END FROM clearinghouse_session"
    " WHERE session_key = %s AND expire_date > %s"
)


class SessionStore(db.SessionStore):
    _long_unseen = False

    @classmethod
    def get_model_class(cls) -> Any:
        from ..models import BrowserSession  # the settings name this module before there are models

        return BrowserSession

    def _validate_session_key(self, key: str | None) -> bool:
        """A quoted cookie may hold any character, also one that a database refuses to compare."""
        return bool(key) and key.isascii() and key.isalnum()

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
        now = timezone.now()
        moments = [connection.ops.adapt_datetimefield_value(moment) for moment in (now - NOTED_EVERY, now)]
        with connection.cursor() as cursor:
            cursor.execute(_SESSION, [moments[0], self.session_key, moments[1]])
            row = cursor.fetchone()
        if row is None:
            self._session_key = None
            return {}
        self._long_unseen = bool(row[1])
        found: dict[str, Any] = self.decode(row[0])
        if found.get(BACKEND) == BACKEND_BEFORE:  # an update shall sign nobody out
            found[BACKEND] = f"{__name__}.{PeopleBackend.__name__}"
        return found

    def create_model_instance(self, data: dict[str, Any]) -> Any:
        now = timezone.now()
        data.setdefault(BEGUN, now.timestamp())
        row = super().create_model_instance(data)
        row.user_id = data.get(USER)
        row.begun_at, row.seen_at, row.expire_date = _begun(data), now, end_of(data, now)
        row.address, row.browser = data.get(ADDRESS, ""), data.get(BROWSER, "")
        return row

    def used(self) -> None:
        """Somebody works in it: the hour of idleness begins anew. A page is not late because of it."""
        if not self._long_unseen or self.session_key is None:
            return
        self._long_unseen = False
        now = timezone.now()
        with without_waiting(DEFAULT):
            rows = self.model.objects.filter(session_key=self.session_key)
            rows.update(seen_at=now, expire_date=end_of(self._session, now))


def describe(session: Any, stay: bool, address: str, browser: str) -> None:
    """What its owner reads of it in the list of their sessions, and how long it may last."""
    session[STAYS], session[ADDRESS], session[BROWSER] = stay, address, browser
    session[BEGUN] = timezone.now().timestamp()
    session.set_expiry(STAYING if stay else 0)  # of the cookie; 0: when the browser is closed


def end_of(data: dict[str, Any], seen: datetime) -> datetime:
    """When a session ends unless it is used again."""
    if data.get(STAYS):
        return _begun(data) + STAYING
    return min(_begun(data) + LONGEST, seen + IDLE)


def _begun(data: dict[str, Any]) -> datetime:
    return datetime.fromtimestamp(data[BEGUN], UTC)


class PeopleBackend(ModelBackend):
    """Users with their place in the house."""

    def authenticate(self, request: HttpRequest | None, **credentials: Any) -> Any:
        """What is refused here is refused: Django's own backend stands behind this one only for programs and tests
        that name it, and asking it too would compute every wrong password twice."""
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
    from ..models import Person  # the settings name this module before there are models

    return Person
