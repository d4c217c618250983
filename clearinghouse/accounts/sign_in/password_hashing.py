"""Owns: how many passwords a web process computes at once: a hash takes a quarter of a second of a processor.

Does not: know whose password it is. Called by: sign_in, own_password.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

AT_ONCE = 1
WAITING = 2  # threads that may wait for it; the others of the process go on answering pages
PATIENCE = 3.0  # seconds
RETRY_AFTER = 5


class TooManySignIns(Exception):
    """Nobody's fault: so many people sign in at this moment that this one is asked to press again."""

    seconds = RETRY_AFTER

    def __init__(self) -> None:
        super().__init__(
            f"Many people are signing in at the moment. Nothing was checked: try again in {RETRY_AFTER} seconds."
        )


_room = BoundedSemaphore(AT_ONCE + WAITING)
_turn = BoundedSemaphore(AT_ONCE)


@contextmanager
def turn() -> Iterator[None]:
    """Raises TooBusy at once where too many wait, and after PATIENCE where it takes too long."""
    if not _room.acquire(blocking=False):
        raise TooManySignIns
    try:
        if not _turn.acquire(timeout=PATIENCE):
            raise TooManySignIns
        try:
            yield
        finally:
            _turn.release()
    finally:
        _room.release()
