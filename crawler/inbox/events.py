"""Owns: the list of events people are told of, and what happened lately, read from rows.

Does not: write or send anything. Called by: notices.
"""

import shutil
from collections.abc import Iterator
from dataclasses import dataclass, field
from datetime import datetime, timedelta
from typing import NamedTuple

from django.db.models import Count, Max, Q
from django.urls import reverse

from clearinghouse import env
from clearinghouse.web.plurals import plural

from ..engine.message_queue import CLAIMABLE
from ..findings.queries import needing, undiagnosed_of
from ..findings.types import WARN
from ..launching.control import PAUSE
from ..liveness.instances import INTERRUPTED
from ..models import OPEN_STATES, CrawlRequest, Event, Excursion, Finding, Instance, Propagation, Run, Schedule, State
from ..runs.latest_crawls import COMPLETE

SILENT = timedelta(minutes=3)
DISK_PERCENT = 85
DIAGNOSED_WITHIN = timedelta(minutes=10)  # a run is told of when it was looked through, or then at the latest
AT_ONCE = 500


class EventKind(NamedTuple):
    label: str
    why: str  # "when …", for the list of what one can be told
    person: str = ""  # "You get this because …", for who it is about
    owner: str = ""  # for who edits the document
    administrators: bool = False  # nobody else is told, but for who was granted the same


LAUNCHED, ADMINISTERS = "you launched this run", "you are an administrator"
PLANNED = "you planned this crawl"
MAY_LAUNCH, ASSIGNED = "you may launch crawls of this document", "the document is assigned to you"

