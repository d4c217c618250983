"""What the settings show of processes, databases, Redis and faults of ours. Read only; nothing here may raise."""

import shutil
import sys
from dataclasses import dataclass
from datetime import datetime, timedelta
from pathlib import Path
from typing import Any

import django
import redis
import rq
from django.conf import settings
from django.db import DatabaseError, connections
from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse import __version__, env, queues
from clearinghouse.databases import BACKUP, DEFAULT, PRIMARY, WEBCRAWL

from ..models import Excursion, Instance, State

NAMES = {DEFAULT: "doc_library (content development)", WEBCRAWL: "WebCrawl", PRIMARY: "doc_library (primary)",
         BACKUP: "doc_library (backup)"}  # fmt: skip
SILENT = timedelta(minutes=3)
_FULL = 85  # percent of a disk


@dataclass(frozen=True, slots=True)
class Fact:
    """One line of the system status: good, or with what to do about it."""

    label: str
    word: str
    good: bool = True
    detail: str = ""


def databases() -> list[Fact]:
    return [_database(alias, name) for alias, name in NAMES.items()]


def _database(alias: str, name: str) -> Fact:
    connection = connections[alias]
    try:
        with connection.cursor() as cursor:
            cursor.execute("SELECT 1")
    except (DatabaseError, OSError) as error:
        return Fact(name, "Not reachable", good=False, detail=type(error).__name__)
    file = Path(str(connection.settings_dict["NAME"]))
    size = f", {file.stat().st_size / 1e6:,.1f} MB" if connection.vendor == "sqlite" and file.exists() else ""
    return Fact(name, "Reachable", detail=f"{connection.display_name}{size}")


def redis_fact() -> Fact:
    if not queues.reachable():
        return Fact("Redis", "Not reachable", good=False, detail="Crawls wait; the tick rings again when it is back.")
    waiting = ", ".join(f"{name}: {queues.waiting(name)}" for name in queues.NAMES)
    return Fact("Redis", "Reachable", detail=f"Rings waiting for a worker: {waiting}")


def disk() -> Fact:
    usage = shutil.disk_usage(env.var())
    percent = 100 * usage.used // usage.total
    word = f"{percent}% used"
    return Fact("Disk of the state folder", word, good=percent < _FULL, detail=f"{usage.free / 1e9:,.1f} GB free")


def versions() -> list[tuple[str, str]]:
    return [
        ("Clearinghouse Web Crawl", __version__),
        ("Python", sys.version.split()[0]),
        ("Django", django.get_version()),
        ("RQ", rq.VERSION),
        ("redis (client)", redis.__version__),
        ("Time zone", settings.TIME_ZONE),
        ("Environment", env.text("ENV")),
    ]


def instances() -> QuerySet[Instance]:
    """Living processes first, then those that ended last."""
    return Instance.objects.order_by("-alive", "-seen_at", "-id")


def live_without_beat(now: datetime | None = None) -> int:
    """Instances that call themselves alive and were not seen for minutes."""
    return Instance.objects.filter(alive=True, seen_at__lt=(now or timezone.now()) - SILENT).count()


def waiting_excursions() -> int:
    return Excursion.objects.filter(state=State.WAITING).count()


def faults() -> QuerySet[Excursion]:
    """Excursions that ended by a fault of ours, newest first."""
    return Excursion.objects.exclude(error="").defer("snapshot", "tallies").order_by("-id")


def last_line(fault: Any) -> str:
    """The sentence of a traceback."""
    lines = str(fault.error).strip().splitlines()
    return lines[-1][:300] if lines else ""
