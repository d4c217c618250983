"""Owns: the RQ worker of the product: what it accepts from Redis, and how it ends.

Does not: know what a job does. Called by: `manage.py rqworker QUEUE` (settings.RQ names this class).

The contract with a job: SIGTERM means "finish the batch in hand, release your queues, return". The worker forwards
it to the process that runs the job and waits for its end; when the worker itself is killed, that process dies too.
Redis may go away, refuse to be written or hold rubbish at any time: the job goes on, the worker waits and says so
once (faults B2, B4). Nothing that Redis does ends a worker.
"""

import ctypes
import logging
import os
import signal
import time
from typing import Any

from redis import Redis
from redis.exceptions import RedisError
from rq import Queue, Worker, worker_registration
from rq.exceptions import DeserializationError, InvalidJobOperation, StopRequested
from rq.job import Job
from rq.serializers import JSONSerializer

from ..database.adoption.usable import unusable_files
from ..database.aliases import DEFAULT, WEBCRAWL
from . import redis_problems
from .process_state import StoppedFor
from .work_queues import TRUSTED, UNREADABLE, TrustedJob

PR_SET_PDEATHSIG = 1
WAIT_SECONDS = 1.0  # between two words to a Redis in trouble
LOOK_SECONDS = 5  # how often a worker with a job tells Redis that it lives
IDLE_SECONDS = 60  # how often one without; RQ's seven minutes are long for a Redis that was emptied
SAY_AGAIN_SECONDS = 60.0  # a Redis that takes one note and refuses the next does not fill the log
SAID_BY_RQ = "could not connect to Redis instance"  # every few seconds, for as long as it lasts; we say it once

log = logging.getLogger(__name__)


def die_with_parent(number: int = signal.SIGKILL) -> None:
    """Ask the kernel to signal this process when its parent is gone: no orphan goes on writing (fault A5)."""
    ctypes.CDLL(None, use_errno=True).prctl(PR_SET_PDEATHSIG, int(number), 0, 0, 0)


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


def _without_repeats(record: logging.LogRecord) -> bool:
    return SAID_BY_RQ not in str(record.msg)


