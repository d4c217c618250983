"""Owns: the names of the work queues, the jobs there are, and the one way to wake a worker for one of them.

Does not: hold work. The rows in WebCrawl say what is to be done; a job in Redis only wakes a worker, and the tick
wakes one again for whatever was lost. Called by: every service that has work for a worker, the tick.
"""

import logging
from collections.abc import Iterator
from enum import Enum
from typing import Any

import django_rq
from django.conf import settings
from redis import Redis
from redis.exceptions import RedisError, ResponseError
from rq import Queue, Worker
from rq.exceptions import DeserializationError
from rq.job import Job as QueuedJob
from rq.worker import WorkerStatus

from . import redis_problems

CONTROL = "control"
CRAWL = "crawl"
PROPAGATE = "propagate"
PREVIEW = "preview"
NAMES = (CONTROL, CRAWL, PROPAGATE, PREVIEW)

NO_LIMIT = -1  # RQ's word for it


class Job(Enum):
    """Every job there is: its function, which is also the name of those that wait in Redis, and its queue."""

    INITIALIZE = "crawler.jobs.initialize", "control"
    SERVE = "crawler.jobs.serve", "crawl"
    PROPAGATE = "crawler.jobs.propagate", "propagate"
    COUNT_WORDS = "crawler.jobs.count_words", "propagate"
    FORECAST = "crawler.jobs.forecast", "propagate"
    DIAGNOSE = "crawler.jobs.diagnose", "control"
    TELL = "crawler.jobs.tell", "control"
    PRUNE = "crawler.jobs.prune", "crawl"
    PREVIEW = "crawler.jobs.preview", "preview"
    IMPORT_POINTS = "crawlpoints.jobs.import_points", "control"

    def __init__(self, function: str, queue: str) -> None:
        self.function = function
        self.queue = queue
        # A crawl ends its slice and wakes another worker; a propagation ends when it is done, and beats meanwhile.
        self.timeout = NO_LIMIT if queue == PROPAGATE else None


# A person's click never waits longer than this for Redis (fault B5).
PATIENCE_SECONDS = 1.0

# The only functions a worker will run: a payload naming anything else is refused (threat T20).
TRUSTED = {job.function for job in Job}

# What RQ raises on entries it did not write itself.
UNREADABLE = (DeserializationError, ValueError, TypeError, LookupError, AttributeError, AssertionError, ArithmeticError)

log = logging.getLogger(__name__)


class UntrustedJob(Exception):
    """A job in Redis names a function that is not one of ours."""


class TrustedJob(QueuedJob):
    @property
    def func(self) -> Any:
        if self.func_name not in TRUSTED:
            raise UntrustedJob(f"{self.func_name!r} is not a job of this product")
        return super().func


def _redis() -> Redis:
    return Redis.from_url(settings.REDIS_URL, socket_timeout=PATIENCE_SECONDS, socket_connect_timeout=PATIENCE_SECONDS)


def wake(job: Job, *ids: int) -> bool:
    """Ask a worker to look at these rows; False when Redis cannot be asked (the tick will do so again)."""
    try:
        _enqueue(job, ids)
        return True
    except (RedisError, OSError) as error:
        log.warning("Redis did not accept the job %s %s: %s", job.function, ids, redis_problems.sentence(error))
        return False


def _enqueue(job: Job, ids: tuple[int, ...]) -> None:
    connection = _redis()
    target = django_rq.get_queue(job.queue, connection=connection)
    how = {"job_timeout": job.timeout, "result_ttl": 0, "failure_ttl": 3600, "ttl": None}
    try:
        target.enqueue(job.function, *ids, **how)
    except RedisError as error:
        if not redis_problems.is_wrong_type(error) or not redis_problems.remove_wrong_types(connection):
            raise
        target.enqueue(job.function, *ids, **how)


def waiting(queue: str) -> int:
    """How many jobs wait; 0 when Redis cannot be asked."""
    try:
        return django_rq.get_queue(queue, connection=_redis()).count
    except (RedisError, OSError):
        return 0


def lengths() -> dict[str, int] | None:
    """How many jobs of each queue wait; None when Redis cannot be asked."""
    try:
        connection = _redis()
        return {name: django_rq.get_queue(name, connection=connection).count for name in NAMES}
    except (RedisError, OSError):
        return None


def idle_workers(queue: str) -> int:
    """How many workers wait for a job of this queue; 0 when Redis cannot be asked."""
    try:
        target = django_rq.get_queue(queue, connection=_redis())
        return sum(worker.get_state() == WorkerStatus.IDLE for worker in _workers(target.connection, target))
    except (RedisError, OSError):
        return 0


def trouble() -> str:
    """Why Redis takes no job now, in one sentence without a full stop; empty when it does."""
    try:
        return redis_problems.why_nothing_is_taken(_redis())
    except ValueError as error:  # the address itself
        return f"CLEARINGHOUSE_REDIS_URL cannot be used ({type(error).__name__})"


def reachable() -> bool:
    return not trouble()


def _workers(connection: Redis, queue: Queue | None = None) -> Iterator[Worker]:
    """Those whose entries can be read: one that somebody else wrote must not break a screen, or the tick."""
    try:
        keys = Worker.all_keys(connection=connection, queue=queue)
    except UNREADABLE:
        return
    for key in keys:
        try:
            worker = Worker.find_by_key(key, connection=connection)
        except (*UNREADABLE, ResponseError) as error:
            log.debug("An entry of a worker in Redis cannot be read: %r", error)
            continue
        if worker is not None:
            yield worker


def _state(worker: Worker) -> str:
    """RQ gives its own enumeration, or the text that stands in Redis."""
    state = worker.get_state()
    return str(getattr(state, "value", state))


def workers() -> list[dict[str, Any]]:
    """The RQ workers Redis knows; none when it cannot be asked."""
    try:
        return [
            {"name": one.name, "state": _state(one), "queues": one.queue_names(),
             "started_at": one.birth_date, "seen_at": one.last_heartbeat}
            for one in _workers(_redis())
        ]  # fmt: skip
    except (RedisError, OSError):
        return []
