"""Owns: the message queues as rows: open, claim, look into, release, delete. Does not: decide what belongs in one.

One queue per document and run; its messages are rows, so nothing that dies takes them along. Called by: the
initializer, the instance, the endings.
"""

from collections.abc import Collection, Iterable, Iterator
from dataclasses import dataclass, field, replace
from typing import NamedTuple

from django.db import connections, transaction
from django.db.models import Count
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL

from .. import bulk_sql
from ..launching.control import PAUSE
from ..launching.launch_subset import addresses_again
from ..liveness.instances import fence
from ..models import (
    ActiveQueue,
    CrawledPage,
    Excursion,
    Instance,
    LedgerEntry,
    Message,
    MessageState,
    PageHead,
    Run,
    State,
)
from ..policy.frontier import COUNTS, COUNTS_NOT, CUT, SHORT, Frontier
from ..values import FREE, SKIPPED, Snapshot

SMALL = 64  # addresses; queues up to this size are read and ended many at a time
Judgement = tuple[bytes, str, str, str]
_SAID = ("etag", "last_modified")
_DELETED_AT_ONCE = 2000
_JUDGEMENT = ("url_key", "redirect_url", "outcome", "reason")
CLAIMABLE = (State.WAITING, State.RUNNING, State.INTERRUPTED, State.STOPPING)


@dataclass(frozen=True, slots=True)
class Previous:
    """The version a document shows of a URL now: what an answer is compared with."""

    version_id: int
    digest: bytes
    etag: str
    last_modified: str
    extractor: int


def open_queues(excursion_ids: Collection[int]) -> None:
    """Put the crawl points on these queues, once; a second call, or one after a kill, changes nothing."""
    from .storage import write_changes  # the one writer of messages

    with transaction.atomic(using=WEBCRAWL):
        rows = Excursion.objects.select_for_update().filter(pk__in=excursion_ids, opened=False, unfinished=True)
        opening = list(rows.order_by("id"))
        doc_ids = [excursion.doc_id for excursion in opening]
        ActiveQueue.objects.filter(excursion__doc_id__in=doc_ids).delete()
        CrawledPage.objects.filter(doc_id__in=doc_ids).delete()
        frontiers = [Frontier(Snapshot.from_json(excursion.snapshot)) for excursion in opening]
        for excursion, frontier in zip(opening, frontiers, strict=True):
            frontier.seed(addresses_again(excursion))
        write_changes(list(zip(opening, frontiers, strict=True)))
        rows.update(opened=True)


