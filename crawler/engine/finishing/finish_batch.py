"""Owns: how the excursions of many small documents that were never crawled before end together: counted, marked,
emptied, closed with the same few statements.

Profiled with 10,000 documents of one page: ending each by itself, with four transactions and twenty statements, took
most of the time of the crawl. Whatever is larger, or has a crawl before it to be compared with, ends by derive.
Does not: open a transaction, or end a run. Called by: endings.
"""

from collections import defaultdict
from collections.abc import Iterator
from typing import Any

from django.utils import timezone

from ... import bulk_sql
from ...models import ActiveQueue, Event, Excursion, LedgerEntry, Message, PageVersion, State
from ...policy.backlinks import ALL, count_backlinks, link_keys
from ...policy.crawl_difference import CrawlDifference
from ...runs.latest_crawls import KEPT
from ..local_queue import LocalQueue

AT_ONCE = 64  # documents in one transaction,
ADDRESSES_AT_ONCE = 4_096  # and their addresses: some tens of milliseconds
MOST = 512  # addresses of a document that is ended here


def choose(queues: list[LocalQueue]) -> tuple[list[LocalQueue], list[LocalQueue]]:
    """Those that can be ended here, and the rest."""
    small = [queue for queue in queues if len(queue.frontier.known) <= MOST and not queue.excursion.derived_to]
    small = [queue for queue in small if queue.excursion.state == State.RUNNING and not queue.waiting]
    again: set[int] = set()
    for part in bulk_sql.chunks(small, AT_ONCE):
        before = Excursion.objects.filter(doc_id__in=[q.excursion.doc_id for q in part], state__in=KEPT)
        shown = LedgerEntry.objects.filter(excursion__in=[q.excursion.pk for q in part], previous_version_id__gt=0)
        again |= {*before.values_list("doc_id", flat=True), *shown.values_list("doc_id", flat=True)}
    small = [queue for queue in small if queue.excursion.doc_id not in again]
    chosen = {queue.excursion.pk for queue in small}
    return small, [queue for queue in queues if queue.excursion.pk not in chosen]


def parts(queues: list[LocalQueue]) -> Iterator[list[LocalQueue]]:
    """As many at a time as belong into one transaction."""
    part: list[LocalQueue] = []
    addresses = 0
    for queue in queues:
        size = len(queue.frontier.known)
        if part and (len(part) == AT_ONCE or addresses + size > ADDRESSES_AT_ONCE):
            yield part
            part, addresses = [], 0
        part.append(queue)
        addresses += size
    if part:
        yield part


def close(queues: list[LocalQueue], states: list[State]) -> None:
    """End these excursions; inside the caller's transaction."""
    ids = [queue.excursion.pk for queue in queues]
    pages = _pages(ids)
    backlinks: list[Any] = []
    excursions = []
    for queue in queues:
        mine, excursion = pages[queue.excursion.pk], queue.excursion
        counts = count_backlinks(mine, link_keys(queue.frontier.rules))
        backlinks += [(count, excursion.pk, key) for key, count in counts.items()]
        excursion.tallies = queue.tally.columns()["tallies"] | {
            "change": CrawlDifference(new={k for k, _ in mine}).counts()
        }
        excursions.append(excursion)
    bulk_sql.execute_many(
        "UPDATE ledger SET backlinks = %s WHERE excursion_id = %s AND url_key = %s", sorted(backlinks)
    )
    Excursion.objects.bulk_update(excursions, ["tallies"])
    _end(queues, states)


def _pages(ids: list[int]) -> dict[int, list[tuple[bytes, bytes]]]:
    """Own key and packed links of the pages of these excursions."""
    rows = LedgerEntry.objects.filter(excursion__in=ids, version_id__gt=0).order_by()
    owners = dict(rows.values_list("version_id", "excursion_id"))
    found: dict[int, list[tuple[bytes, bytes]]] = defaultdict(list)
    for part in bulk_sql.chunks(sorted(owners)):
        versions = PageVersion.objects.filter(id__in=part).order_by()
        for version, key, packed in versions.values_list("id", "url_key", "links"):
            found[owners[version]].append((key, bytes(packed)))
    return found


def _end(queues: list[LocalQueue], states: list[State]) -> None:
    ids, now = [queue.excursion.pk for queue in queues], timezone.now()
    for state in set(states):
        ending = [pk for pk, end in zip(ids, states, strict=True) if end == state]
        Excursion.objects.filter(pk__in=ending).update(state=state, unfinished=False, finished_at=now, derived_to=ALL)
    Message.objects.filter(excursion__in=ids).delete()
    ActiveQueue.objects.filter(excursion__in=ids).delete()
    Event.objects.bulk_create(
        Event(
            run_id=queue.excursion.run_id, doc_id=queue.excursion.doc_id, at=now, kind="excursion",
            text=f"{queue.excursion.title}: {State(state).label.lower()}"[:500],
        )
        for queue, state in zip(queues, states, strict=True)
    )  # fmt: skip
