"""What /metrics tells: numbers of the house as it is now. Read only, each query bounded by an index or by what is open.

A database that does not answer leaves its numbers out and is told as down; nothing here raises because of it.
"""

import shutil
from collections.abc import Iterator
from datetime import datetime
from typing import NamedTuple

from django.db import DatabaseError
from django.db.models import Count, Max, Min, Sum
from django.utils import timezone

from clearinghouse import env
from clearinghouse.database.aliases import TARGETS, WEBCRAWL
from clearinghouse.operations import work_queues
from clearinghouse.operations.health import database_check
from clearinghouse.search.models import SearchUse
from clearinghouse.search.public_target import live_generation, public_target

from ..models import OPEN_STATES, Excursion, Fault, Instance, LedgerEntry, Propagation, Run, State
from ..runs.crawl_pace import pace_of
from . import tick_report

MOST_RUNS = 20  # that are told one by one
_PROPAGATION = ("waiting", "working", "paused", "done", "failed")
_AWAY = (DatabaseError, OSError)


class Gauge(NamedTuple):
    """One number; those of one name stand together."""

    name: str
    help: str
    value: float
    labels: tuple[tuple[str, str], ...] = ()


def gauges(now: datetime) -> Iterator[Gauge]:
    up = {alias: database_check.usable(alias) for alias in database_check.NAMES}
    for alias, answers in up.items():
        says = "1 while the database answers with the tables of this version"
        yield Gauge("database_up", says, int(answers), (("database", alias),))
    if up[WEBCRAWL]:
        yield from _safely(_of_webcrawl(now))
    for target, alias in TARGETS.items():
        if up[alias]:
            yield from _safely(_of_target(target, alias))
    yield from _of_redis(now)
    yield from _of_the_disk()


def _safely(numbers: Iterator[Gauge]) -> Iterator[Gauge]:
    try:
        yield from numbers
    except _AWAY:
        return


def _of_webcrawl(now: datetime) -> Iterator[Gauge]:
    runs = dict(Run.objects.values_list("state").annotate(n=Count("id")).order_by())
    for state in State:
        yield Gauge("runs", "Runs by state", runs.get(state, 0), (("state", str(state)),))
    yield from _of_open_excursions()
    running = Run.objects.filter(state=State.RUNNING).order_by("-id")[:MOST_RUNS]
    for run in running:
        pace = pace_of(run, None, now).per_minute
        yield Gauge("run_pages_per_minute", "Pages a minute of a running run", pace, (("run", str(run.pk)),))
    yield Gauge("ledger_last_id", "Rises with every address judged", _last_address())
    yield from _of_processes(now)
    yield from _of_propagation()
    yield Gauge("faults", "Kinds of faults of ours in the error log (the newest 500 are kept)", Fault.objects.count())
    used = SearchUse.objects.filter(day=timezone.localdate(now)).aggregate(Sum("searches"), Sum("empty"))
    yield Gauge("searches_today", "Public searches counted today", used["searches__sum"] or 0)
    yield Gauge("searches_empty_today", "Of these, how many found nothing", used["empty__sum"] or 0)


def _last_address() -> int:
    return LedgerEntry.objects.aggregate(last=Max("id"))["last"] or 0


def _of_open_excursions() -> Iterator[Gauge]:
    """Of unfinished documents only: the finished ones stand still, and are many."""
    names = ("queued", "crawled", "unchanged", "redirected", "skipped", "failed")
    rows = Excursion.objects.filter(state__in=OPEN_STATES).order_by()
    states = dict(rows.values_list("state").annotate(n=Count("id")))
    for state in OPEN_STATES:
        yield Gauge("open_excursions", "Unfinished documents by state", states.get(state, 0), (("state", str(state)),))
    sums = rows.aggregate(**{name: Sum(name) for name in names})
    for name in names:
        told = "Addresses of unfinished documents by outcome; queued are those waiting"
        yield Gauge("open_addresses", told, sums[name] or 0, (("outcome", name),))


def _of_processes(now: datetime) -> Iterator[Gauge]:
    living = Instance.objects.filter(alive=True)
    kinds = dict(living.values_list("kind").annotate(n=Count("id")).order_by())
    for kind in ("crawl", "propagate"):
        yield Gauge("instances", "Processes at work by kind", kinds.get(kind, 0), (("kind", kind),))
    oldest = living.aggregate(seen=Min("seen_at"))["seen"]
    if oldest:
        age = (now - oldest).total_seconds()
        yield Gauge("instance_beat_age_seconds", "Age of the oldest beat of a process at work", max(0.0, age))
    seen = tick_report.last_look()
    if seen:
        yield Gauge("tick_age_seconds", "Since the tick looked last", max(0.0, (now - seen).total_seconds()))
    yield Gauge("tick_steps_failing", "Steps of the tick that fail now", tick_report.failing().count())


def _of_propagation() -> Iterator[Gauge]:
    last = Propagation.objects.order_by("-id").values_list("state", flat=True).first()
    for state in _PROPAGATION:
        yield Gauge("propagation", "State of the last propagation", int(last == state), (("state", state),))
    for target in TARGETS:
        serves = int(public_target() == target)
        yield Gauge("serves_public", "1 for the target that serves the public", serves, (("target", target),))


def _of_target(target: str, alias: str) -> Iterator[Gauge]:
    yield Gauge("generation", "Generation a target shows", live_generation(alias), (("target", target),))


def _of_redis(now: datetime) -> Iterator[Gauge]:
    waiting = work_queues.lengths()
    yield Gauge("redis_up", "1 while Redis answers; work goes on without it", int(waiting is not None))
    if waiting is None:
        return
    workers = work_queues.workers()
    for name in work_queues.NAMES:
        yield Gauge("queue_rings", "Jobs waiting for a worker", waiting[name], (("queue", name),))
    for name in work_queues.NAMES:
        serving = sum(name in one["queues"] for one in workers)
        yield Gauge("workers", "Workers that serve a queue", serving, (("queue", name),))
    seen = [one["seen_at"] for one in workers if one["seen_at"]]
    if seen:
        ages = [(now - (at if at.tzinfo else at.replace(tzinfo=now.tzinfo))).total_seconds() for at in seen]
        yield Gauge("worker_beat_age_seconds", "Age of the oldest beat of a worker", max(0.0, *ages))


def _of_the_disk() -> Iterator[Gauge]:
    usage = shutil.disk_usage(env.var())
    yield Gauge("disk_free_bytes", "Free on the disk of the state folder", usage.free)
    yield Gauge("disk_size_bytes", "Size of that disk", usage.total)
