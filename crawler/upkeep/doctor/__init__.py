"""Owns: the examination of a whole house: every part, what is wrong with it, what to do. Changes nothing.

Does not: know HTTP. What the screen System status knows is asked there (queries.machines) and not known twice.
Called by: the command doctor.
"""

from collections.abc import Callable, Iterator

from django.core.exceptions import ImproperlyConfigured
from django.db import Error

from clearinghouse.database.aliases import DEFAULT, WEBCRAWL
from clearinghouse.operations.health import database_check

from . import database_tests, key_tests, system_tests
from .types import TROUBLE, DoctorLine

# Each part, and the database without which there is nothing to look at (asking it would make an empty file).
_EXAMINATIONS: tuple[tuple[str, Callable[[], Iterator[DoctorLine]], str], ...] = (
    ("Databases", database_tests.examine, ""),
    ("Processes", system_tests.processes, WEBCRAWL),
    ("Disk", system_tests.disks, ""),
    ("Clock", system_tests.clocks, WEBCRAWL),
    ("Targets", system_tests.targets, WEBCRAWL),
    ("Error log", system_tests.faults, WEBCRAWL),
    ("Libraries", system_tests.versions, ""),
    ("Passwords of sites", key_tests.passwords, DEFAULT),
    ("State folder", key_tests.files, ""),
)


def examine() -> Iterator[DoctorLine]:
    """Line after line, as they are found; a part that cannot be looked at is trouble, and the next one follows."""
    for part, examination, needed in _EXAMINATIONS:
        if needed and database_check.why_not_reachable(needed):
            continue  # the line of that database says it
        try:
            yield from examination()
        except (Error, OSError, ImproperlyConfigured) as error:
            yield DoctorLine(part, TROUBLE, f"could not be examined ({type(error).__name__})", "see the lines above")
