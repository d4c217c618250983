"""Owns: what an instance must know of the machine and the database it works on: free space, its own memory, the schema.

Does not: decide what follows. Called by: the instance, once a second.
"""

import ctypes
import gc
import os
import platform
import shutil
import struct
import time
from contextlib import suppress
from pathlib import Path

from django.db import connections
from django.db.migrations.loader import MigrationLoader
from django.db.migrations.recorder import MigrationRecorder

from clearinghouse import env
from clearinghouse.database.aliases import WEBCRAWL

LEAST_FREE = env.number("FREE_SPACE") * 1_000_000  # by default twice the largest page
MOST_MEMORY = env.number("MEMORY") * 1_000_000
NICE = 15
# A third of what another session gets. With 10 people waited less (p95 53 to 69 ms, 73 to 85 with 5, 98 to 105 with
# neither), but a machine with 20 others at work left a crawl a second of 100: too few to say in time that it lives.
SESSION_NICE = 5
_SESSION = Path("/proc/self/autogroup")
_TRIES, _PAUSE = 5, 0.12  # the kernel takes such a wish from one process in a tenth of a second
SHORT_TURN = 100_000  # nanoseconds of the processor at a time, when somebody else waits for it
_SCHED_SETATTR = {"x86_64": 314, "aarch64": 274}  # the system call has no name in Python
_SCHED_ATTRIBUTES = struct.Struct("<IIQiIQQQ")  # size, policy, flags, nice, priority, runtime, deadline, period


def collect_seldom() -> None:
    """Profiled: looking for circles of garbage among all that was imported took a twentieth of a crawl."""
    gc.collect()
    gc.freeze()
    gc.set_threshold(50_000, 20, 50)


def step_back() -> None:
    """Let everybody else go first: people wait for screens, nobody waits for a crawl or a propagation."""
    os.nice(max(0, NICE - os.nice(0)))
    _take_short_turns()
    let_session_step_back()


def let_session_step_back() -> None:
    """Linux may divide the processor among sessions first (autogroup), and only then look who is nice in each; and a
    process manager gives each process a session of its own. That of a worker which was started under nice steps back as
    a whole; a command, a shell and a worker whose other jobs are quick are left as who started them wants them."""
    with suppress(OSError):
        leader = os.getsid(0)
        led = leader not in (os.getpid(), 0) and os.getpriority(os.PRIO_PROCESS, leader) >= NICE
        if not led or not _SESSION.exists():
            return
        if int(_SESSION.read_text().split()[-1]) >= SESSION_NICE:
            return
    for _ in range(_TRIES):
        with suppress(OSError):
            _SESSION.write_text(str(SESSION_NICE))
            return
        time.sleep(_PAUSE)


def _take_short_turns() -> None:
    """A screen that wakes up on a processor of ours need not wait for the end of our turn, which may take some
    milliseconds in spite of nice. As SCHED_BATCH we interrupt nobody; Linux 6.12 and later let us shorten our turns.

    Not SCHED_IDLE: on a machine busy with other things a crawl could then stand still, with the database locked.
    """
    number = _SCHED_SETATTR.get(platform.machine())
    if number is not None:
        attributes = (_SCHED_ATTRIBUTES.size, os.SCHED_BATCH, 0, os.nice(0), 0, SHORT_TURN, 0, 0)
        ctypes.CDLL(None).syscall(number, 0, _SCHED_ATTRIBUTES.pack(*attributes), 0)  # refused: we go on as we are


def no_space() -> str:
    """Why nothing more may be stored, or nothing. A database server looks after its own disk."""
    connection = connections[WEBCRAWL]
    if connection.vendor != "sqlite":
        return ""
    folder = Path(str(connection.settings_dict["NAME"])).parent
    free = shutil.disk_usage(folder).free if folder.is_dir() else LEAST_FREE
    return f"{free // 1_000_000} MB are free in {folder}" if free < LEAST_FREE else ""


def memory() -> int:
    """Bytes of memory this process holds."""
    status = Path("/proc/self/statm")
    return int(status.read_text().split()[1]) * os.sysconf("SC_PAGE_SIZE") if status.exists() else 0


def schema() -> int:
    """A number that every migration of the WebCrawl database raises."""
    rows = MigrationRecorder(connections[WEBCRAWL]).migration_qs.order_by("-id")
    return rows.values_list("id", flat=True).first() or 0


def newer_schema() -> bool:
    """Whether migrations were applied that this code does not know."""
    loader = MigrationLoader(connections[WEBCRAWL])
    return not loader.applied_migrations.keys() <= loader.disk_migrations.keys()
