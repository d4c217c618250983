"""Owns: crawl requests (asked by who may not launch, answered by who may) and who looks after which task.

Does not: ask who may, crawl. Called by: the request screen, the In Tray, the launch form, the API.
"""

from contextlib import suppress

from django.db import IntegrityError
from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse.library.models import Document
from crawlpoints.queries import points_of

from ..errors import NothingToCrawl, UnknownView, WrongMoment
from ..models import CrawlRequest, Excursion, Run, Schedule, TaskClaim
from . import schedules
from .audited_change import record, together
from .launch import LaunchRequest
from .launch import launch as launch_run
from .launch_subset import SubsetChoice

ASKED_ALREADY = "A crawl of this document was requested already"
NO_ACTIVE_POINT = "This document has no active crawl point, so there is nothing to crawl"


def ask(document: Document, by: str, note: str = "", when: str = "") -> CrawlRequest:
    """One waiting request for a document; WrongMoment when there is one, or when it is being crawled; NothingToCrawl.

    `when` is a wish in the person's own words; it stands before the note.
    """
    if not may_be_asked(document):
        raise NothingToCrawl(NO_ACTIVE_POINT)
    note = f"{when}. {note}".rstrip() if when else note
    if Excursion.objects.filter(doc_id=document.pk, unfinished=True).exists():
        raise WrongMoment("This document is being crawled, or about to be")
    request = CrawlRequest(
        doc_id=document.pk, title=document.title, note=note[:500], asked_by=by, asked_at=timezone.now(),
        open_for=document.pk,
    )  # fmt: skip
    try:
        with together():
            request.save()
            record("request", request, f"Requested a crawl of {document.title}", document_id=document.pk)
    except IntegrityError:
        raise WrongMoment(ASKED_ALREADY) from None
    return request


def may_be_asked(document: Document) -> bool:
    return points_of(document).filter(active=1).exists()


def waiting_for(doc_id: int) -> CrawlRequest | None:
    return CrawlRequest.objects.filter(open_for=doc_id).first()


def launch(request: CrawlRequest, by: str, answer: str = "") -> Run:
    """Launches what was asked for. Raises NothingToCrawl, AllBusy, WrongMoment."""
    with together():
        _close(request, CrawlRequest.State.LAUNCHED, by, answer)
        note = f"Requested by {request.asked_by}" + (f": {request.note}" if request.note else "")
        run = launch_run(LaunchRequest([request.doc_id], by=by, note=note))
        CrawlRequest.objects.filter(pk=request.pk).update(run_id=run.pk)
        record("answer", request, f"Launched the requested crawl of {request.title}", document_id=request.doc_id)
    return run


def decline(request: CrawlRequest, by: str, answer: str = "") -> None:
    sentence = f"Declined the requested crawl of {request.title}"
    with together():
        _close(request, CrawlRequest.State.DECLINED, by, answer)
        record("answer", request, sentence, document_id=request.doc_id, after={"answer": answer})


def answer_by_launch(run: Run, choice: SubsetChoice) -> None:
    """A run that crawls the whole of a document is the answer to who asked for that."""
    waiting = CrawlRequest.objects.filter(open_for__in=Excursion.objects.filter(run=run).values("doc_id"))
    if choice == SubsetChoice():
        _answer(waiting, CrawlRequest.State.LAUNCHED, run.requested_by, run_id=run.pk)


def answer_by_plan(schedule: Schedule) -> None:
    """So is a plan to do it; the answer says when."""
    try:
        docs = schedules.doc_ids_of(schedule)
    except UnknownView:
        return
    waiting = CrawlRequest.objects.filter(open_for__isnull=False)
    waiting = waiting if docs is None else waiting.filter(open_for__in=docs)
    if schedules.choice_of(schedule) == SubsetChoice():
        _answer(waiting, CrawlRequest.State.PLANNED, schedule.created_by, schedules.when_of(schedule))


def _answer(
    waiting: QuerySet[CrawlRequest], state: CrawlRequest.State, by: str, answer: str = "", run_id: int | None = None
) -> None:
    for request in waiting:
        with suppress(WrongMoment), together():  # somebody was faster
            _close(request, state, by, answer)
            CrawlRequest.objects.filter(pk=request.pk).update(run_id=run_id)
            sentence = f"{state.label} the requested crawl of {request.title}"
            record("answer", request, sentence, document_id=request.doc_id, after={"answer": answer})


def _close(request: CrawlRequest, state: str, by: str, answer: str) -> None:
    values = {"answered_by": by, "answered_at": timezone.now(), "answer": answer[:500], "open_for": None}
    mine = CrawlRequest.objects.filter(pk=request.pk, state=CrawlRequest.State.WAITING)
    if not mine.update(state=state, **values):
        raise WrongMoment("This request was answered already")


def claim(task: str, person: str) -> None:
    """From now on this person looks after it, whoever did before."""
    values = {"person": person, "at": timezone.now()}
    TaskClaim.objects.update_or_create(task=task, defaults=values)


def release(task: str, person: str) -> None:
    """Only one's own."""
    TaskClaim.objects.filter(task=task, person=person).delete()
