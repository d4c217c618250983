"""One world crawled by the product: real processes (forks of this one), some of them killed -9 at a chosen write."""

import os
import signal
import sys
import time
import traceback
from dataclasses import replace

from django.db import connections

from clearinghouse.library.models import Document, Sheet
from crawler import bulk_sql
from crawler.engine.initializer import initialize
from crawler.engine.loop import InstanceLoop
from crawler.launching.launch import LaunchRequest, launch
from crawler.models import Host, Run
from crawler.values import Snapshot
from crawlpoints.models import CrawlPoint, CrawlPointLink, ExcludeUrl

MOST_PROCESSES = 12
LONGEST = 60.0
CRASHED = 3


class Broken(Exception):
    """A process of the crawl failed by itself, or the run did not end."""


def store(snapshots: list[Snapshot]) -> list[Snapshot]:
    """The documents as rows; back with the ids the database gave."""
    stored = []
    for number, snapshot in enumerate(snapshots):
        document = Document()
        document.save()
        Sheet(document=document, title=f"Document {number}").save()
        points = tuple(replace(point, id=_stored(document, point)) for point in snapshot.points)
        for pattern in snapshot.excludes:
            ExcludeUrl(document=document, pattern=pattern).save()
        stored.append(Snapshot(document.pk, points, snapshot.excludes))
    return stored


def _stored(document: Document, point: object) -> int:
    names = ("url", "root", "depth", "max_pages", "obey_nofollow", "drop_sessions", "ignore_query", "ignore_robots",
             "stop_traps", "merge_schemes")  # fmt: skip
    row = CrawlPoint(**{name: getattr(point, name) for name in names})
    row.save()
    CrawlPointLink(document=document, crawl_point=row).save()
    return int(row.pk)


def crawl(documents: list[Snapshot], instances: int, kills: list[int]) -> tuple[Run, int]:
    """A run over these documents by so many processes; and how many of them died by a kill."""
    Host.objects.all().delete()  # another site stood at this address before
    run = launch(LaunchRequest([document.doc_id for document in documents], by="oracle", speed="fast"))
    initialize(run)
    kills, killed, deadline = list(kills), 0, time.monotonic() + LONGEST
    for _ in range(MOST_PROCESSES):
        children = [_fork(run, kills.pop() if kills else 0) for _ in range(max(1, instances))]
        killed += _ended(children, deadline)
        run.refresh_from_db()
        if run.finished_at:
            return run, killed
    raise Broken(f"run {run.pk} is {run.state} after {MOST_PROCESSES} rounds")


def _fork(run: Run, kill_at: int) -> int:
    connections.close_all()
    sys.stdout.flush()
    child = os.fork()
    if child:
        return child
    code = CRASHED
    try:
        if kill_at:
            _die_at(kill_at)
        InstanceLoop(run).work()
        code = 0
    except BaseException:
        traceback.print_exc()
        raise
    finally:
        sys.stderr.flush()
        os._exit(code)


def _die_at(number: int) -> None:
    """kill -9 of this process at its n-th write of rows, in the middle of that transaction."""
    write, left = bulk_sql.execute_many, [number]

    def dying(*arguments: object, **options: object) -> None:
        left[0] -= 1
        if not left[0]:
            os.kill(os.getpid(), signal.SIGKILL)
        write(*arguments, **options)  # type: ignore[arg-type]

    bulk_sql.execute_many = dying


def _ended(children: list[int], deadline: float) -> int:
    """How many of them were killed. Whoever ends is reaped at once: a rival must see that a dead process is gone."""
    living, killed = set(children), 0
    try:
        while living:
            done, status = os.waitpid(-1, os.WNOHANG)
            if done in living:
                living.remove(done)
                killed += _killed(status)
            elif time.monotonic() > deadline:
                raise Broken("the crawl did not end")
            elif not done:
                time.sleep(0.005)
    finally:
        for child in living:
            os.kill(child, signal.SIGKILL)
            os.waitpid(child, 0)
    return killed


def _killed(status: int) -> int:
    """1 when it was killed, 0 when it ended by itself."""
    if os.WIFSIGNALED(status):
        return int(os.WTERMSIG(status) == signal.SIGKILL)
    if os.WEXITSTATUS(status):
        raise Broken(f"a process of the crawl ended with {os.WEXITSTATUS(status)}")
    return 0
