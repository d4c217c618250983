"""Owns: the RQ worker of the product: what it accepts from Redis, and how it ends.

Does not: know what a job does. Called by: `manage.py rqworker QUEUE` (settings.RQ names this class).

The contract with a job: SIGTERM means "finish the batch in hand, release your queues, return". The worker forwards
it to the process that runs the job and waits for its end; when the worker itself is killed, that process dies too.
Redis may go away at any time: the job goes on, and the worker waits for Redis afterwards (fault B2).
"""

import ctypes
import logging
import os
import signal
import time
from typing import Any

from redis import Redis
from redis.exceptions import ConnectionError as RedisGone
from redis.exceptions import OutOfMemoryError, ReadOnlyError, RedisError
from redis.exceptions import TimeoutError as RedisSilent
from rq import Queue, Worker
from rq.exceptions import DeserializationError, InvalidJobOperation
from rq.job import Job
from rq.serializers import JSONSerializer

from .adoption.checks import unusable_files
from .databases import DEFAULT, WEBCRAWL
from .process_state import StoppedFor
from .queues import TRUSTED, UNREADABLE, TrustedJob

PR_SET_PDEATHSIG = 1
PATIENCE_SECONDS = 30.0
LOOK_SECONDS = 5  # how often a worker with a job tells Redis that it lives
REFUSING = (OutOfMemoryError, ReadOnlyError)

log = logging.getLogger(__name__)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Ask the kernel to signal this process when its parent is gone: no orphan goes on writing (fault A5)."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)


def wait_for_redis(connection: Redis, patience: float = PATIENCE_SECONDS) -> None:
    """Processes start together, and the one that serves Redis may be the last to be ready."""
    deadline = time.monotonic() + patience
    while True:
        try:
            connection.ping()
            return
        except RedisGone:
            if time.monotonic() > deadline:
                raise
            time.sleep(0.1)


def _lives(pid: int) -> bool:
    try:
        os.kill(pid, 0)
    except ProcessLookupError:
        return False
    return pid > 0


def refusal(job: Job) -> str:
    """Why a job of the queue is not run, or nothing. Whoever can write to Redis must not choose our code (T20)."""
    try:
        name = job.func_name
    except DeserializationError:
        return "its payload is not JSON"
    if job.instance is not None or name not in TRUSTED:
        return f"{name!r} is not a job of this product"
    if job._success_callback_name or job._failure_callback_name or job._stopped_callback_name or job.webhooks:
        return "our jobs have no callbacks"
    return ""


