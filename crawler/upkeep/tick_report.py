"""Owns: what the tick leaves for others to see: when it looked last; which of its steps fail, how often, since when.

A step that fails is a row among the faults, until it works again; the error log shows it beside its traceback.
Called by: the tick, which writes; the screens, the doctor, metrics and restore, which read.
"""

from collections.abc import Iterable
from datetime import datetime

from django.db.models import F, QuerySet

from clearinghouse.database.digests import digest_of

from ..liveness.error_log import plain
from ..models import Fault, Mark

_MARK = "tick"
_STEP = "tick: "  # what the column of the process begins with


def looked(now: datetime) -> None:
    Mark.objects.update_or_create(name=_MARK, defaults={"at": now})


def last_look() -> datetime | None:
    return Mark.objects.filter(name=_MARK).values_list("at", flat=True).first()


def failed(step: str, error: Exception, now: datetime) -> None:
    sentence = plain(f"The tick could not {step}: {type(error).__name__}: {error}")[:500]
    row = Fault.objects.filter(key=_key(step))
    if not row.update(times=F("times") + 1, at=now, sentence=sentence):
        Fault.objects.create(key=_key(step), first_at=now, at=now, process=f"{_STEP}{step}"[:60], sentence=sentence)


def worked(step: str) -> None:
    Fault.objects.filter(key=_key(step)).delete()


def forget_all_but(steps: Iterable[str]) -> None:
    """A version before may have called a step otherwise: nobody would take its row away."""
    failing().exclude(key__in=[_key(step) for step in steps]).delete()


def failing() -> QuerySet[Fault]:
    return Fault.objects.filter(process__startswith=_STEP).order_by("first_at")


def _key(step: str) -> bytes:
    return digest_of(f"{_STEP}{step}")
