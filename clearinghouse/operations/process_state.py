"""Owns: what the kernel says of a process of this host: whether it is stopped, and how much it has worked.

A process that was stopped (SIGSTOP, a debugger) is no fault of what it was doing. Called by: who waits for a process.
"""

import os
import time
from pathlib import Path
from typing import NamedTuple

STOPPED_SECONDS = 20.0  # after which a stopped process is woken or replaced, as one that is silent is taken for dead


class ProcessState(NamedTuple):
    letter: str  # as in proc(5); empty: there is no such process
    seconds: float  # of processor time, its own

    @property
    def stopped(self) -> bool:
        return self.letter in ("T", "t")


class StoppedFor:
    """How long one process has been seen stopped, by who looks at it again and again."""

    def __init__(self) -> None:
        self._since: dict[int, float] = {}

    def too_long(self, pid: int) -> bool:
        """Starts anew once it said yes."""
        if not of(pid).stopped:
            self._since.pop(pid, None)
            return False
        since = self._since.setdefault(pid, time.monotonic())
        if time.monotonic() - since < STOPPED_SECONDS:
            return False
        del self._since[pid]
        return True


def of(pid: int) -> ProcessState:
    try:
        fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return ProcessState("", 0.0)
    return ProcessState(fields[0], (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK"))
