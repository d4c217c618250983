"""Owns: what this machine is, and what processes take of it: tools, byte code, memory, processor time; the tables.

Does not: start what is measured, or judge it. Called by: the measurements.
"""

import compileall
import datetime
import os
import platform
import shutil
import sqlite3
import sys
from collections.abc import Iterable, Sequence
from functools import cache
from pathlib import Path

BASE = Path(__file__).resolve().parents[2]
ROOMS = ("clearinghouse", "crawlpoints", "crawler", "tests/bench")
_TICKS = os.sysconf("SC_CLK_TCK")


def facts() -> list[str]:
    """What a reader needs before he compares a figure with one of his own."""
    now = datetime.datetime.now(datetime.UTC)
    return [
        f"{now:%Y-%m-%d %H:%M} UTC; load before: {os.getloadavg()[0]:.1f}",
        f"{cores()} cores, {_field('/proc/cpuinfo', 'model name')}, {_memory()} of memory",
        f"Linux {platform.release()}, Python {platform.python_version()}, SQLite {sqlite3.sqlite_version}",
    ]


def cores() -> int:
    return len(os.sched_getaffinity(0))


def _memory() -> str:
    return f"{int(_field('/proc/meminfo', 'MemTotal').split()[0]) / 1024**2:.0f} GB"


def _field(file: str, name: str) -> str:
    for line in Path(file).read_text().splitlines():
        if line.startswith(name):
            return line.partition(":")[2].strip()
    return "unknown 0"


def missing(tools: Iterable[str]) -> list[str]:
    return [tool for tool in tools if shutil.which(tool) is None]


def require(*tools: str) -> None:
    """End with one line when this machine cannot run the measurement."""
    if absent := missing(tools):
        sys.exit(f"NOT RUN: {', '.join(absent)} missing on this machine")


# -- as on anybody's machine ------------------------------------------------------------------------------------------


def environment() -> dict[str, str]:
    """With byte code: a process that compiles its modules at every start would be measured as slow. And without
    settings: what is measured must never write to the databases of the one who measures."""
    compile_once()
    kept_out = ("CLEARINGHOUSE_", "PYTHONDONTWRITEBYTECODE")
    return {name: value for name, value in os.environ.items() if not name.startswith(kept_out)}


@cache
def compile_once() -> None:
    for room in ROOMS:
        compileall.compile_dir(BASE / room, quiet=2)


# -- processes --------------------------------------------------------------------------------------------------------


def family(pid: int, name: str = "") -> list[int]:
    """A process and all that it started, as far as they live; only those of this name, if one is given."""
    parents: dict[int, int] = {}
    for folder in Path("/proc").iterdir():
        if folder.name.isdigit() and (fields := _stat(int(folder.name))):
            parents[int(folder.name)] = int(fields[1])
    found = [pid] if pid in parents else []
    for one in found:  # grows while it is read
        found += [child for child, parent in parents.items() if parent == one]
    return [one for one in found if not name or _name(one) == name]


def _name(pid: int) -> str:
    try:
        return Path(f"/proc/{pid}/comm").read_text().strip()
    except OSError:
        return ""


def _stat(pid: int) -> list[str]:
    """The fields of /proc/PID/stat from the state on; none when the process is gone."""
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    except OSError:
        return []


def memory(pid: int, kind: str = "Pss") -> float:
    """MB of one process: Pss (what it shares is divided among those who share it) or Rss; 0 when it is gone."""
    try:
        lines = Path(f"/proc/{pid}/smaps_rollup").read_text().splitlines()
    except OSError:
        return 0.0
    return sum(int(line.split()[1]) for line in lines if line.startswith(f"{kind}:")) / 1024


def seconds_of(pids: Iterable[int]) -> float:
    """Processor time these processes have taken."""
    stats = [fields for pid in pids if (fields := _stat(pid))]
    return sum(int(fields[11]) + int(fields[12]) for fields in stats) / _TICKS


def busy_seconds() -> float:
    """Processor time all cores have been busy with anything."""
    fields = [int(word) for word in Path("/proc/stat").read_text().splitlines()[0].split()[1:]]
    user, nice, system, _idle, _wait, hard, soft, stolen = fields[:8]
    return (user + nice + system + hard + soft + stolen) / _TICKS


# -- figures ----------------------------------------------------------------------------------------------------------


def percentile(values: Sequence[float], share: float) -> float:
    ordered = sorted(values)
    return ordered[min(len(ordered) - 1, int(share * len(ordered)))]


def kept(holds: bool) -> str:
    return "kept" if holds else "MISSED"


def table(title: str, heads: Sequence[str], rows: Iterable[Sequence[object]]) -> None:
    print(f"\n{title}\n")
    print(f"| {' | '.join(heads)} |\n|{' --- |' * len(heads)}")
    for row in rows:
        print(f"| {' | '.join(str(cell) for cell in row)} |")
    sys.stdout.flush()
