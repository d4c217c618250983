"""Redis, the processes, the disks, the clock, what each target shows, faults of ours: as the screens know them."""

from collections.abc import Iterator
from datetime import timedelta
from pathlib import Path

from django.db import Error
from django.utils import timezone

from clearinghouse import env
from clearinghouse.database import full_disk
from clearinghouse.database.aliases import TARGETS, WEBCRAWL
from clearinghouse.operations.health import database_check, known_weaknesses
from clearinghouse.published.models import PublicSwitch
from clearinghouse.search.public_target import live_generation, public_target
from clearinghouse.web.plurals import plural
from crawler.liveness import database_clock
from crawler.models import Fault, Propagation
from crawler.propagation import services

from .. import machines, tick_report
from .types import OK, TROUBLE, WARNING, DoctorLine

_RECENT = timedelta(days=1)
_AHEAD = timedelta(seconds=30)  # a row from the future: some clock went back, or another machine's is ahead
_START = "start the lines of the Procfile: make run, or your process manager"


def processes() -> Iterator[DoctorLine]:
    redis = machines.redis_fact()
    do = "start Redis (make run and the Procfile do), or correct CLEARINGHOUSE_REDIS_URL; nothing is lost meanwhile"
    yield _line(redis, do, WARNING)
    workers = machines.workers_fact()
    # Without Redis nobody knows the workers: that is said above, and is no second trouble.
    level = TROUBLE if redis.good else WARNING
    yield _line(workers, _START if redis.good else "start Redis; then ask again", level)
    yield _line(machines.tick_fact(), _START)
    for fault in tick_report.failing():
        since = f"{timezone.localtime(fault.first_at):%d %b, %H:%M}"
        say = f"{fault.sentence} ({plural(fault.times, 'time')} since {since})"
        yield DoctorLine(
            "Tick", WARNING, say, "its other steps go on; put right what it names, and the step works again"
        )
    if silent := machines.live_without_beat():
        say = f"{plural(silent, 'process that should run was,processes that should run were')} not seen for 3 minutes"
        yield DoctorLine(
            "Crawler processes", WARNING, say, "the tick gives their work to others; start it if it is away"
        )


def _line(fact: machines.Fact, do: str, level: str = TROUBLE) -> DoctorLine:
    said = f"{fact.word}; {fact.detail}" if fact.detail else fact.word
    return DoctorLine(fact.label, OK, said) if fact.good else DoctorLine(fact.label, level, said, do)


def disks() -> Iterator[DoctorLine]:
    """Every folder in which state of ours lies, each disk once."""
    folders: dict[int, Path] = {}
    for folder in (
        env.var(),
        *(path.parent for alias in database_check.NAMES if (path := database_check.file_of(alias))),
    ):
        if folder.is_dir():
            folders.setdefault(folder.stat().st_dev, folder.resolve())
    least = env.number("FREE_SPACE")
    for folder in folders.values():
        fact = machines.disk(folder)
        if folder in map(Path.resolve, full_disk.full_folders()):
            say = f"the disk of {folder} is full: nothing can be saved, reading goes on"
            yield DoctorLine(f"Disk of {folder}", TROUBLE, say, "make room; nothing is lost")
            continue
        do = f"make room before it is full: crawls wait while less than {least} MB are free"
        yield _line(machines.Fact(f"Disk of {folder}", fact.word, fact.good, fact.detail), do, WARNING)


def clocks() -> Iterator[DoctorLine]:
    yield _line(machines.clock(), "let the machines take their time from the same time server")
    seen, now = tick_report.last_look(), database_clock.moment()
    if seen is not None and seen > now + _AHEAD:
        say = f"the tick's last mark is {plural(round((seen - now).total_seconds()), 'second')} in the future"
        yield DoctorLine("Clock", TROUBLE, say, "a clock went back or is ahead: correct it, and restart the tick")


def targets() -> Iterator[DoctorLine]:
    serving = public_target()
    shown = {target: _shown(alias) for target, alias in TARGETS.items()}
    said = ", ".join(f"{target} {what}" for target, what in shown.items())
    said = f"generation: {said}; the public is served by {serving}"
    answered = all(what.startswith("shows") for what in shown.values())
    if not answered:
        yield DoctorLine("Targets", WARNING, said, "repair the server as its line above says; propagate then fills it")
    elif len(set(shown.values())) > 1 and services.unfinished() is None:
        yield DoctorLine("Targets", WARNING, said, "run manage.py propagate: what a server lacks is written again")
    else:
        yield DoctorLine("Targets", OK, said)
    yield from _public(serving)
    last = Propagation.objects.order_by("-id").first()
    if last is not None and last.state == "failed":
        say = f"propagation {last.pk} failed: {last.error.strip().splitlines()[-1][:200] if last.error else ''}"
        yield DoctorLine("Propagation", TROUBLE, say, "the screen Propagation says why; it is tried again by the tick")


def _shown(alias: str) -> str:
    try:
        return "does not answer" if database_check.why_not_reachable(alias) else f"shows {live_generation(alias)}"
    except Error:
        return "is not prepared"


def _public(serving: str) -> Iterator[DoctorLine]:
    row = PublicSwitch.objects.using(WEBCRAWL).first()
    if serving != "primary" and services.unfinished() is None:
        yield DoctorLine("Public", WARNING, f"is served by {serving}", "the tick moves it back when primary answers")
    if row is not None and row.trouble:
        say = f"the load balancer did not follow: {row.trouble.strip().splitlines()[-1][:200]}"
        yield DoctorLine("Public", TROUBLE, say, "check CLEARINGHOUSE_SWITCH_COMMAND and CLEARINGHOUSE_SWITCH_URL")


def versions() -> Iterator[DoctorLine]:
    """What this version of the product knows to be weak; the newest is known by make audit."""
    old = known_weaknesses.weak(known_weaknesses.installed())
    if old:
        yield DoctorLine("Libraries", TROUBLE, "; ".join(old), "run make install: it takes those of constraints.txt")
    else:
        yield DoctorLine(
            "Libraries", OK, f"none of the {len(known_weaknesses.LIBRARIES)} with a known safe version is older"
        )
    if weak := known_weaknesses.weak_python(known_weaknesses.running()):
        do = "install a newer Python 3.11, unless your distribution says that it mended these"
        yield DoctorLine("Python", WARNING, "; ".join(weak), do)
    else:
        yield DoctorLine("Python", OK, known_weaknesses.running())


def faults() -> Iterator[DoctorLine]:
    recent = Fault.objects.filter(at__gte=timezone.now() - _RECENT).count()
    if recent:
        say = f"{plural(recent, 'kind of fault of ours,kinds of faults of ours')} happened in the last day"
        yield DoctorLine("Error log", WARNING, say, "read them at Settings, Error log")
    else:
        yield DoctorLine("Error log", OK, "no fault of ours in the last day")
