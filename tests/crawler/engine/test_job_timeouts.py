"""The time of an RQ job may be over at any moment: the crawl goes on in another job as if nothing had been (A6)."""

import random
import signal
import subprocess
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import django_rq
import pytest
from redis import Redis
from rq.timeouts import JobTimeoutException, UnixSignalDeathPenalty

from clearinghouse.local import redis_server
from clearinghouse.operations import work_queues
from clearinghouse.operations.work_queues import Job, wake
from crawler import jobs
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.ledger.ledger_check import faults
from crawler.models import ActiveQueue, Event, Run
from tests.crawler.conftest import make_document
from tests.proves import proves
from tests.sites.graph import Page, serve

pytestmark = pytest.mark.django_db(databases=["default", "webcrawl"])
Ledger = Callable[[Run], dict[str, str]]
LEAST_ALARMS = 5


def test_a_propagation_is_given_all_the_time_it_needs(tmp_path: Path, settings: Any) -> None:
    door = tmp_path / "redis.sock"
    server = subprocess.Popen(
        [redis_server.binary(), "--port", "0", "--unixsocket", str(door), "--save", ""], stdout=subprocess.DEVNULL
    )
    try:
        settings.REDIS_URL = f"unix://{door}"
        redis = Redis(unix_socket_path=str(door))
        until = time.monotonic() + 10
        while not (door.exists() and work_queues.reachable()) and time.monotonic() < until:
            time.sleep(0.02)
        limits = {}
        for job in (Job.PROPAGATE, Job.SERVE):
            assert wake(job, 1)
            limits[job.queue] = django_rq.get_queue(job.queue, connection=redis).jobs[0].timeout
        assert limits == {work_queues.PROPAGATE: -1, work_queues.CRAWL: 3600}
    finally:
        server.terminate()
        server.wait(10)


@proves("rule 6", "A6")
def test_a_job_whose_time_is_over_fails_nothing_and_another_goes_on(
    ledger: Ledger, monkeypatch: pytest.MonkeyPatch
) -> None:
    chance, work = random.Random(6), InstanceLoop.work

    def work_with_little_time(crawl: InstanceLoop) -> None:
        signal.setitimer(signal.ITIMER_REAL, chance.uniform(0.005, 0.08))
        work(crawl)
        signal.setitimer(signal.ITIMER_REAL, 0)

    monkeypatch.setattr(InstanceLoop, "work", work_with_little_time)
    pages = {"/": Page([f"/{n}" for n in range(150)])} | {f"/{n}": Page(delay=0.02) for n in range(150)}
    slices = 0
    with serve(pages) as site:
        run = launch(
            LaunchRequest([make_document({"url": site.url("/")}).pk], by="test", speed="medium", ignore_robots=True)
        )
        Run.objects.filter(pk=run.pk).update(speed="fast")
        initialize(run)
        until = time.monotonic() + 60
        while run.state != "finished":
            assert time.monotonic() < until
            slices += 1
            with UnixSignalDeathPenalty(100, JobTimeoutException):
                jobs.serve(run.pk)
            run.refresh_from_db()
        assert max(count for path, count in site.requests.items() if path != "/robots.txt") == 1
    assert slices > LEAST_ALARMS
    assert set(ledger(run).values()) == {"crawled"} and len(ledger(run)) == 151
    assert faults(run) == [] and not ActiveQueue.objects.exists()
    assert not Event.objects.filter(run=run, kind="interrupted").exists(), "each job gave back what it held"
