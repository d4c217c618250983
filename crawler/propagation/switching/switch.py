"""Owns: what readers see: the live generation of a target, and which target serves the public. The only writer.

Does not: load. Called by: work, services, watchdog. The public stays on backup only while a living propagation works on
primary and keeps moving the deadline, or while primary does not answer. The public search of the product follows the
row at once; a load balancer is told by hooks, and the row says what it was last known to do.
"""

from collections.abc import Callable
from datetime import timedelta

from django.db import Error, connections, transaction
from django.db.models import Q
from django.utils import timezone

from clearinghouse.database.aliases import BACKUP, PRIMARY, WEBCRAWL
from clearinghouse.published.models import LiveGeneration, PublicSwitch

from ..loading import load
from ..step_failures import NotFollowed
from . import load_balancer

# Without a sign of life for this long the public goes home; with the tick's five seconds well under a minute.
PATIENCE = timedelta(seconds=40)
TELLING = timedelta(seconds=60)  # a process that tells the load balancer has it for itself so long at most
HOME = "primary"
AWAY = "backup"


def switch() -> PublicSwitch:
    row, _ = PublicSwitch.objects.using(WEBCRAWL).get_or_create(id=1, defaults={"serving": HOME})
    return row


def show(alias: str, generation: int) -> None:
    """Makes a whole generation the one readers see: one row changes."""
    values = {"generation": generation, "switched_at": timezone.now()}
    with transaction.atomic(using=alias):
        if not LiveGeneration.objects.using(alias).filter(id=1).update(**values):
            LiveGeneration.objects.using(alias).create(id=1, **values)


def public_to_backup(propagation_id: int, beat: Callable[[], None] = lambda: None) -> str:
    """Backup serves while primary is loaded; the reason why not, where it cannot.

    Raises NotFollowed when the load balancer did not move: the public is at home then, and primary was not touched.
    """
    row = switch()
    if (row.serving, row.owner) == (AWAY, propagation_id) and followed(row):
        still_away(propagation_id)
        return ""
    try:
        there, here = load.live(BACKUP), _generation_of_primary()
    except Error:
        return "backup does not answer; primary goes on serving while it is loaded"
    if here and not there:
        return "backup holds no generation yet; primary goes on serving while it is loaded"
    _set(AWAY, propagation_id)
    if trouble := follow(beat):
        _set(HOME, None)  # what the load balancer did is in doubt: the watchdog tells it to come home
        raise NotFollowed(f"The public was not moved to backup, and primary was not touched: {trouble}.")
    return ""


def still_away(propagation_id: int) -> None:
    """The owner lives: the deadline moves on."""
    rows = PublicSwitch.objects.using(WEBCRAWL).filter(id=1, serving=AWAY, owner=propagation_id)
    rows.update(deadline=timezone.now() + PATIENCE)


def home(seen: PublicSwitch | None = None) -> bool:
    """Primary serves again, with whatever whole generation it shows; False while it does not answer.

    With `seen`, only if nobody has moved the public since.
    """
    row = seen or switch()
    if row.serving == HOME:
        return True
    if _generation_of_primary() is None:
        return False
    return _set(HOME, None, seen)


def is_home() -> bool:
    """Backup may be loaded: it serves nobody, neither through our search nor through the load balancer."""
    row = switch()
    return row.serving == HOME and followed(row)


def followed(row: PublicSwitch) -> bool:
    return not load_balancer.configured() or row.told == row.serving


def follow(beat: Callable[[], None] = lambda: None) -> str:
    """Tells the load balancer who serves the public; what kept it from following, or nothing."""
    row = switch()
    if followed(row):
        return ""
    now, rows = timezone.now(), PublicSwitch.objects.using(WEBCRAWL).filter(id=1)
    # Further away than anybody sets it: a clock went back since.
    free = rows.filter(Q(telling_until=None) | Q(telling_until__lte=now) | Q(telling_until__gt=now + TELLING))
    if not free.update(telling_until=now + TELLING):
        return "another process is still calling the load balancer"
    trouble = ""
    try:
        load_balancer.tell(row.serving, beat)
    except load_balancer.HookFailed as problem:
        trouble = str(problem)
    finally:
        rows.update(telling_until=None, told_at=timezone.now(), trouble=trouble)
    if not trouble:
        rows.filter(serving=row.serving).update(told=row.serving)
    return trouble


def _generation_of_primary() -> int | None:
    for _ in range(2):
        try:
            return load.live(PRIMARY)
        except Error:
            connections[PRIMARY].close_if_unusable_or_obsolete()  # only the line was cut, perhaps
    return None


def _set(serving: str, owner: int | None, seen: PublicSwitch | None = None) -> bool:
    switch()
    now = timezone.now()
    deadline = now + PATIENCE if owner is not None else None
    values = {"serving": serving, "owner": owner, "deadline": deadline, "changed_at": now, "told": ""}
    rows = PublicSwitch.objects.using(WEBCRAWL).filter(id=1)
    if seen is not None:
        rows = rows.filter(serving=seen.serving, owner=seen.owner, changed_at=seen.changed_at)
    return bool(rows.update(**values))
