"""Owns: what readers see: the live generation of a target, and which target serves the public. The only writer.

Does not: load. Called by: work, services, the tick (bring_home). The public stays on backup only while a living
propagation works on primary and keeps moving the deadline, or while primary does not answer.
"""

from datetime import timedelta

from django.db import DatabaseError, transaction
from django.utils import timezone

from clearinghouse.databases import BACKUP, PRIMARY, WEBCRAWL
from clearinghouse.published.models import LiveGeneration, PublicSwitch
from crawler.models import Propagation

from . import load

# Without a sign of life for this long the public goes home; with the tick's five seconds well under a minute.
PATIENCE = timedelta(seconds=40)
_HOME = "primary"
_AWAY = "backup"


def switch() -> PublicSwitch:
    row, _ = PublicSwitch.objects.using(WEBCRAWL).get_or_create(id=1, defaults={"serving": _HOME})
    return row


def show(alias: str, generation: int) -> None:
    """Makes a whole generation the one readers see: one row changes."""
    values = {"generation": generation, "switched_at": timezone.now()}
    with transaction.atomic(using=alias):
        if not LiveGeneration.objects.using(alias).filter(id=1).update(**values):
            LiveGeneration.objects.using(alias).create(id=1, **values)


def public_to_backup(propagation_id: int) -> str:
    """Backup serves while primary is loaded; the reason why not, where it cannot."""
    try:
        there, here = load.live(BACKUP), _generation_of_primary()
    except DatabaseError:
        return "backup does not answer; primary goes on serving while it is loaded"
    if here and not there:
        return "backup holds no generation yet; primary goes on serving while it is loaded"
    _set(_AWAY, propagation_id)
    return ""


def still_away(propagation_id: int) -> None:
    """The owner lives: the deadline moves on."""
    rows = PublicSwitch.objects.using(WEBCRAWL).filter(id=1, serving=_AWAY, owner=propagation_id)
    rows.update(deadline=timezone.now() + PATIENCE)


def home() -> bool:
    """Primary serves again, with whatever whole generation it shows; False while it does not answer."""
    if switch().serving == _HOME:
        return True
    if _generation_of_primary() is None:
        return False
    _set(_HOME, None)
    return True


def bring_home() -> bool:
    """The watchdog of the tick: ends an absence nobody answers for; whether the public is home."""
    row = switch()
    if row.serving == _HOME:
        return True
    overdue = row.deadline is None or row.deadline <= timezone.now()
    working = Propagation.objects.filter(id=row.owner or 0, state="working").exists()
    return home() if overdue or not working else False


def is_home() -> bool:
    return switch().serving == _HOME


def _generation_of_primary() -> int | None:
    try:
        return load.live(PRIMARY)
    except DatabaseError:
        return None


def _set(serving: str, owner: int | None) -> None:
    switch()
    now = timezone.now()
    deadline = now + PATIENCE if owner is not None else None
    values = {"serving": serving, "owner": owner, "deadline": deadline, "changed_at": now}
    PublicSwitch.objects.using(WEBCRAWL).filter(id=1).update(**values)