class OurWorker(Worker):
    """JSON payloads, trusted functions, a quick and clean end."""

    max_connection_wait_time = 5.0  # RQ's minute would be added to every outage of Redis

    def __init__(self, queues: Any, **options: Any) -> None:
        # rqworker would pass its own default, which is pickle.
        options |= {"serializer": JSONSerializer, "job_class": TrustedJob, "job_monitoring_interval": LOOK_SECONDS}
        if unusable := unusable_files(DEFAULT, WEBCRAWL):
            raise SystemExit(unusable)
        self._trouble = self._told = ""
        self._told_at = 0.0
        self._stopped = StoppedFor()
        logging.getLogger("rq.worker").addFilter(_without_repeats)
        while True:
            try:
                options["connection"].ping()
                super().__init__(queues, **options)
                return
            except RedisError as error:  # processes start together, and the one that serves Redis may be the last
                self._wait_out(error, options["connection"])

    # Trouble --------------------------------------------------------------------------------------------------

    def _in_trouble(self, error: RedisError) -> None:
        told = redis_problems.sentence(error)
        if told != self._trouble and (told, True) != (self._told, time.monotonic() - self._told_at < SAY_AGAIN_SECONDS):
            log.warning("%s; the worker waits, nothing is lost", told)
            self._told, self._told_at = told, time.monotonic()
        self._trouble = told

    def _well_again(self) -> None:
        """Redis took a note. One that was emptied or began anew has forgotten who works for it."""
        if self._trouble:
            log.info("Redis answers again; the worker goes on")
        self._trouble = ""
        try:
            if self.birth_date and not self.connection.sismember(worker_registration.REDIS_WORKER_KEYS, self.key):
                with self.connection.pipeline() as pipeline:
                    pipeline.hset(self.key, mapping=self.serialize())
                    worker_registration.register(self, pipeline)
                    pipeline.expire(self.key, self.worker_ttl + 60)
                    pipeline.execute()
        except RedisError as error:
            self._in_trouble(error)

    def _wait_out(self, error: RedisError, connection: Redis) -> None:
        """Say what is wrong, mend what is ours to mend, and let a second pass."""
        self._in_trouble(error)
        if redis_problems.is_wrong_type(error):
            try:
                if redis_problems.remove_wrong_types(connection):
                    return
            except RedisError as worse:
                self._in_trouble(worse)
        time.sleep(WAIT_SECONDS)

    def heartbeat(self, *args: Any, **options: Any) -> None:
        """A Redis that is away or takes no notes must not end the worker (fault B4); the next word to it tells."""
        try:
            super().heartbeat(*args, **options)
        except RedisError as error:
            if not self._stop_requested:  # who stops everything may stop Redis first: no fault of anybody's
                self._in_trouble(error)
            return
        if not options.get("pipeline"):
            self._well_again()

    @property
    def dequeue_timeout(self) -> int:
        return IDLE_SECONDS

    def maintain_heartbeats(self, job: Job) -> None:
        """RQ looks in from time to time while a job runs: one that was stopped would be waited for without end."""
        if self.horse_pid and self._stopped.too_long(self.horse_pid):
            log.warning(
                "Process %s of job %s does not run any more: it was ended, others go on", self.horse_pid, job.id
            )
            self.kill_horse(signal.SIGKILL)
        super().maintain_heartbeats(job)
        self._well_again()

    def check_for_suspension(self, burst: bool) -> None:
        try:
            super().check_for_suspension(burst)
        except RedisError as error:
            log.debug("Redis did not say whether workers are suspended: %s", error)

    def run_maintenance_tasks(self) -> None:
        """RQ's registries mean nothing here, but grow."""
        try:
            super().run_maintenance_tasks()
        except RedisError as error:
            log.debug("Redis did not clean RQ's notes: %s", error)

    def clean_registries(self) -> None:
        """One unreadable entry must not end the worker."""
        try:
            super().clean_registries()
        except UNREADABLE as error:
            log.warning("Emptied RQ's list of started jobs, which could not be read: %r", error)
            self.connection.delete(*(queue.intermediate_queue_key for queue in self.queues))

    def bootstrap(self, *args: Any, **options: Any) -> None:
        """Redis may restart just while a worker registers; then it registers again."""
        while True:
            try:
                super().bootstrap(*args, **options)
                return
            except RedisError as error:
                self._wait_out(error, self.connection)
            self._forget_birth()

    def _forget_birth(self) -> None:
        try:
            self.unsubscribe()
            self.connection.delete(self.key)
        except RedisError as error:
            log.debug("Redis is still in trouble: %s", error)

    def _pubsub_exception_handler(self, exc: Exception, pubsub: Any, pubsub_thread: Any) -> None:
        """The thread that listens for RQ's commands: nobody needs them here, and its end would print a traceback."""
        log.debug("Redis does not let RQ's commands through: %s", exc)
        time.sleep(WAIT_SECONDS)

    # Jobs -----------------------------------------------------------------------------------------------------

    def dequeue_job_and_maintain_ttl(
        self, timeout: int | None, max_idle_time: int | None = None
    ) -> tuple[Job, Queue] | None:
        """The next job that is ours. Garbage and foreign jobs are thrown away, and the worker lives (fault B12)."""
        while not self._stop_requested:
            try:
                result = super().dequeue_job_and_maintain_ttl(timeout, max_idle_time)
                if result is None or self._accepts(*result):
                    return result
            except RedisError as error:
                self._wait_out(error, self.connection)
            except UNREADABLE as error:
                # RQ marks what it could not read; anything else is a fault.
                if not hasattr(error, "job_id") and not isinstance(error, UnicodeDecodeError):
                    raise
                log.warning("Refused a job that cannot be read: %r", error)
                self._forget(self.queues[0], getattr(error, "job_id", ""))
        raise StopRequested

    def _accepts(self, job: Job, queue: Queue) -> bool:
        if why := refusal(job):
            log.warning("Refused job %r: %s", job.id, why)
            self._forget(queue, job.id)
        return not why

    def _forget(self, queue: Queue, job_id: str) -> None:
        try:
            self.connection.lrem(queue.intermediate_queue_key, 0, job_id)
            self.connection.delete(TrustedJob.key_for(job_id))
        except RedisError as error:
            self._wait_out(error, self.connection)

    def execute_job(self, job: Job, queue: Queue) -> None:
        """RQ would quit, and take the job with it, when Redis is away while a job runs."""
        try:
            super().execute_job(job, queue)
        except RedisError as error:
            # The job's note may be gone with it; the tick wakes a worker again for what the rows say is not done.
            log.debug("Redis was in trouble around job %s: %s", job.id, error)
            self._wait_out(error, self.connection)

    def handle_exception(self, job: Job, *exc_info: Any) -> None:
        """Emptied while a job ran, Redis knows nothing of it afterwards; what the job did stands in the rows."""
        if isinstance(exc_info[1], InvalidJobOperation):
            log.warning("Redis forgot job %s while it ran", job.id)
            return
        if isinstance(exc_info[1], RedisError):
            log.warning("%s: the end of job %s was not recorded there", redis_problems.sentence(exc_info[1]), job.id)
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
                self._in_trouble(error)
                time.sleep(WAIT_SECONDS)

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
