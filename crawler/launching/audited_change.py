"""Owns: that a change in WebCrawl and its line in the audit, which stand in two databases, come both or not at all.

The line is written in WebCrawl with the change, in one transaction, and carried to the audit right after it. A process
that is killed between the two, or an audit that cannot be written to, leaves it to the tick; a line that was carried
before stays one. Always WebCrawl first: two processes that took the locks of both in different orders would wait for
each other. Called by: every service here that writes an audit line, the tick.
"""

import logging
import threading
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from typing import Any

from django.db import Error, transaction
from django.db.models import Model

from clearinghouse.audit import services as audit
from clearinghouse.database.aliases import DEFAULT, WEBCRAWL

from ..models import AuditOutbox

AT_ONCE = 500

log = logging.getLogger(__name__)


class _Open(threading.local):
    after: list[Callable[[], object]] | None = None  # what follows the change that this thread is in


_open = _Open()


@contextmanager
def together() -> Iterator[None]:
    """All of a change or nothing; within another one it is a part of that."""
    if _open.after is not None:
        with transaction.atomic(using=WEBCRAWL):
            yield
        return
    steps = _open.after = []
    try:
        with transaction.atomic(using=WEBCRAWL):
            yield
    finally:
        _open.after = None
    for step in steps:
        step()


def afterwards(step: Callable[[], object]) -> None:
    """Done once the whole change stands; not at all when it does not come to that."""
    assert _open.after is not None
    if step not in _open.after:
        _open.after.append(step)


def record(action: str, thing: Model, sentence: str, **told: Any) -> None:
    """The line of the change that this thread is in, signed with whoever is acting."""
    afterwards(_carry_now)
    AuditOutbox.objects.create(line=audit.as_json(audit.AuditLine(action, thing, sentence, **told)))


def _carry_now() -> None:
    try:
        carry_lines()
    except Error as error:
        log.warning("The audit takes no line now; the tick carries it there: %s", error)


def carry_lines() -> None:
    """What waits. A line leaves the outbox after it stands in the audit; what another process carries is left to it."""
    with transaction.atomic(using=WEBCRAWL):
        rows = AuditOutbox.objects.select_for_update(skip_locked=True).order_by("pk")[:AT_ONCE]
        lines = {row.pk: row.line for row in rows}
        if lines:
            with transaction.atomic(using=DEFAULT):
                for line in lines.values():
                    audit.record_once(line)
            AuditOutbox.objects.filter(pk__in=list(lines)).delete()
