"""Owns: the examination of a whole house: every part, what is wrong with it, what to do. Changes nothing.

Does not: know HTTP. What the screen System status knows is asked there (queries.machines) and not known twice.
Called by: the command doctor.
"""

from collections.abc import Callable, Iterator

from django.core.exceptions import ImproperlyConfigured
from django.db import Error

from clearinghouse.databases import DEFAULT, WEBCRAWL
from clearinghouse.health import look

from . import databases, house, keys
from .values import TROUBLE, Line

# Each part, and the database without which there is nothing to look at (asking it would make an empty file).
_EXAMINATIONS: tuple[tuple[str, Callable[[], Iterator[Line]], str], ...] = (
    ("Databases", databases.examine, ""),
    ("Processes", house.processes, WEBCRAWL),
    ("Disk", house.disks, ""),
    ("Clock", house.clocks, WEBCRAWL),
    ("Targets", house.targets, WEBCRAWL),
    ("Error log", house.faults, WEBCRAWL),
    ("Libraries", house.versions, ""),
    ("Passwords of sites", keys.passwords, DEFAULT),
    ("State folder", keys.files, ""),
)


def examine() -> Iterator[Line]:
    """Line after line, as they are found; a part that cannot be looked at is trouble, and the next one follows."""
    for part, examination, needed in _EXAMINATIONS:
        if needed and look.why_not_reachable(needed):
            continue  # the line of that database says it
        try:
            yield from examination()
        except (Error, OSError, ImproperlyConfigured) as error:
            yield Line(part, TROUBLE, f"could not be examined ({type(error).__name__})", "see the lines above")
