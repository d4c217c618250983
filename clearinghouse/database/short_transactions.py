"""Owns: how a long piece of work lets others write meanwhile: short transactions, and a pause between two.

Called by: import_steps.
"""

import time
from collections.abc import Iterator
from contextlib import contextmanager

from django.db import transaction

# Seconds of a transaction with its commit; where the machine has other things to do it may be ten times that.
AIM = 0.05
# Between two. Who waits for SQLite looks every 100 ms whether it is free: so it is, whenever that may be.
PAUSE = 0.11
FEWEST, FIRST, MOST = 20, 100, 2000  # rows of a transaction


class ShortTransactions:
    """`rows` says how many rows the next one takes. What is computed between two counts as pause."""

    def __init__(self) -> None:
        self.rows = FIRST
        self._ended = time.monotonic()  # of the last one; before the first another piece of work may have written

    @contextmanager
    def one(self) -> Iterator[None]:
        time.sleep(max(0.0, self._ended + PAUSE - time.monotonic()))
        with transaction.atomic():
            began = time.monotonic()  # from here on others wait
            yield
        self._ended = time.monotonic()
        fitting = self.rows * AIM / max(self._ended - began, 0.001)
        self.rows = int(max(FEWEST, min(MOST, 2 * self.rows, fitting)))
