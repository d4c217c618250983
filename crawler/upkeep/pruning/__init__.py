"""Owns: what leaves the WebCrawl database when it is older than CLEARINGHOUSE_KEEP says; nobody else deletes there
what a crawl has stored.

Never goes: what a target shows or would show, what the next crawl compares with (heads and their versions), open runs,
the newest crawls of each document, results no propagation has taken. choose says which excursions may go, erase removes
them oldest first in short transactions, bodies removes bytes that no version names. Killed anywhere, it goes on.
Called by: the command prune, and once a day by a job for which the tick wakes a worker at a quiet moment.
"""

from collections.abc import Callable
from dataclasses import asdict, dataclass
from datetime import datetime, timedelta

from clearinghouse.operations import retention, work_queues
from clearinghouse.search.usage import services as search_use
from clearinghouse.web.plurals import plural
from crawler.models import OPEN_STATES, Event, Mark, Notice, Run
from crawler.preview import preview_rows as previews
from crawler.propagation import services

from . import bodies, choose, erase

EVERY = timedelta(days=1)
_MARK = "retention"
_ROWS = 500  # in one short transaction


@dataclass
class Pruned:
    """How much went, or would go."""

    excursions: int = 0
    addresses: int = 0  # lines of the ledger
    versions: int = 0
    bodies: int = 0
    log: int = 0
    notices: int = 0
    previews: int = 0
    searches: int = 0
    interrupted: bool = False  # somebody began to work; the rest goes another time

    def as_json(self) -> dict[str, int | bool]:
        return asdict(self)


def quiet() -> bool:
    """Nobody crawls, nobody propagates."""
    return not Run.objects.filter(state__in=OPEN_STATES).exists() and services.unfinished() is None


def wake_worker_when_due(now: datetime) -> bool:
    """Once a day, when it is quiet, a worker is asked to prune; without Redis the next day will do."""
    mark = Mark.objects.filter(name=_MARK).first()
    if mark is not None and timedelta(0) <= now - mark.at < EVERY:
        return False
    if not quiet() or not work_queues.wake(work_queues.Job.PRUNE):
        return False
    Mark.objects.update_or_create(name=_MARK, defaults={"at": now})
    return True


def preview(now: datetime) -> tuple[Pruned, list[choose.Old]]:
    """What would go, without a change. How many versions and bytes go with it is known only then."""
    old = choose.excursions(now)
    log, notices = _old_log(now), _old_notices(now)
    found = Pruned(
        excursions=len(old), addresses=sum(one.addresses for one in old),
        log=log.count() if log is not None else 0, notices=notices.count() if notices is not None else 0,
        previews=previews.forget_old(now, dry=True), searches=search_use.forget_old(dry=True),
    )  # fmt: skip
    return found, old


def prune(now: datetime, *, only_while_quiet: bool = False, say: Callable[[str], None] = lambda _: None) -> Pruned:
    """All that may go. While a propagation is under way no result goes, whoever asks."""
    done = Pruned(previews=previews.forget_old(now), searches=search_use.forget_old())
    done.log = _in_steps(_old_log(now))
    done.notices = _in_steps(_old_notices(now))

    def go_on() -> bool:
        return quiet() if only_while_quiet else services.unfinished() is None

    for old in choose.excursions(now) if go_on() else ():
        if not _erase(old, go_on, done):
            done.interrupted = True
            return done
        say(f"{old.title}: its crawl in run {old.run_id} ({plural(old.addresses, 'address,addresses')})")
    done.bodies = bodies.sweep(quiet)
    return done


def _erase(old: choose.Old, go_on: Callable[[], bool], done: Pruned) -> bool:
    for addresses, versions in erase.excursion(old.id):
        done.addresses += addresses
        done.versions += versions
        if not go_on():
            return False
    done.excursions += 1
    return True


def _old_log(now: datetime) -> erase.Rows | None:
    before = retention.cutoff("log", now)
    if before is None:
        return None
    return Event.objects.filter(at__lt=before).exclude(run__state__in=OPEN_STATES)


def _old_notices(now: datetime) -> erase.Rows | None:
    before = retention.cutoff("notices", now)
    return None if before is None else Notice.objects.filter(at__lt=before)


def _in_steps(rows: erase.Rows | None) -> int:
    return 0 if rows is None else erase.in_steps(rows, _ROWS)
