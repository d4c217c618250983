"""Owns: the RQ doors, in order. A job is a door, not a room: an id comes in, the row is the truth.

A ticket asks for one more instance for a run, never for a document; delivered twice it does no harm.
Called by: RQ workers.
"""

import os
import signal

from clearinghouse import queues
from clearinghouse.records import acting_as

from .initializer import initialize as open_queues
from .instance import SLICE_SECONDS, Crawl
from .models import OPEN_STATES, Run

NICE = 15


def initialize(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, state__in=OPEN_STATES).first()
    if run:
        open_queues(run)
        queues.ring(queues.CRAWL, "crawler.jobs.serve", run_id)


def serve(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, state__in=OPEN_STATES, initialized=True, driver=None).first()
    if run is None:
        return
    os.nice(max(0, NICE - os.nice(0)))
    with acting_as("crawler"):
        crawl = Crawl(run)
        before = signal.signal(signal.SIGTERM, crawl.ask_to_stop)
        try:
            crawl.work()
        finally:
            signal.signal(signal.SIGTERM, before)
    run.refresh_from_db()
    if run.state in OPEN_STATES and not run.control and not crawl.stopping and crawl.age > SLICE_SECONDS:
        queues.ring(queues.CRAWL, "crawler.jobs.serve", run_id)


def propagate(propagation_id: int) -> None:
    from .propagation import services

    os.nice(max(0, NICE - os.nice(0)))
    with acting_as("propagation"):
        services.carry_out(propagation_id)
