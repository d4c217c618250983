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
from django.db.models import Q, QuerySet
from django.utils import timezone

from clearinghouse import __version__, env
from clearinghouse.database import full_disk
from clearinghouse.operations import work_queues
from clearinghouse.operations.health import database_check
from clearinghouse.operations.health.database_check import NAMES
from clearinghouse.operations.redis_problems import NO_ANSWER
from clearinghouse.web.banner import BannerSentence
from clearinghouse.web.plurals import plural

from ..models import Excursion, Fault, Instance, State
from . import tick_report

SILENT = timedelta(minutes=3)
_MACHINES, _STATUS = ("workers", "Workers and queue"), ("status", "System status")
_CRAWLS_WAIT = "Crawls are waiting at the moment. Administrators see why."
LEAST_FREE = 1_000_000_000  # bytes
LEAST_SHARE = 0.05  # of the disk
_OUT_OF_STEP = 5.0  # seconds between our clock and that of a database server


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
    if why := database_check.why_not_reachable(alias):
        return Fact(name, "Not reachable", good=False, detail=why)
    file = database_check.file_of(alias)
    size = f", {file.stat().st_size / 1e6:,.1f} MB" if file is not None and file.exists() else ""
    return Fact(name, "Reachable", detail=f"{connections[alias].display_name}{size}")


def schema() -> Fact:
    """Whether every database has the tables this version works with."""
    behind = []
    for alias, name in NAMES.items():
        try:
            if not database_check.why_not_reachable(alias) and database_check.steps_behind(alias):
                behind.append(name)
        except (DatabaseError, OSError):
            continue  # the line of that database says it
    if behind:
        return Fact("Schema", "Out of date", good=False, detail=f"Run manage.py prepare: {', '.join(behind)}")
    return Fact("Schema", "Up to date", detail="Tables of all databases that answer")


def clock() -> Fact:
    """Ours beside those of the database servers; a file has no clock of its own."""
    here = timezone.now()
    detail = f"{timezone.localtime(here):%d %b %Y, %H:%M:%S} {settings.TIME_ZONE}"
    for alias, name in NAMES.items():
        connection = connections[alias]
        if connection.vendor != "postgresql":
            continue
        try:
            with connection.cursor() as cursor:
                cursor.execute("SELECT now()")
                apart = abs((cursor.fetchone()[0] - timezone.now()).total_seconds())
        except (DatabaseError, OSError):
            continue
        if apart > _OUT_OF_STEP:
            sentence = f"{detail}; that of {name} differs by {plural(round(apart), 'second')}"
            return Fact("Clock", "Differs", good=False, detail=sentence)
    return Fact("Clock", "Agrees", detail=detail)


def workers_fact() -> Fact:
    """Whether somebody is there to crawl: RQ workers, and crawls in processes of their own."""
    processes = Instance.objects.filter(alive=True).count()
    if not work_queues.reachable():
        detail = f"only Redis knows which workers wait for work; {processes} at work now"
        return Fact("Workers", "Not known", good=False, detail=detail)
    found = work_queues.workers()
    missing = _unserved(found)
    detail = f"{len(found)} known to Redis, {processes} at work now"
    if missing:
        return Fact("Workers", "Missing", good=False, detail=f"{detail}; no worker for {', '.join(missing)}")
    return Fact("Workers", "Present", detail=detail)


def _unserved(workers: list[dict[str, Any]]) -> list[str]:
    """The queues to which no worker listens."""
    served = {name for one in workers for name in one["queues"]}
    return [name for name in work_queues.NAMES if name not in served]


