"""Owns: the jobs of crawls that RQ workers run, in order. An id comes in, the row is the truth.

The job *serve* asks for one more instance for a run, never for a document; delivered twice it does no harm.
Called by: RQ workers.
"""

import signal

from django.utils import timezone

from clearinghouse.database.aliases import TARGETS
from clearinghouse.database.records import acting_as
from clearinghouse.operations.logs import about
from clearinghouse.operations.work_queues import Job, wake

from .engine import process_limits
from .engine.initializer import initialize as open_queues
from .engine.loop import InstanceLoop
from .errors import CrawlerError
from .findings.queries import undiagnosed
from .launching.control import PAUSE
from .models import OPEN_STATES, Run

FORECAST_SECONDS = 60.0


def initialize(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, state__in=OPEN_STATES).exclude(control=PAUSE).first()
    if run:
        with about(run=run_id):
            open_queues(run)
        wake(Job.SERVE, run_id)


def serve(run_id: int) -> None:
    run = Run.objects.filter(pk=run_id, state__in=OPEN_STATES, initialized=True, driver=None).first()
    if run is None:
        return
    if process_limits.newer_schema():
        raise CrawlerError("the WebCrawl database is newer than this worker; restart the worker")
    process_limits.step_back()
    process_limits.collect_seldom()
    with acting_as("crawler"), about(run=run_id):
        crawl = InstanceLoop(run)
        # RQ's own handler of SIGALRM raises wherever the process happens to be, also in the middle of a page.
        obeyed = {signal.SIGTERM: crawl.ask_to_stop, signal.SIGALRM: crawl.end_slice}
        before = {number: signal.signal(number, handler) for number, handler in obeyed.items()}
        try:
            crawl.work()
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)
    run.refresh_from_db()
    if run.state in OPEN_STATES and not run.control and not crawl.stopping and crawl.slice_is_over:
        wake(Job.SERVE, run_id)


def propagate(propagation_id: int) -> None:
    from .propagation import services

    process_limits.step_back()
    with acting_as("propagation"), about(propagation=propagation_id):
        services.carry_out(propagation_id)


def count_words() -> None:
    """After a rollback, or a kill before the end: the lexicon follows what each target shows."""
    from .word_index import page_counts

    process_limits.step_back()
    for target in page_counts.behind():
        page_counts.follow(TARGETS[target])


def diagnose() -> None:
    from .findings.diagnosis import diagnose_due

    with acting_as("crawler"):
        diagnose_due()
    if not undiagnosed(1):
        wake(Job.FORECAST)


def forecast() -> None:
    """What the next propagation would do, for whoever asks; goes on in another job when it takes long."""
    from .propagation.forecast import work_out

    process_limits.step_back()
    with acting_as("propagation"):
        if not work_out(FORECAST_SECONDS):
            wake(Job.FORECAST)


def tell() -> None:
    """Mails and webhooks, whichever of them is in trouble: neither waits for the other."""
    from .inbox import notice_mail, webhooks

    try:
        notice_mail.send_due(timezone.now())
    finally:
        webhooks.send_due(timezone.now())


def prune() -> None:
    """What is older than CLEARINGHOUSE_KEEP says; ends as soon as somebody crawls or propagates."""
    from .upkeep import pruning

    process_limits.step_back()
    with acting_as("retention"):
        pruning.prune(timezone.now(), only_while_quiet=True)


def preview(preview_id: int) -> None:
    from .preview import dry_run

    process_limits.step_back()
    with acting_as("preview"):
        dry_run.carry_out(preview_id)
