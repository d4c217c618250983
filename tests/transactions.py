"""How long the transactions of a process lasted: what others wait for, on SQLite. Loaded by who wants to know.

On the clock, and of the processor: on a machine with other things to do only the second one says what a change costs.
"""

import time
from collections.abc import Callable
from typing import Any

from django.db import transaction
from django.db.transaction import Atomic


def watch(tell: Callable[[float, float], None]) -> None:
    """From now on tells of each transaction its seconds, and those of the processor, from its begin to its commit."""
    enter, leave = Atomic.__enter__, Atomic.__exit__
    began: list[tuple[float, float]] = []

    def __enter__(self: Atomic) -> None:
        outermost = not transaction.get_connection(self.using).in_atomic_block
        enter(self)
        if outermost:
            began[:] = [(time.monotonic(), time.thread_time())]

    def __exit__(self: Atomic, *raised: Any) -> None:
        leave(self, *raised)
        if began and not transaction.get_connection(self.using).in_atomic_block:
            clock, processor = began.pop()
            tell(time.monotonic() - clock, time.thread_time() - processor)

    Atomic.__enter__, Atomic.__exit__ = __enter__, __exit__  # type: ignore[method-assign]
