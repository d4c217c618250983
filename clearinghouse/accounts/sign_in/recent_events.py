"""Owns: what happened lately, counted in the database: for all web processes together, and while Redis is away.

A row is gone when its time is over; a key is a digest, so that no name and no address is kept. Bounded by who calls:
what is refused is never noted. Does not: know what is counted, or how often is too often.
Called by: sign_in_limits, own_password, sign_in_audit, the tests of sign-ins to sites.
"""

import hashlib
from collections.abc import Collection
from dataclasses import dataclass
from datetime import datetime, timedelta

from django.db import transaction
from django.db.models import Count, Min
from django.utils import timezone

from ..models import RecentEvent

_AHEAD = timedelta(minutes=1)  # a row from further in the future was written before the clock went back


@dataclass(frozen=True, slots=True)
class EventCount:
    number: int = 0
    first_until: datetime | None = None  # when the first of them is forgotten

    def wait(self) -> int:
        """Seconds until then."""
        return max(1, round((self.first_until - timezone.now()).total_seconds())) if self.first_until else 0


def key_of(kind: str, *values: object) -> str:
    return hashlib.sha256("\n".join([kind, *map(str, values)]).encode("utf-8", "surrogatepass")).hexdigest()


def tallies(keys: Collection[str]) -> dict[str, EventCount]:
    """How often each of these was noted lately; one question, for keys of nothing too."""
    now = timezone.now()
    rows = RecentEvent.objects.filter(key__in=keys, until__gt=now, at__lte=now + _AHEAD).values("key")
    found = {
        row["key"]: EventCount(row["number"], row["first"])
        for row in rows.annotate(number=Count("pk"), first=Min("until"))
    }
    return {key: found.get(key, EventCount()) for key in keys}


def number_of(key: str) -> int:
    return tallies([key])[key].number


@transaction.atomic
def note(keys: Collection[str], lasting: timedelta) -> datetime:
    """Writes one row for each, all of one moment, by which they can be taken back."""
    now = timezone.now()
    RecentEvent.objects.filter(until__lt=now).delete()
    RecentEvent.objects.bulk_create([RecentEvent(key=key, at=now, until=now + lasting) for key in keys])
    return now


def take_back(keys: Collection[str], moment: datetime) -> None:
    RecentEvent.objects.filter(key__in=keys, at=moment).delete()


def forget_together(key: str, others: Collection[str]) -> None:
    """Everything noted under this key, and what was noted under the others in the same moments."""
    moments = list(RecentEvent.objects.filter(key=key).values_list("at", flat=True))
    RecentEvent.objects.filter(key__in=[key, *others], at__in=moments).delete()


def forget(key: str) -> None:
    RecentEvent.objects.filter(key=key).delete()


def forget_moments(key: str) -> None:
    """Everything noted under this key, and whatever else was noted in the same moments."""
    moments = RecentEvent.objects.filter(key=key).values("at")  # as many as an attack had addresses: the server looks
    RecentEvent.objects.filter(at__in=moments).delete()


@transaction.atomic
def remember(key: str, lasting: timedelta) -> None:
    """One row, however often it happens."""
    forget(key)
    note([key], lasting)
