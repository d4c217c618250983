"""Owns: building the indexes of a target anew from its stored rows, beside readers.

Each page is taken out of the full text index and put back in one short transaction, so that a search in between
finds all pages; then the counts of the lexicon are made from nothing. Ids of words stay. A kill leaves both whole
or on their way: the command is simply given again. Called by: the command rebuild_index.
"""

import time
from collections.abc import Callable
from dataclasses import dataclass

from django.db import transaction

from clearinghouse.published.models import PublishedVersion
from clearinghouse.search import backends

from . import page_counts
from .transaction_size import TransactionSize


@dataclass(frozen=True, slots=True)
class Rebuilt:
    indexed: int  # pages of all generations that are kept
    counted: int  # pages of the live one
    seconds: float


def rebuild(alias: str, told: Callable[[int], None] = lambda done: None) -> Rebuilt:
    """`told` hears from time to time how many pages are indexed again."""
    started = time.perf_counter()
    backends.backend(alias).ensure()
    last = indexed = 0
    pace = TransactionSize(1, 400)
    rows = PublishedVersion.objects.using(alias).order_by("pk")
    while ids := list(rows.filter(pk__gt=last).values_list("pk", flat=True)[: pace.size]):
        with pace, transaction.atomic(using=alias):
            backends.backend(alias).remove(ids)
            backends.backend(alias).add(ids)
        last = ids[-1]
        indexed += len(ids)
        told(indexed)
    counted = page_counts.recount(alias)
    return Rebuilt(indexed, counted, time.perf_counter() - started)
