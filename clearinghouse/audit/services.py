"""Owns: writing audit entries, append-only. Does not: decide what is worth one. Called by: every service."""

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from datetime import date, datetime
from typing import Any

from django.db.models import Model
from django.utils import timezone

from clearinghouse.database import bulk_insert

from ..database.bulk_insert import RowsToInsert
from ..database.records import actor
from .models import Entry

MASK = "••••"
_SECRET_WORDS = ("password", "crawl_pw", "secret")
_SENTENCE = 500


def record(
    action: str,
    thing: Model,
    sentence: str,
    *,
    document_id: int | None = None,
    before: Mapping[str, Any] | None = None,
    after: Mapping[str, Any] | None = None,
) -> Entry:
    """Signed with whoever is acting. Values of keys that name a password are masked, whatever they hold."""
    told = AuditLine(action, thing, sentence, document_id, before or {}, after or {})
    entry = _entry(actor(), told)
    entry.save(force_insert=True)
    return entry


@dataclass(frozen=True, slots=True)
class AuditLine:
    """One of many entries that are written together."""

    action: str
    thing: Model
    sentence: str
    document_id: int | None = None
    before: Mapping[str, Any] = field(default_factory=dict)
    after: Mapping[str, Any] = field(default_factory=dict)


def ready(entries: Iterable[AuditLine]) -> RowsToInsert:
    """The same for many things, to be written in the transaction of what they tell."""
    by = actor()
    return bulk_insert.ready(Entry, [_entry(by, one) for one in entries])


def record_many(entries: Iterable[AuditLine]) -> None:
    ready(entries).write()


def _entry(by: str, told: AuditLine) -> Entry:
    thing = told.thing
    return Entry(
        at=timezone.now(),
        actor=by,
        action=told.action[:40],
        kind=(thing._meta.model_name or "")[:40],
        thing_id=thing.pk if isinstance(thing.pk, int) else None,
        document_id=told.document_id,
        sentence=told.sentence[:_SENTENCE],
        before=masked(told.before),
        after=masked(told.after),
    )


_SAME = ("at", "actor", "action", "kind", "thing_id", "document_id")


def as_json(told: AuditLine) -> dict[str, Any]:
    """An entry that waits elsewhere until it can be written here: signed and dated now."""
    entry = _entry(actor(), told)
    names = (*_SAME, "sentence", "before", "after")
    return {name: getattr(entry, name) for name in names} | {"at": entry.at.isoformat()}


def record_once(line: dict[str, Any]) -> None:
    """What as_json gave; given again it is known by its moment, its actor and what was done to what."""
    entry = Entry(**line | {"at": datetime.fromisoformat(line["at"])})
    if not Entry.objects.filter(**{name: getattr(entry, name) for name in _SAME}).exists():
        entry.save_base(raw=True, force_insert=True)  # raw: with its own moment


def masked(value: Any) -> Any:
    """A copy that can be written as JSON, with every password masked at any depth."""
    if isinstance(value, Mapping):
        return {str(key): MASK if _secret(str(key)) and inner else masked(inner) for key, inner in value.items()}
    if isinstance(value, list | tuple | set):
        return [masked(inner) for inner in value]
    if isinstance(value, datetime | date):
        return value.isoformat()
    if value is None or isinstance(value, str | int | float | bool):
        return value
    return str(value)


def _secret(key: str) -> bool:
    lowered = key.lower()
    return any(word in lowered for word in _SECRET_WORDS)
