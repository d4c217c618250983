"""Owns: that a change in WebCrawl and its line in the audit, which stand in two databases, are written together.

The audit commits last: only a failure between the two commits leaves a change without its line, and whoever gave the
order is told of the failure and gives it again, which always works. Always WebCrawl first: two processes that took the
locks of both in different orders would wait for each other. Called by: every service here that writes an audit line.
"""

import threading
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from typing import Any

from django.db import transaction
from django.db.models import Model

from clearinghouse.audit import services as audit
from clearinghouse.database.aliases import DEFAULT, WEBCRAWL


class _Open(threading.local):
    line: ExitStack | None = None  # what ends the transaction of the audit, once that of WebCrawl has ended


_open = _Open()


@contextmanager
def together() -> Iterator[None]:
    """Both or neither; within another one it is a part of that."""
    if _open.line is not None:
        with transaction.atomic(using=WEBCRAWL):
            yield
        return
    with ExitStack() as line:
        _open.line = line
        try:
            with transaction.atomic(using=WEBCRAWL):
                yield
        finally:
            _open.line = None


def record(action: str, thing: Model, sentence: str, **told: Any) -> None:
    """The line of such a change: its transaction begins late, so that nobody who edits documents waits for a crawl."""
    if _open.line is not None and not transaction.get_connection(DEFAULT).in_atomic_block:
        _open.line.enter_context(transaction.atomic(using=DEFAULT))
    audit.record(action, thing, sentence, **told)
