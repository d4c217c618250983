"""Owns: who still works on the databases of this house, so that nothing is put under their feet."""

import os
from collections.abc import Iterable
from datetime import timedelta
from pathlib import Path

from django.db import DatabaseError
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.operations import work_queues
from clearinghouse.operations.health import database_check
from crawler.models import Instance

from .. import tick_report

_ALIVE = timedelta(minutes=1)


def at_work() -> list[str]:
    """One sentence for each kind of process that shows a sign of life; beats, marks, workers, open files."""
    return [
        *_by_beats(),
        *_by_redis(),
        *_by_files([path for alias in database_check.NAMES if (path := database_check.file_of(alias))]),
    ]


def _by_beats() -> list[str]:
    since, found = timezone.now() - _ALIVE, []
    try:
        if database_check.why_not_reachable(WEBCRAWL):
            return []  # nobody works on a database that is gone
        for instance in Instance.objects.filter(alive=True, seen_at__gte=since)[:10]:
            found.append(f"process {instance.pid} on {instance.host} is running: it crawls or propagates")
        seen = tick_report.last_look()
        if seen is not None and seen >= since:
            found.append("the tick ran within the last minute (if you stopped it just now, wait that minute)")
    except DatabaseError:
        return found  # not prepared: there is nothing to lose
    return found


def _by_redis() -> list[str]:
    workers = work_queues.workers()
    return [f"workers known to Redis: {len(workers)}"] if workers else []


def _by_files(paths: Iterable[Path]) -> list[str]:
    """Processes of this machine that hold a file open, the web server among them; as far as this user may see."""
    wanted = {str(path.resolve()) for path in paths if path.exists()}
    found: list[str] = []
    for folder in Path("/proc").glob("[0-9]*"):
        if int(folder.name) != os.getpid() and _holds(folder, wanted):
            found.append(f"process {folder.name} holds a database open")
    return found


def _holds(process: Path, wanted: set[str]) -> bool:
    try:
        return any(os.readlink(handle) in wanted for handle in (process / "fd").iterdir())
    except OSError:  # it ended, or is somebody else's
        return False
