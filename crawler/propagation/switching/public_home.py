"""Owns: that the public does not stay away from home, and that the load balancer is told again until it follows.

Does not: move anything itself (switch). Called by: the tick, every five seconds.
"""

import logging
import threading
from datetime import datetime, timedelta

from django.db import DatabaseError, connections
from django.utils import timezone

from clearinghouse.published.models import PublicSwitch
from crawler.liveness import instances
from crawler.models import Instance, Propagation

from ..propagation_claim import KIND
from . import load_balancer, switch

OWN_TRY = timedelta(seconds=10)  # who moved the public tells the load balancer itself
AGAIN = timedelta(seconds=25)

log = logging.getLogger(__name__)


def bring_home() -> bool:
    """Ends an absence nobody answers for; whether the public is served by primary."""
    row = switch.switch()
    if row.serving == switch.HOME:
        return True
    return switch.home(seen=row) if _forsaken(row) else False


def _forsaken(row: PublicSwitch) -> bool:
    """Its deadline has passed, its propagation is over, or no living process carries one out."""
    overdue = row.deadline is None or (row.deadline <= timezone.now() and _stands_still(row.deadline))
    working = Propagation.objects.filter(id=row.owner or 0, state="working").exists()
    claimants = Instance.objects.filter(kind=KIND, alive=True)
    return overdue or not working or all(map(instances.gone, claimants))


_last_deadline: datetime | None = None


def _stands_still(deadline: datetime) -> bool:
    """Not moved since the last look, though it had passed: a clock that jumps ahead alone brings nobody home."""
    global _last_deadline
    before, _last_deadline = _last_deadline, deadline
    return before == deadline


def follow_beside() -> threading.Thread | None:
    """Tells the load balancer again, in a thread: a command that hangs must not stop the tick."""
    if not due(switch.switch(), timezone.now()):
        return None
    thread = threading.Thread(target=_follow, name="switch hook")
    thread.start()
    return thread


def due(row: PublicSwitch, now: datetime) -> bool:
    if not load_balancer.configured() or row.serving != switch.HOME or row.told == row.serving:
        return False
    return _ago(row.changed_at, now, OWN_TRY) and _ago(row.told_at, now, AGAIN)


def _ago(moment: datetime | None, now: datetime, least: timedelta) -> bool:
    """So long ago; or in the future, because a clock went back since."""
    return moment is None or not now - least < moment <= now


def _follow() -> None:
    try:
        if trouble := switch.follow():
            log.warning("The load balancer does not follow the switch: %s", trouble)
    except DatabaseError as problem:
        log.warning("The load balancer was not called: %s", problem)
    finally:
        connections.close_all()