EVENTS = {
    "run_finished": EventKind("Run finished", "you launched this run, or it has findings in a document of yours",
                         LAUNCHED, "it has findings in a document of yours"),
    "run_failed": EventKind("Run failed", "you launched this run, or a document of yours is in it",
                       LAUNCHED, "a document of yours is in it"),
    "interrupted": EventKind("Run interrupted twice", "you launched this run, or are an administrator", LAUNCHED),
    "page_limit": EventKind("Page limit reached first time", ASSIGNED, owner=ASSIGNED),
    "failing": EventKind("Crawl point failing 3 times", ASSIGNED, owner=ASSIGNED),
    "request": EventKind("Crawl requested", "you may launch crawls", administrators=True),
    "answered": EventKind("Request answered", "you requested this crawl", "you requested this crawl"),
    "propagation": EventKind(
        "Propagation finished or failed", "you propagate results", "you asked for this propagation", administrators=True
    ),
    "plan": EventKind("Planned crawl started nothing", PLANNED, PLANNED),
    "silent": EventKind("No worker reports", ADMINISTERS, administrators=True),
    "disk": EventKind("Disk nearly full", ADMINISTERS, administrators=True),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class Happened:
    """Something people are told of: `people` are user names, `owners_of` documents and who edits them, `launchers_of`
    a document and who may launch its crawl, `administrators` all of them."""

    key: str
    event: str
    at: datetime
    sentence: str
    link: str
    people: tuple[str, ...] = ()
    owners_of: frozenset[int] = field(default_factory=frozenset)
    launchers_of: int | None = None
    administrators: bool = False
    run_id: int | None = None
    doc_id: int | None = None


def since(then: datetime, now: datetime) -> Iterator[Happened]:
    """Whatever happened after `then`; the same key for the same thing, however often it is asked."""
    yield from _runs(then, now)
    yield from _interrupted(then)
    yield from _findings(then)
    yield from _requests(then)
    yield from _propagations(then)
    yield from _plans(then)
    yield from _trouble(now)


def _runs(then: datetime, now: datetime) -> Iterator[Happened]:
    ended = Run.objects.filter(finished_at__gte=then).exclude(state__in=OPEN_STATES).exclude(origin="preview")
    for run in ended.order_by("id")[:AT_ONCE]:
        if now - run.finished_at < DIAGNOSED_WITHIN and undiagnosed_of(run.pk):
            continue
        failed = run.state == State.FAILED
        docs = set(Excursion.objects.filter(run=run).values_list("doc_id", flat=True)) if failed else _to_review(run)
        word = State(run.state).label.lower()
        # Its findings are counted for each reader (queries/notice_words.py): not all may see the same documents.
        yield Happened(
            f"run:{run.pk}:ended", "run_failed" if failed else "run_finished", run.finished_at,
            f"Run {run.pk} {word}", reverse("run", args=[run.pk]), (run.requested_by,), frozenset(docs),
            run_id=run.pk,
        )  # fmt: skip


def _to_review(run: Run) -> set[int]:
    return set(needing(run.pk, None).order_by().values_list("doc_id", flat=True))


def _interrupted(then: datetime) -> Iterator[Happened]:
    """Two instances of a run died: the second time is worth a word."""
    deaths = Event.objects.filter(kind=INTERRUPTED, doc_id=None)
    lately = deaths.filter(at__gte=then, run__state=State.RUNNING).values("run_id")
    counted = deaths.filter(run_id__in=lately).values("run_id", "run__requested_by").order_by("run_id")
    for one in counted.annotate(times=Count("id"), last=Max("at")).filter(times__gte=2)[:AT_ONCE]:
        run_id, times = one["run_id"], one["times"]
        yield Happened(
            f"run:{run_id}:interrupted", "interrupted", one["last"],
            f"Run {run_id} was interrupted {plural(times, 'time')}; it continues by itself",
            reverse("run", args=[run_id]),
            (one["run__requested_by"],), administrators=True, run_id=run_id,
        )  # fmt: skip


def _findings(then: datetime) -> Iterator[Happened]:
    rows = Finding.objects.filter(excursion__diagnosis__at__gte=then).select_related("excursion")
    rows = rows.filter(Q(rule="page_limit", weight__gte=WARN) | Q(rule="start_failed")).defer(
        "excursion__snapshot", "excursion__tallies"
    )
    for row in rows.order_by("id")[:AT_ONCE]:
        failing = row.rule == "start_failed"
        if failing and not any("active" in fix.get("change", {}) for fix in row.fixes):
            continue
        yield Happened(
            f"{row.rule}:{row.doc_id}:{row.subject}:{_first(row)}", "failing" if failing else "page_limit",
            row.excursion.finished_at, f"{row.excursion.title}: {row.sentence}",
            reverse("run-findings", args=[row.run_id]), owners_of=frozenset({row.doc_id}), run_id=row.run_id,
            doc_id=row.doc_id,
        )  # fmt: skip


def _first(row: Finding) -> int:
    """Where this trouble began: the newest earlier crawl of the document without it. The limit is told once."""
    if row.rule == "page_limit":
        return 0
    with_it = Finding.objects.filter(doc_id=row.doc_id, rule=row.rule, subject=row.subject).values("excursion_id")
    earlier = Excursion.objects.filter(doc_id=row.doc_id, id__lt=row.excursion_id, state__in=COMPLETE)
    return earlier.exclude(pk__in=with_it).order_by("-id").values_list("id", flat=True).first() or 0


def _requests(then: datetime) -> Iterator[Happened]:
    for one in CrawlRequest.objects.filter(asked_at__gte=then).order_by("id")[:AT_ONCE]:
        said = f": {one.note}" if one.note else ""
        yield Happened(
            f"request:{one.pk}", "request", one.asked_at, f"{one.asked_by} requests a crawl of {one.title}{said}", "/",
            launchers_of=one.doc_id, administrators=True, doc_id=one.doc_id,
        )  # fmt: skip
    for one in CrawlRequest.objects.filter(answered_at__gte=then).order_by("id")[:AT_ONCE]:
        word = f"was {one.state}"
        said = f": {one.answer}" if one.answer else ""
        link = reverse("run", args=[one.run_id]) if one.run_id else reverse("crawl-points", args=[one.doc_id])
        yield Happened(
            f"request:{one.pk}:answered", "answered", one.answered_at,
            f"The crawl of {one.title} you requested {word} by {one.answered_by}{said}", link, (one.asked_by,),
            run_id=one.run_id, doc_id=one.doc_id,
        )  # fmt: skip


def _propagations(then: datetime) -> Iterator[Happened]:
    rows = Propagation.objects.filter(finished_at__gte=then, state__in=("done", "failed"))
    for one in rows.order_by("id")[:AT_ONCE]:
        last = (one.error.strip().splitlines() or ["see its page"])[-1]
        word = "finished" if one.state == "done" else f"failed: {last}"
        yield Happened(
            f"propagation:{one.pk}:{one.state}", "propagation", one.finished_at, f"Propagation {one.pk} {word}",
            reverse("propagation"), (one.requested_by,), administrators=True,
        )  # fmt: skip


def _plans(then: datetime) -> Iterator[Happened]:
    """A planned crawl that was due and started nothing: whoever planned it would wait for it in vain."""
    rows = Schedule.objects.filter(last_at__gte=then, last_run_id=None).exclude(last_said="")
    for one in rows.order_by("id")[:AT_ONCE]:
        yield Happened(
            f"plan:{one.pk}:{one.last_at:%Y%m%d%H%M%S}", "plan", one.last_at,
            f"A planned crawl started nothing. {one.last_said}", reverse("schedules"), (one.created_by,),
        )  # fmt: skip


def _trouble(now: datetime) -> Iterator[Happened]:
    if _deserted(now - SILENT):
        sentence = f"No worker has reported for {SILENT.seconds // 60} minutes. Crawls wait."
        yield Happened(f"silent:{now:%Y-%m-%d}", "silent", now, sentence, reverse("crawls"), administrators=True)
    disk = shutil.disk_usage(env.var())
    used = 100 * disk.used // disk.total
    if used >= DISK_PERCENT:
        yield Happened(
            f"disk:{now:%Y-%m-%d}", "disk", now, f"The disk is {used}% full.", reverse("crawls"), administrators=True
        )


def _deserted(then: datetime) -> bool:
    """Whether documents have waited for a worker since `then`, served before or not, and none has reported."""
    asked = Run.objects.filter(state__in=OPEN_STATES, driver=None, created_at__lt=then).exclude(control=PAUSE)
    wanting = asked.filter(excursions__unfinished=True, excursions__state__in=CLAIMABLE)
    drivers = Run.objects.filter(driver__isnull=False).values("driver")
    workers = Instance.objects.filter(kind="crawl", seen_at__gte=then).exclude(pk__in=drivers)
    return wanting.exists() and not workers.exists()
