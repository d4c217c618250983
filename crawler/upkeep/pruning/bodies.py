"""Owns: removing the bytes of pages that no version names any more. Bytes are shared, so nobody may write meanwhile.

A crawl stores a version beside bytes that are there already. So this runs only while no run is open, looks again in
each transaction, and holds off writers of the table for its few milliseconds where a server would let them pass.
"""

import time
from collections.abc import Callable

from django.db import connections, transaction
from django.db.models import Max

from clearinghouse.database.aliases import WEBCRAWL
from crawler.models import PageBody, Run

_AT_ONCE = 100
_BREATH = 0.02
_ALONE = {
    "postgresql": "LOCK TABLE page_body IN SHARE ROW EXCLUSIVE MODE",
    "microsoft": "SELECT TOP (0) 1 FROM page_body WITH (TABLOCKX, HOLDLOCK)",
}  # SQLite has one writer anyway


def sweep(quiet: Callable[[], bool]) -> int:
    """How many went; 0 when somebody works: the next time will do."""
    newest = _newest_run()
    if not quiet():
        return 0
    unnamed = _unnamed()
    gone = 0
    for start in range(0, len(unnamed), _AT_ONCE):
        with transaction.atomic(using=WEBCRAWL):
            _alone()
            if not quiet() or _newest_run() != newest:
                return gone
            gone += PageBody.objects.filter(digest__in=unnamed[start : start + _AT_ONCE]).delete()[0]
        time.sleep(_BREATH)
    return gone


def _unnamed() -> list[bytes]:
    with connections[WEBCRAWL].cursor() as cursor:
        cursor.execute("SELECT digest FROM page_body EXCEPT SELECT digest FROM page_version")
        return [bytes(digest) for (digest,) in cursor.fetchall()]


def _newest_run() -> int:
    return Run.objects.aggregate(newest=Max("id"))["newest"] or 0


def _alone() -> None:
    connection = connections[WEBCRAWL]
    if statement := _ALONE.get(connection.vendor):
        with connection.cursor() as cursor:
            cursor.execute(statement)
