"""Owns: what a fault of ours costs that is no single page's: which documents were being served when it happened.

A document that was at hand at three such moments ends failed, with the traceback; the others go on. To tell the
guilty from the innocent, those who were there once are served in a smaller company, and those who were there twice
alone. Does not: judge messages. Called by: the instance.
"""

import traceback

from django.db import transaction
from django.db.models import F

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.web.plurals import plural

from ..engine import message_queue
from ..extract.plain_text import storable
from ..launching.control import note
from ..models import Excursion, Instance
from .instances import fence

MOST = 3
COMPANY = (16, 1)  # documents served together that were there once, and twice
_TRACE = 4000
_WRONG = ("no such column", "no such function", "too many", "ambiguous column", "misuse of", "near ")


def trace_of(error: Exception) -> str:
    """As it is stored: an error may hold what a page said, and that what no database takes."""
    return storable("".join(traceback.format_exception(error)))[-_TRACE:]


def is_ours(error: Exception) -> bool:
    """SQLite calls a wrong statement by the name of a database that does not answer; waiting would not help it."""
    return str(error).startswith(_WRONG) or "syntax error" in str(error)


def count(instance: Instance, error: Exception) -> bool:
    """Everything in memory was dropped: its documents are counted and handed back. False when it served none."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        there = list(Excursion.objects.filter(claim__instance=instance, crashes__lt=MOST).values_list("pk", flat=True))
        served = Excursion.objects.filter(pk__in=there)
        served.update(crashes=F("crashes") + 1, error=trace_of(error))
        for run_id in set(served.values_list("run_id", flat=True)):
            again = plural(len(there), "document is,documents are")
            note(run_id, "fault", f"A fault of ours: {type(error).__name__}; {again} tried again")
        message_queue.release_all(instance)
    return bool(there)


def claim(instance: Instance, limit: int, busy: bool) -> list[Excursion]:
    """Queues nobody serves; those that were there at a fault only when this instance serves no other."""
    claimed = message_queue.claim(instance, limit)
    for crashes, together in enumerate((*COMPANY, limit), start=1):
        if not claimed and not busy:
            claimed = message_queue.claim(instance, min(limit, together), crashes)
    return claimed
