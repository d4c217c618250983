"""Owns: the message queues as rows: open, claim, look into, release, delete. Does not: decide what belongs in one.

One queue per document and run; its messages are rows, so nothing that dies takes them along. Called by: the
initializer, the instance, the endings.
"""

from collections.abc import Collection, Iterable
from dataclasses import dataclass

from django.db import transaction
from django.db.models import Count
from django.utils import timezone

from clearinghouse.databases import WEBCRAWL

from . import sql
from .instances import fence
from .models import ActiveQueue, CrawledPage, Excursion, Instance, LedgerEntry, Message, MessageState, PageHead, State
from .policy.frontier import COUNTS, COUNTS_NOT, CUT, SHORT, Frontier
from .values import FREE, SKIPPED, Snapshot

CLAIMABLE = (State.WAITING, State.RUNNING, State.INTERRUPTED, State.STOPPING)


@dataclass(frozen=True, slots=True)
class Previous:
    """The version a document shows of a URL now: what an answer is compared with."""

    version_id: int
    digest: bytes
    etag: str
    last_modified: str
    extractor: int


def open_queue(excursion: Excursion) -> None:
    """Put the crawl points on the queue, once; a second call, or one after a kill, changes nothing."""
    from .results import write_changes  # the one writer of messages

    snapshot = Snapshot.from_json(excursion.snapshot)
    frontier = Frontier(snapshot)
    frontier.seed()
    with transaction.atomic(using=WEBCRAWL):
        fresh = Excursion.objects.select_for_update().get(pk=excursion.pk)
        if fresh.found:
            return
        ActiveQueue.objects.filter(excursion__doc_id=excursion.doc_id).delete()
        CrawledPage.objects.filter(doc_id=excursion.doc_id).delete()
        write_changes(fresh, frontier)


def claim(instance: Instance, limit: int) -> list[Excursion]:
    """Take up to this many queues nobody serves; the unique queue name makes sure of it."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        free = (
            Excursion.objects.select_for_update(skip_locked=True)
            .filter(run_id=instance.run_id, unfinished=True, state__in=CLAIMABLE, found__gt=0, claim__isnull=True)
            .order_by("id")[:limit]
        )
        claimed, now = list(free), timezone.now()
        ActiveQueue.objects.bulk_create(
            ActiveQueue(name=excursion.queue_name, excursion=excursion, instance=instance, claimed_at=now)
            for excursion in claimed
        )
        for excursion in claimed:
            excursion.started_at = excursion.started_at or now
            excursion.state = State.RUNNING if excursion.state != State.STOPPING else excursion.state
            excursion.save(update_fields=["state", "started_at"])
    return claimed


def restore(excursion: Excursion, frontier: Frontier) -> None:
    """Everything a queue knew before it changed hands: messages, skips, redirects."""
    messages = Message.objects.filter(excursion=excursion).values_list("url_key", "reach", "state")
    uncounted = _uncounted(excursion)
    for key, reach_text, state in messages.iterator(chunk_size=5000):
        rank, _ = uncounted.get(key, (COUNTS, ""))
        frontier.restore_message(key, reach_text, state == MessageState.DONE, rank)
    skipped = LedgerEntry.objects.filter(excursion=excursion, outcome=SKIPPED).values_list("url_key", "reason")
    for key, reason in skipped.iterator(chunk_size=5000):
        if key[:SHORT] not in frontier.known:
            frontier.restore_skip(key[:SHORT], reason)
    for key, (_, destination) in uncounted.items():
        if destination:
            frontier.restore_redirect(key[:SHORT], key, destination)


def _uncounted(excursion: Excursion) -> dict[bytes, tuple[int, str]]:
    """Done URLs that take no place under a maximum: how they stand, and where they lead (redirects that passed)."""
    rows = LedgerEntry.objects.filter(excursion=excursion).values_list("url_key", "redirect_url", "outcome", "reason")
    free = rows.exclude(redirect_url="") | rows.filter(reason__in=FREE)
    return {
        key: (CUT if reason == "page_limit" else COUNTS_NOT, "" if outcome == SKIPPED else destination)
        for key, destination, outcome, reason in free.iterator(chunk_size=5000)
    }


def waiting(excursion_id: int, limit: int) -> list[Message]:
    """The next messages, shortest depth first; places already reserved under a maximum come before all."""
    rows = Message.objects.filter(excursion_id=excursion_id)
    reserved = list(rows.filter(state=MessageState.RESERVED).order_by("depth", "id")[:limit])
    rest = rows.filter(state=MessageState.WAITING).order_by("depth", "id")[: limit - len(reserved)]
    return reserved + list(rest)


def previous_versions(doc_id: int, keys: Collection[bytes]) -> dict[bytes, Previous]:
    """What the document shows of these URLs now."""
    found: dict[bytes, Previous] = {}
    for part in sql.chunks(list(keys)):
        heads = dict(PageHead.objects.filter(doc_id=doc_id, url_key__in=part).values_list("version_id", "url_key"))
        found.update({heads[p.version_id]: p for p in _versions(heads)})
    return found


def _versions(ids: Iterable[int]) -> Iterable[Previous]:
    from .models import PageVersion

    columns = ("id", "digest", "etag", "last_modified", "extractor")
    for row in PageVersion.objects.filter(id__in=list(ids)).values_list(*columns):
        yield Previous(*row)


def release(instance: Instance, excursion: Excursion, state: State = State.WAITING) -> None:
    """Hand a queue back as it is."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        Excursion.objects.filter(pk=excursion.pk, state=State.RUNNING).update(state=state)
        ActiveQueue.objects.filter(excursion=excursion, instance=instance).delete()


def release_all(instance: Instance) -> None:
    """Forget what was claimed: after the database was away, everything is read from it again."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        Excursion.objects.filter(claim__instance=instance, state=State.RUNNING).update(state=State.INTERRUPTED)
        ActiveQueue.objects.filter(instance=instance).delete()


def standing(run_id: int) -> dict[int, int]:
    """How many queues each living instance of the run serves."""
    living = Instance.objects.filter(run_id=run_id, alive=True).annotate(served=Count("claims"))
    return dict(living.values_list("pk", "served"))


def unserved(run_id: int) -> int:
    """How many queues of the run nobody serves."""
    waiting_ones = Excursion.objects.filter(run_id=run_id, unfinished=True, claim__isnull=True, found__gt=0)
    return waiting_ones.filter(state__in=CLAIMABLE).count()


def delete_messages(excursion_id: int) -> None:
    """In short transactions: a queue may hold a million."""
    while True:
        ids = list(Message.objects.filter(excursion_id=excursion_id).values_list("id", flat=True)[:5000])
        if not ids:
            return
        for part in sql.chunks(ids):
            Message.objects.filter(id__in=part).delete()
