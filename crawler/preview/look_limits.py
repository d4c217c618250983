"""Owns: how many wait for sites at once because somebody pressed a button: one look a person, a few a process.

The threads of the web server are few, and a silent site holds one for seconds: whoever could hold them all would stop
everybody. Does not: ask a site (line), or know its pace (site_turns). Called by: line.

That a person looks is a lock on a file, so that it holds over all web processes of a machine, and ends with a process
that is killed.
"""

import fcntl
import os
from collections.abc import Iterator
from contextlib import contextmanager
from threading import BoundedSemaphore

from clearinghouse import env
from clearinghouse.database.digests import digest_of
from clearinghouse.database.records import actor

from ..errors import TooManyAtOnce

MOST = 2  # of the four threads of a web process
SECONDS = 5  # after which trying again is worth while
YOURS = "You are already testing a site: try again when that has ended"
OTHERS = "Several people are testing sites at the moment: try again in a few seconds"
_places = BoundedSemaphore(MOST)


@contextmanager
def one_look() -> Iterator[None]:
    """Of the person who acts; raises TooManyAtOnce instead of waiting."""
    with _of_person(actor()):
        if not _places.acquire(blocking=False):
            raise TooManyAtOnce(OTHERS, SECONDS)
        try:
            yield
        finally:
            _places.release()


@contextmanager
def _of_person(name: str) -> Iterator[None]:
    folder = env.var() / "looks"
    folder.mkdir(mode=0o700, exist_ok=True)
    handle = os.open(folder / digest_of(name).hex(), os.O_RDWR | os.O_CREAT | os.O_CLOEXEC, 0o600)
    try:
        fcntl.flock(handle, fcntl.LOCK_EX | fcntl.LOCK_NB)
    except BlockingIOError:
        os.close(handle)
        raise TooManyAtOnce(YOURS, SECONDS) from None
    try:
        yield
    finally:
        os.close(handle)
