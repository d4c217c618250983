"""Owns: what the rows of sites tell all instances and later runs: until when a site is left alone, since when it does
not answer, its robots.txt. Many sites are read and written together.

Does not: decide (hosts), reserve (pace). Called by: hosts.
"""

import time
from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import transaction

from clearinghouse.databases import WEBCRAWL

from .models import Host
from .policy.robots_text import READ_AT_MOST
from .sql import chunks

ROBOTS_KEPT = 24 * 3600.0


class Trouble(NamedTuple):
    """Times are seconds since 1970."""

    wait_until: float = 0.0  # asked for by the site, or when the next probe is due
    failing_since: float = 0.0  # 0: it answers
    reason: str = ""


class Known(NamedTuple):
    trouble: Trouble
    robots_status: int  # 0: not known, or too long ago
    robots: bytes


class Note(NamedTuple):
    """What an instance learned of a site; None where it learned nothing."""

    key: bytes
    wait_until: float = 0.0
    silence: tuple[float, str] | None = None  # since when, and the reason; since 0: it answers again
    robots: tuple[int, bytes] | None = None


def read(keys: Sequence[bytes]) -> dict[bytes, Known]:
    fresh = time.time() - ROBOTS_KEPT
    found = {}
    for part in chunks(list(keys)):
        for row in Host.objects.filter(key__in=part):
            status = row.robots_status if row.robots_at > fresh else 0
            trouble = Trouble(row.wait_until, row.failing_since, row.probe_reason)
            found[bytes(row.key)] = Known(trouble, status, row.robots_text.encode("latin-1", "replace"))
    return found


def troubles() -> dict[bytes, Trouble]:
    """The sites that are to be left alone now, whoever found out."""
    rows = Host.objects.filter(wait_until__gt=time.time())
    told = rows.values_list("key", "wait_until", "failing_since", "probe_reason")
    return {bytes(key): Trouble(*trouble) for key, *trouble in told}


def write(notes: Iterable[Note]) -> None:
    with transaction.atomic(using=WEBCRAWL):
        for note in sorted(notes):  # as everybody locks these rows: in the order of their keys
            _write(note)


def _write(note: Note) -> None:
    row = Host.objects.filter(key=note.key)
    values: dict[str, object] = {}
    if note.robots is not None:
        text = note.robots[1][:READ_AT_MOST].decode("latin-1").replace("\0", "")
        values = {"robots_status": note.robots[0], "robots_at": time.time(), "robots_text": text}
    if note.silence is not None:
        values |= {"failing_since": note.silence[0], "probe_reason": note.silence[1]}
        if not note.silence[0]:
            values["wait_until"] = note.wait_until  # nobody need wait for the next probe
    if values:
        row.update(**values)
    if note.wait_until:  # somebody else may have been asked for more time
        row.filter(wait_until__lt=note.wait_until).update(wait_until=note.wait_until)