def claim(instance: Instance, limit: int, crashes: int = 0) -> list[Excursion]:
    """Take up to this many queues nobody serves; the unique queue name makes sure of it.

    Only those with so many crashes: see crashes.py."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        # The queues only; SQL Server locks the rows of the first table anyway and has no word for it.
        of = ("self",) if connections[WEBCRAWL].features.has_select_for_update_of else ()
        free = (
            Excursion.objects.select_for_update(skip_locked=True, of=of)
            .filter(crashes=crashes)
            .filter(run_id=instance.run_id, unfinished=True, state__in=CLAIMABLE, opened=True, claim__isnull=True)
            .order_by("id")[:limit]
        )
        locked, now = list(free), timezone.now()
        # PostgreSQL looked at the claims before it had the locks: somebody may have been faster.
        taken = set(ActiveQueue.objects.filter(excursion__in=locked).values_list("excursion_id", flat=True))
        claimed = [excursion for excursion in locked if excursion.pk not in taken]
        ActiveQueue.objects.bulk_create(
            ActiveQueue(name=excursion.queue_name, excursion=excursion, instance=instance, claimed_at=now)
            for excursion in claimed
        )
        theirs = Excursion.objects.filter(pk__in=[excursion.pk for excursion in claimed])
        theirs.exclude(state=State.STOPPING).update(state=State.RUNNING)
        theirs.filter(started_at=None).update(started_at=now)
        for excursion in claimed:
            excursion.started_at = excursion.started_at or now
            excursion.state = State.RUNNING if excursion.state != State.STOPPING else excursion.state
    return claimed


@dataclass(slots=True)
class QueueContents:
    """What the database holds of one small queue, read together with that of many others.

    Profiled with 10,000 documents of one page: asking for each queue by itself took most of the time of such a crawl.
    """

    messages: list[Message] = field(default_factory=list)
    judged: list[Judgement] = field(default_factory=list)

    def ways(self) -> Iterable[tuple[bytes, str, int]]:
        return ((message.url_key, message.reach, message.state) for message in self.messages)

    def free(self) -> Iterable[Judgement]:
        return self.judged

    def skipped(self) -> Iterable[Judgement]:
        return (row for row in self.judged if row[2] == SKIPPED)

    def waiting(self) -> list[Message]:
        """In the order of the function of this name."""
        open_ones = [message for message in self.messages if message.state != MessageState.DONE]
        return sorted(open_ones, key=lambda m: (m.state != MessageState.RESERVED, m.depth, m.pk))


class Everything(QueueContents):
    """The same of a queue of any size: never all of it in memory."""

    def __init__(self, excursion: Excursion) -> None:
        self._messages = Message.objects.filter(excursion=excursion).order_by()
        self._ledger = LedgerEntry.objects.filter(excursion=excursion).order_by().values_list(*_JUDGEMENT)

    def ways(self) -> Iterable[tuple[bytes, str, int]]:
        return self._messages.values_list("url_key", "reach", "state").iterator(chunk_size=5000)

    def free(self) -> Iterable[Judgement]:
        rows = self._ledger.exclude(redirect_url="") | self._ledger.filter(reason__in=FREE)
        return rows.iterator(chunk_size=5000)

    def skipped(self) -> Iterable[Judgement]:
        return self._ledger.filter(outcome=SKIPPED).iterator(chunk_size=5000)


def kept(excursions: Iterable[Excursion]) -> dict[int, QueueContents]:
    """The contents of the small ones among these queues, by excursion."""
    small = {excursion.pk: QueueContents() for excursion in excursions if 0 < excursion.found <= SMALL}
    for message in Message.objects.filter(excursion__in=small).order_by("id") if small else ():
        small[message.excursion_id].messages.append(message)
    judged = LedgerEntry.objects.filter(excursion__in=small).order_by() if small else LedgerEntry.objects.none()
    for excursion_id, *row in judged.values_list("excursion_id", *_JUDGEMENT):
        small[excursion_id].judged.append(tuple(row))
    return small


def restore(excursion: Excursion, frontier: Frontier, known: QueueContents | None = None) -> None:
    """Everything a queue knew before it changed hands: messages, skips, redirects."""
    known = known or Everything(excursion)
    uncounted = _uncounted(known.free())
    for key, reach_text, state in known.ways():
        rank, _ = uncounted.get(key, (COUNTS, ""))
        frontier.restore_message(key, reach_text, state == MessageState.DONE, rank)
    for key, _, _, reason in known.skipped():
        if key[:SHORT] not in frontier.known:
            frontier.restore_skip(key[:SHORT], reason)
    for key, (_, destination) in uncounted.items():
        if destination:
            frontier.restore_redirect(key[:SHORT], key, destination)


def _uncounted(judged: Iterable[Judgement]) -> dict[bytes, tuple[int, str]]:
    """Done URLs that take no place under a maximum: how they stand, and where they lead (redirects that passed)."""
    return {
        key: (CUT if reason == "page_limit" else COUNTS_NOT, "" if outcome == SKIPPED else destination)
        for key, destination, outcome, reason in judged
        if destination or reason in FREE
    }


class Waiting(NamedTuple):
    """What is read of a message before it goes: a model instance of each took a fiftieth of a crawl."""

    url_key: bytes
    url: str
    owner_id: int
    found_on: bytes | None
    depth: int
    state: int
    attempts: int


def waiting(excursion_id: int, limit: int) -> list[Waiting]:
    """The next messages, shortest depth first; places already reserved under a maximum come before all."""
    rows = Message.objects.filter(excursion_id=excursion_id).values_list(*Waiting._fields)
    reserved = list(rows.filter(state=MessageState.RESERVED).order_by("depth", "id")[:limit])
    rest = rows.filter(state=MessageState.WAITING).order_by("depth", "id")[: limit - len(reserved)]
    return [Waiting(*row) for row in (*reserved, *rest)]


def previous_of_many(wanted: dict[int, list[bytes]]) -> dict[tuple[int, bytes], Previous]:
    """What these documents show of these addresses now, by document and key."""
    found: dict[tuple[int, bytes], Previous] = {}
    for doc_ids in bulk_sql.chunks(list(wanted), SMALL):
        keys = [key for doc_id in doc_ids for key in wanted[doc_id]]
        for part in bulk_sql.chunks(keys):
            rows = PageHead.objects.filter(doc_id__in=doc_ids, url_key__in=part)
            heads = {version: place for version, *place in rows.values_list("version_id", "doc_id", "url_key", *_SAID)}
            for previous in _versions(heads) if heads else ():
                doc_id, key, *said = heads[previous.version_id]
                found[doc_id, key] = _as_said(previous, *said)
    return found


def previous_versions(doc_id: int, keys: Collection[bytes]) -> dict[bytes, Previous]:
    """What the document shows of these URLs now."""
    found: dict[bytes, Previous] = {}
    for part in bulk_sql.chunks(list(keys)):
        rows = PageHead.objects.filter(doc_id=doc_id, url_key__in=part)
        heads = {version: said for version, *said in rows.values_list("version_id", "url_key", *_SAID)}
        for previous in _versions(heads) if heads else ():
            key, *said = heads[previous.version_id]
            found[key] = _as_said(previous, *said)
    return found


def _as_said(previous: Previous, etag: str, last_modified: str) -> Previous:
    """With what the site said of the same content since; together, because an answer says both or one."""
    return replace(previous, etag=etag, last_modified=last_modified) if etag or last_modified else previous


def _versions(ids: Iterable[int]) -> Iterable[Previous]:
    from ..models import PageVersion

    columns = ("id", "digest", "etag", "last_modified", "extractor")
    for row in PageVersion.objects.filter(id__in=list(ids)).values_list(*columns):
        yield Previous(*row)


def release(instance: Instance, excursion: Excursion) -> None:
    """Hand a queue back as it is; paused, if that is asked of its document or of the run at this moment: a run may have
    been resumed, or stopped, while its last pages were read."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        asked = Run.objects.select_for_update().values_list("control", flat=True).get(pk=instance.run_id)
        running = Excursion.objects.filter(pk=excursion.pk, state=State.RUNNING)
        running.filter(control=PAUSE).update(state=State.PAUSED)
        running.update(state=State.PAUSED if asked == PAUSE else State.WAITING)
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


def delete_messages(instance: Instance, excursion_id: int) -> Iterator[None]:
    """In short transactions, each with its fence: a queue may hold a million, and another may have taken over."""
    while True:
        ids = list(Message.objects.filter(excursion_id=excursion_id).values_list("id", flat=True)[:_DELETED_AT_ONCE])
        if not ids:
            return
        with transaction.atomic(using=WEBCRAWL):
            fence(instance)
            for part in bulk_sql.chunks(ids):
                Message.objects.filter(id__in=part).delete()
        yield