class OurWorker(Worker):
    """JSON payloads, trusted functions, a quick and clean end."""

    max_connection_wait_time = 5.0  # RQ's minute would be added to every outage of Redis

    def __init__(self, queues: Any, **options: Any) -> None:
        # rqworker would pass its own default, which is pickle.
        options |= {"serializer": JSONSerializer, "job_class": TrustedJob, "job_monitoring_interval": LOOK_SECONDS}
        if unusable := unusable_files(DEFAULT, WEBCRAWL):
            raise SystemExit(unusable)
        wait_for_redis(options["connection"])
        self._stopped = StoppedFor()
        super().__init__(queues, **options)

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """The next job that is ours. Garbage and foreign jobs are thrown away, and the worker lives (fault B12)."""
        while True:
            try:
                result = super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
            except (RedisSilent, *REFUSING) as error:
                log.warning("Redis is silent, or takes nothing: %s", error)
                time.sleep(1.0)
                continue
            except UNREADABLE as error:
                # RQ marks what it could not read; anything else is a fault.
                if not hasattr(error, "job_id") and not isinstance(error, UnicodeDecodeError):
                    raise
                log.warning("Refused a job that cannot be read: %r", error)
                self._forget(self.queues[0], getattr(error, "job_id", ""))
                continue
            if result is None:
                return None
            job, queue = result
            why = refusal(job)
            if not why:
                return result
            log.warning("Refused job %r: %s", job.id, why)
            self._forget(queue, job.id)

    def heartbeat(self, *args: Any, **options: Any) -> None:
        """A Redis that is full or read-only takes no notes: that must not end the worker (fault B4)."""
        try:
            super().heartbeat(*args, **options)
        except REFUSING as error:
            log.debug("Redis did not take the worker's note: %s", error)
        except RedisError as error:
            if not self._stop_requested:  # who stops everything may stop Redis first: no fault of anybody's
                raise
            log.debug("Redis was gone before the worker: %s", error)

    def check_for_suspension(self, burst: bool) -> None:
        try:
            super().check_for_suspension(burst)
        except REFUSING as error:  # it notes that the worker lives
            log.debug("Redis did not take the worker's note: %s", error)

    def maintain_heartbeats(self, job: Job) -> None:
        """RQ looks in from time to time while a job runs: one that was stopped would be waited for without end."""
        if self.horse_pid and self._stopped.too_long(self.horse_pid):
            log.warning("The process %s of job %s is stopped: it is ended, others go on", self.horse_pid, job.id)
            self.kill_horse(signal.SIGKILL)
        super().maintain_heartbeats(job)

    def _forget(self, queue: Queue, job_id: str) -> None:
        self.connection.lrem(queue.intermediate_queue_key, 0, job_id)
        self.connection.delete(TrustedJob.key_for(job_id))

    def clean_registries(self) -> None:
        """RQ's registries mean nothing here, but grow; one unreadable entry must not end the worker."""
        try:
            super().clean_registries()
        except REFUSING as error:
            log.debug("Redis did not clean RQ's notes: %s", error)
        except UNREADABLE as error:
            log.warning("Emptied RQ's notes of started jobs, which cannot be read: %r", error)
            self.connection.delete(*(queue.intermediate_queue_key for queue in self.queues))

    def bootstrap(self, *args: Any, **options: Any) -> None:
        """Redis may restart just while a worker registers; then it registers again."""
        try:
            super().bootstrap(*args, **options)
        except RedisGone as error:
            log.warning("Redis went away while the worker started: %s", error)
            wait_for_redis(self.connection)
            self.connection.delete(self.key)
            super().bootstrap(*args, **options)

    def execute_job(self, job: Job, queue: Queue) -> None:
        """RQ would quit, and take the job with it, when Redis is away while a job runs."""
        try:
            super().execute_job(job, queue)
            return
        except RedisError as error:
            log.warning("Redis went away around job %s: %s", job.id, error)
        while not self._stop_requested:
            try:
                wait_for_redis(self.connection, 1.0)
                return
            except RedisError as error:
                log.debug("Redis is still away: %s", error)

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Emptied while a job ran, Redis knows nothing of it afterwards; what the job did stands in the rows."""
        if isinstance(exc_info[1], InvalidJobOperation):
            log.warning("Redis forgot job %s while it ran", job.id)
            return
        super().handle_exception(job, *exc_info)

    def monitor_work_horse(self, job: Job, queue: Queue) -> None:
        """Wait for the end of the job's process, with Redis or without."""
        while True:
            try:
                super().monitor_work_horse(job, queue)
                return
            except RedisError as error:
                if not _lives(self.horse_pid):
                    self._horse_pid = 0
                    raise
                log.warning("Redis is away (%s); the job goes on", error)
                time.sleep(1.0)

    def _shutdown(self) -> None:
        try:
            super()._shutdown()
        except RedisError:  # it notes the request there, too
            self._stop_requested = True

    def handle_warm_shutdown_request(self) -> None:
        """Tell the job too: RQ alone would wait for a crawl of hours."""
        if self.horse_pid:
            try:
                os.kill(self.horse_pid, signal.SIGTERM)
            except ProcessLookupError:
                log.debug("The job ended by itself")

    def setup_work_horse_signals(self) -> None:
        super().setup_work_horse_signals()
        parent = self.pid
        die_with_parent()
        if os.getppid() != parent:  # it was gone before we asked
            os._exit(1)

    def teardown(self) -> None:
        """Redis may be stopping with us; its registries mean nothing here."""
        try:
            super().teardown()
        except RedisError as error:
            log.debug("Redis was gone first: %s", error)
