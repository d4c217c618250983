"""Owns: reading rows that other programs wrote, whatever they hold: text that is not UTF-8, dates that are none.

A driver would end the whole statement at the first such value. Here texts and times come as their bytes and are read
one by one; what cannot be read is named by `wrong`. Changes nothing. Called by: odd_rows, results.
"""

from collections.abc import Iterator
from datetime import UTC, datetime
from typing import Any, NamedTuple

from django.utils import timezone

from .. import introspection
from ..dialects import dialect

TEXT, TIME, NUMBER, BYTES = "text", "time", "number", "bytes"
_NO_DATE = "0000-00-00"  # how MySQL and its friends write that a date is not known
_SHOWN = 60


class UnreadableValue(NamedTuple):
    """A value that cannot be read as what it should be."""

    why: str
    shown: str  # safe to print anywhere
    unknown: bool = False  # it says nothing: a date of noughts


def selected(connection: Any, column: str, kind: str) -> str:
    """The expression that brings a column of this kind whatever stands in it."""
    name = introspection.quoted(connection, column)
    return str(dialect(connection).as_bytes(name)) if kind in (TEXT, TIME) else name


def read(kind: str, stored: Any) -> Any:
    """The value, or Wrong. A text that is not UTF-8 and a date that is none are wrong; None is None."""
    if stored is None:
        return None
    if kind == TEXT:
        return _text(stored)
    if kind == TIME:
        return _time(stored)
    if kind == NUMBER:
        return stored if isinstance(stored, int) else UnreadableValue("is not a whole number", shown(stored))
    return stored.encode() if isinstance(stored, str) else bytes(stored)


def guessed(stored: Any) -> str:
    """A text that is not UTF-8 as Windows of the West would have written it: for titles, which are only shown."""
    return bytes(stored).decode("cp1252", "replace")


def shown(stored: Any) -> str:
    value = bytes(stored) if isinstance(stored, bytes | bytearray | memoryview) else stored
    whole = ascii(value)
    return whole if len(whole) <= _SHOWN else f"{whole[:_SHOWN]}…"


def rows(connection: Any, table: str, kinds: dict[str, str], key: str, size: int = 2000) -> Iterator[tuple[Any, ...]]:
    """Of each row the columns as they are stored, those of texts and times as bytes, in no order.

    The statement is read piece by piece: a table of millions does not lie in memory.
    """
    there = introspection.column_names(connection, table)
    listed = ", ".join(selected(connection, there[name], kind) for name, kind in kinds.items())
    with connection.chunked_cursor() as cursor:
        cursor.execute(f"SELECT {listed} FROM {introspection.quoted(connection, table)}")  # noqa: S608
        while found := cursor.fetchmany(size):
            yield from found


def _text(stored: Any) -> str | UnreadableValue:
    if isinstance(stored, str):
        return stored
    try:
        return bytes(stored).decode()
    except UnicodeDecodeError:
        return UnreadableValue("is not UTF-8", shown(stored))


def _time(stored: Any) -> datetime | UnreadableValue:
    """SQLite gives text; a time without a zone is taken as one of this server's."""
    if not isinstance(stored, datetime):
        text = bytes(stored).decode("ascii", "replace") if not isinstance(stored, str) else stored
        try:
            stored = datetime.fromisoformat(text.strip())
            stored.astimezone(UTC)
        except (ValueError, OverflowError):
            return UnreadableValue("is not a date", shown(stored), text.strip().startswith(_NO_DATE))
    try:
        return stored.astimezone(UTC) if timezone.is_aware(stored) else timezone.make_aware(stored)
    except (ValueError, OverflowError):
        return UnreadableValue("is not a date", shown(str(stored)))
