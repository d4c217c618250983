"""What the doctor says. Pure."""

from typing import NamedTuple

OK, WARNING, TROUBLE = "ok", "warning", "trouble"


class DoctorLine(NamedTuple):
    """One part: how it is, and what to do about it."""

    part: str
    level: str
    said: str
    do: str = ""
