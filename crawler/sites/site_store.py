"""Owns: what the rows of sites tell all instances and later runs: until when a site is left alone, since when it does
not answer, its robots.txt. Many sites are read and written together.

Does not: decide (hosts), reserve (pace). Called by: hosts.
"""

from collections.abc import Iterable, Sequence
from typing import NamedTuple

from django.db import transaction
from django.db.models import F

from clearinghouse.database.aliases import WEBCRAWL

from ..bulk_sql import chunks
from ..engine.response_kind import MAX_WAIT as LONGEST_WAIT
from ..liveness import database_clock
from ..models import Host
from ..policy.robots_file import READ_AT_MOST
from ..policy.robots_rules import Robots

ROBOTS_KEPT = 24 * 3600.0
AHEAD = 60.0  # seconds by which a clock may differ before what it wrote is not believed


class SiteTrouble(NamedTuple):
    """Rows hold moments by the clock of the database; told are seconds from now, which any process can measure."""

    wait: float = 0.0  # asked for by the site, or until the next probe; below 0: it was due that long ago
    failing_for: float = 0.0  # 0: it answers
    reason: str = ""


class Known(NamedTuple):
    trouble: SiteTrouble
    robots_status: int  # 0: not known, or too long ago
    robots: bytes


class Note(NamedTuple):
    """What an instance learned of a site; None where it learned nothing."""

    key: bytes
    wait: float = 0.0  # seconds from now; 0: no wish
    silence: tuple[float, str] | None = None  # for how long, and the reason; for 0 seconds: it answers again
    robots: tuple[int, bytes] | None = None


def read(keys: Sequence[bytes]) -> dict[bytes, Known]:
    now, found = database_clock.seconds(), {}
    for part in chunks(list(keys)):
        for row in Host.objects.filter(key__in=part):
            status = row.robots_status if robots_are_fresh(row.robots_at, now) else 0
            trouble = _trouble(now, row)
            found[bytes(row.key)] = Known(trouble, status, row.robots_text.encode("latin-1", "replace"))
    mend(now)
    return found


def robots(key: bytes) -> Robots | None:
    """The rules kept of a site; None when they were not read within the last day."""
    row = Host.objects.filter(key=key, robots_status__gt=0).first()
    if row is None or not robots_are_fresh(row.robots_at, database_clock.seconds()):
        return None
    return Robots.from_status(row.robots_status, row.robots_text.encode("latin-1", "replace"))


def troubles() -> dict[bytes, SiteTrouble]:
    """The sites that are to be left alone now, whoever found out."""
    now = database_clock.seconds()
    rows = Host.objects.filter(wait_until__gt=now)
    found = {bytes(row.key): _trouble(now, row) for row in rows.defer("robots_text")}
    mend(now)
    return found


def robots_are_fresh(at: float, now: float) -> bool:
    """Read within the last day; what was read in the future was read by a clock that is not believed."""
    return now - ROBOTS_KEPT < at <= now + AHEAD


def waiting(host: Host, now: float) -> float:
    """Seconds a site is to be left alone: never longer than it was when that was written, whatever clocks did since."""
    return min(host.wait_until - max(now, host.noted_at), LONGEST_WAIT)


def mend(now: float) -> None:
    """After a clock that went back: what sites asked for counts from now, or they were left alone so much longer."""
    ahead = Host.objects.filter(noted_at__gt=now + 1.0)
    if ahead.exists():
        ahead.update(wait_until=now + F("wait_until") - F("noted_at"), noted_at=now)


def _trouble(now: float, host: Host) -> SiteTrouble:
    failing_for = max(now - host.failing_since, 0.001) if host.failing_since else 0.0
    return SiteTrouble(waiting(host, now), failing_for, host.probe_reason)


def write(notes: Iterable[Note]) -> None:
    with transaction.atomic(using=WEBCRAWL):
        now = database_clock.seconds()
        for note in sorted(notes):  # as everybody locks these rows: in the order of their keys
            _write(note, now)


def _write(note: Note, now: float) -> None:
    row = Host.objects.filter(key=note.key)
    values: dict[str, object] = {}
    if note.robots is not None:
        text = note.robots[1][:READ_AT_MOST].decode("latin-1").replace("\0", "")
        values = {"robots_status": note.robots[0], "robots_at": now, "robots_text": text}
    if note.silence is not None:
        seconds, reason = note.silence
        values |= {"failing_since": now - seconds if seconds else 0.0, "probe_reason": reason}
        if not seconds:
            values |= {
                "wait_until": now + note.wait if note.wait else 0.0,
                "noted_at": now,
            }
    if values:
        row.update(**values)
    if note.wait:  # somebody else may have been asked for more time, but not for more than anybody can ask for
        until = now + note.wait
        row.exclude(wait_until__range=(until, now + LONGEST_WAIT)).update(wait_until=until, noted_at=now)
