"""Owns: the proof that a run's rows are right: the invariants of the ledger, counted again from the rows themselves.

Reads only. Called by: the command check_ledger, and by tests after every kill.
"""

from collections import Counter
from collections.abc import Iterator

from django.db.models import Count, Exists, OuterRef, QuerySet

from .models import ActiveQueue, Excursion, LedgerEntry, Message, MessageState, PageBody, PageHead, PageVersion, Run
from .values import OUTCOMES, QUEUED, REASONS


def faults(run: Run) -> list[str]:
    """Every broken invariant as a sentence; an empty list is the proof."""
    found: list[str] = []
    for excursion in Excursion.objects.filter(run=run):
        found += [f"document {excursion.doc_id}: {sentence}" for sentence in _of_excursion(excursion)]
    return found + list(_of_run(run))


def _of_excursion(excursion: Excursion) -> Iterator[str]:
    rows = LedgerEntry.objects.filter(excursion=excursion)
    counted = Counter(dict(rows.values_list("outcome").annotate(n=Count("id")).order_by()))
    waiting = Message.objects.filter(excursion=excursion).exclude(state=MessageState.DONE)
    counted[QUEUED] = waiting.count()
    for outcome in OUTCOMES:
        if counted[outcome] != getattr(excursion, outcome):
            yield f"{outcome} says {getattr(excursion, outcome)}, the rows say {counted[outcome]}"
    if excursion.found != sum(counted.values()):
        yield f"found {excursion.found} is not the sum of the outcomes {sum(counted.values())}"
    yield from _reasons(excursion, rows)
    yield from _ends(excursion, counted[QUEUED])
    yield from _pages(rows)


def _reasons(excursion: Excursion, rows: QuerySet[LedgerEntry]) -> Iterator[str]:
    unnamed = rows.filter(outcome__in=("skipped", "failed")).exclude(reason__in=REASONS).count()
    if unnamed:
        yield f"{unnamed} rows are skipped or failed without a reason of the closed list"
    by_reason = dict(rows.exclude(reason="").values_list("reason").annotate(n=Count("id")).order_by())
    if by_reason != excursion.tallies.get("reason", {}):
        yield f"the tally of reasons {excursion.tallies.get('reason', {})} is not what the rows say: {by_reason}"


def _ends(excursion: Excursion, waiting: int) -> Iterator[str]:
    if excursion.unfinished:
        return
    if waiting:
        yield f"it ended {excursion.state} with {waiting} messages waiting"
    if Message.objects.filter(excursion=excursion).exists():
        yield "its queue was not deleted"
    if ActiveQueue.objects.filter(excursion=excursion).exists():
        yield "its queue is still marked as served"


def _pages(rows: QuerySet[LedgerEntry]) -> Iterator[str]:
    named = rows.filter(outcome__in=("crawled", "unchanged"))
    nameless = named.filter(version_id__isnull=True).count()
    if nameless:
        yield f"{nameless} pages name no version"
    lost = named.exclude(version_id__in=PageVersion.objects.values("id")).exclude(version_id=None).count()
    if lost:
        yield f"{lost} pages name a version that does not exist"
    bodies = PageVersion.objects.filter(id__in=named.values("version_id"))
    bodiless = bodies.exclude(digest__in=PageBody.objects.values("digest")).count()
    if bodiless:
        yield f"{bodiless} versions have no stored bytes"
    same = PageVersion.objects.filter(id=OuterRef("version_id"), url_key=OuterRef("url_key"))
    other = named.exclude(version_id=None).filter(~Exists(same)).count() - lost
    if other > 0:
        yield f"{other} pages name a version of another address"


def _of_run(run: Run) -> Iterator[str]:
    documents = Excursion.objects.filter(run=run).values("doc_id")
    headless = PageHead.objects.filter(doc_id__in=documents).exclude(version_id__in=PageVersion.objects.values("id"))
    if headless.exists():
        yield f"{headless.count()} heads show a version that does not exist"
    if run.finished_at and Excursion.objects.filter(run=run, unfinished=True).exists():
        yield "the run ended before its excursions"
