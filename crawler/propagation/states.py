"""Owns: the states of a propagation and of its steps, and which propagation is not over. Does not: change them."""

from crawler.models import Propagation

WAITING, WORKING, PAUSED, DONE, FAILED, SKIPPED = "waiting", "working", "paused", "done", "failed", "skipped"
AT_WORK = (WAITING, WORKING)
OPEN_STATES = (*AT_WORK, PAUSED)


def unfinished() -> Propagation | None:
    return Propagation.objects.filter(state__in=OPEN_STATES).order_by("id").first()