def tick_fact(now: datetime | None = None) -> Fact:
    """The tick starts what is due and takes work from the dead; it leaves a mark at each look."""
    seen, now = tick_report.last_look(), now or timezone.now()
    if seen is None or now - seen > SILENT:
        since = f"last seen {timezone.localtime(seen):%d %b %Y, %H:%M}" if seen else "never seen"
        detail = f"Nothing starts by itself; {since}. Start manage.py tick."
        return Fact("Tick", "Not running", good=False, detail=detail)
    detail = f"Seen {plural(max(0, round((now - seen).total_seconds())), 'second')} ago"
    failing = [f"{fault.sentence} ({plural(fault.times, 'time')})" for fault in tick_report.failing()]
    if failing:
        return Fact("Tick", "A step fails", good=False, detail=f"{detail}. {'. '.join(failing)}")
    return Fact("Tick", "Running", detail=detail)


def trouble_now() -> BannerSentence | None:
    """What everybody should know at once, the worst first. A house that was never started has no trouble yet."""
    seen = tick_report.last_look()
    if seen is None:
        return None
    if why := work_queues.trouble():
        return BannerSentence(f"{why}. Crawls will wait.", *_MACHINES, _CRAWLS_WAIT)
    unserved = _unserved(work_queues.workers())
    if set(unserved) - {work_queues.PREVIEW}:
        return BannerSentence("No worker has reported for 3 minutes. Crawls will wait.", *_MACHINES, _CRAWLS_WAIT)
    if timezone.now() - seen > SILENT:
        sentence = "The tick has not reported for 3 minutes. Nothing starts by itself."
        return BannerSentence(sentence, *_MACHINES, "Nothing starts by itself at the moment. Administrators see why.")
    if full_disk.anywhere():
        return BannerSentence("The disk is full. Nothing can be saved until there is room; reading goes on.", *_STATUS)
    full = disk()
    if not full.good:
        nearly = "The disk is nearly full. Crawls stop when it is full."
        return BannerSentence(f"{full.label}: {full.word}. Crawls stop when it is full.", *_STATUS, nearly)
    if unserved:
        sentence = "No worker for previews has reported for 3 minutes. They will wait."
        return BannerSentence(sentence, *_MACHINES, "Previews are waiting at the moment. Administrators see why.")
    return None


def redis_fact() -> Fact:
    if why := work_queues.trouble():
        word = "Not reachable" if why == NO_ANSWER else "Refuses jobs"
        detail = "" if why == NO_ANSWER else f"{why}. "
        return Fact("Redis", word, good=False, detail=f"{detail}Crawls wait; they go on when it is back.")
    waiting = ", ".join(f"{name}: {work_queues.waiting(name)}" for name in work_queues.NAMES)
    return Fact("Redis", "Reachable", detail=f"Jobs waiting for a worker: {waiting}")


def disk(folder: Path | None = None) -> Fact:
    """Said before it is too late: crawls wait from CLEARINGHOUSE_FREE_SPACE on, which is less."""
    usage = shutil.disk_usage(folder or env.var())
    scarce = usage.free < max(LEAST_FREE, LEAST_SHARE * usage.total)
    word = f"{100 * usage.used // usage.total}% used"
    return Fact("Disk of the state folder", word, good=not scarce, detail=f"{usage.free / 1e9:,.1f} GB free")


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


def faults(text: str = "", since: datetime | None = None) -> QuerySet[Excursion]:
    """Excursions that ended by a fault of ours, newest first; those whose title or traceback holds the text."""
    rows = Excursion.objects.exclude(error="").defer("snapshot", "tallies").order_by("-id")
    rows = rows.filter(Q(title__icontains=text) | Q(error__icontains=text)) if text else rows
    return rows.filter(Q(finished_at=None) | Q(finished_at__gte=since)) if since else rows


def other_faults(text: str = "", since: datetime | None = None) -> QuerySet[Fault]:
    """Those of web pages, the tick, jobs and propagation, each kind once, the last first."""
    rows = Fault.objects.order_by("-at", "-id")
    rows = rows.filter(Q(sentence__icontains=text) | Q(trace__icontains=text)) if text else rows
    return rows.filter(at__gte=since) if since else rows


def last_line(fault: Any) -> str:
    """The sentence of a traceback."""
    lines = str(fault.error).strip().splitlines()
    return lines[-1][:300] if lines else ""
