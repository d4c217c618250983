"""Owns: when the full text index of a SQLite target merges its parts: in steps of our own, between short transactions.

Every commit leaves a part behind. Left alone, FTS5 merges inside the commits: measured with 2,000 pages in batches of
50, that took 1.3 times as long as one large transaction and made single commits of 120 ms. One wide merge of many
small parts, now and then, costs a third of that, and each step of it is short.
Does not: know what is indexed (backends). Called by: load. Other servers look after their indexes themselves.
"""

from typing import Any

from django.db import connections, transaction

from .collect import Beat

EVERY = 16  # transactions
_PAGES = 150  # of the index, that one step writes: some ten milliseconds
_TELL = "INSERT INTO published_index(published_index, rank) VALUES (%s, %s)"
_PARTS = 400  # so many on one level would be merged at once, in the middle of a commit


def by_hand(alias: str) -> None:
    """From now on the index of this target merges when it is told to."""
    if connections[alias].vendor == "sqlite":
        _tell(alias, ("automerge", 0), ("crisismerge", _PARTS))


def merge(alias: str, beat: Beat) -> None:
    """Until there is nothing left to merge."""
    connection: Any = connections[alias]
    if connection.vendor != "sqlite":
        return
    connection.ensure_connection()
    while True:
        before = connection.connection.total_changes
        _tell(alias, ("merge", _PAGES))
        beat()
        if connection.connection.total_changes - before < 2:  # as FTS5 tells that it had nothing to do
            return


def _tell(alias: str, *orders: tuple[str, int]) -> None:
    with transaction.atomic(using=alias), connections[alias].cursor() as cursor:
        for order in orders:
            cursor.execute(_TELL, list(order))
