"""Owns: what is counted from stored links when a document's crawl is over: how many of its pages link to each
address, which pages this crawl found again, and how it differs from the crawl before.

Counting happens in memory, in one pass over the pages, with 32 bytes an address; the counts are written in the order
of the ledger's rows, in short transactions. `derived_to` says how far, so that a killed ending goes on there: counting
again changes nothing.
Does not: decide when a crawl is over. Called by: endings.
"""

import time
from collections.abc import Iterator, Sequence
from itertools import islice
from typing import Any

from django.db import transaction
from django.db.models import Exists, OuterRef

from clearinghouse.database.aliases import WEBCRAWL

from ... import bulk_sql
from ...ledger.links_between_pages import packed_pages, versions_of
from ...liveness.instances import fence
from ...models import Excursion, Instance, LedgerEntry, PageHead, State
from ...policy.backlinks import ALL, Addresses, Backlinks
from ...policy.judge import CrawlRules
from ...runs.crawl_changes import changing, excursion_before
from ...runs.latest_crawls import COMPLETE, shown_before
from ...values import CRAWLED, UNCHANGED, Snapshot

_READ = 5_000  # ledger rows at once
_COUNTED = 20  # pages; one with a hundred links takes two milliseconds
_WRITTEN = 1_000  # rows in one transaction
_BEAT = 1.0


def derive(instance: Instance, excursion: Excursion, end: State = State.FINISHED) -> None:
    """Everything that is counted before an excursion ends in the state `end`; leaves it at stopping."""
    for _ in Derivation(instance, excursion, end).steps():
        pass


class Derivation:
    """One ending of one excursion, in steps of some milliseconds: between them a loop can serve its other queues."""

    def __init__(self, instance: Instance, excursion: Excursion, end: State = State.FINISHED) -> None:
        self.instance, self.excursion, self.end = instance, excursion, end
        self._written = time.monotonic()

    def steps(self) -> Iterator[None]:
        if self.excursion.derived_to >= ALL:
            self._write([], ALL)  # nothing is left to do but to see that nobody else took over
            return
        yield from self._backlinks()
        if shown_before(self.excursion):
            yield from self._mark_heads()
        before = excursion_before(self.excursion)
        tallies = Excursion.objects.values_list("tallies", flat=True).get(pk=self.excursion.pk)
        changes = yield from changing(self.excursion, before, self.end, self._beat)
        since = {} if before is None else {"since": before.run_id}
        self._write([], ALL, tallies=tallies | {"change": changes.counts()} | since)

    def _backlinks(self) -> Iterator[None]:
        addresses = Addresses()
        for rows in _ledger(self.excursion):
            addresses.add(rows)
            self._beat()
            yield
        backlinks = Backlinks(CrawlRules(Snapshot.from_json(self.excursion.snapshot)), addresses)
        for pages in packed_pages(versions_of(self.excursion.pk)):
            for some in bulk_sql.chunks(pages, _COUNTED):
                backlinks.add(some)
                self._beat()
                yield
        counted = backlinks.counted(after=self.excursion.derived_to)
        while rows := list(islice(counted, _WRITTEN)):
            self._write(rows, rows[-1][1])
            yield

    def _mark_heads(self) -> Iterator[None]:
        """updated_fl, the seed's mark: found again by the newest crawl, or not; one that did not come to its end, or
        that was sent to a part of its document, takes it off nothing."""
        whole = self.end in COMPLETE and not self.excursion.part
        named = LedgerEntry.objects.filter(
            excursion=self.excursion, url_key=OuterRef("url_key"), outcome__in=(CRAWLED, UNCHANGED)
        )
        last, more = 0, True
        while more:
            heads = PageHead.objects.filter(doc_id=self.excursion.doc_id, id__gt=last).order_by("id")
            rows = list(heads.annotate(found=Exists(named)).values_list("id", "found", "updated")[:_WRITTEN])
            wrong = [(int(found), pk) for pk, found, old in rows if bool(old) != found and (found or whole)]
            if wrong:
                with transaction.atomic(using=WEBCRAWL):
                    fence(self.instance)
                    bulk_sql.execute_many("UPDATE page_head SET updated_fl = %s WHERE doc_crawl_page_id = %s", wrong)
            yield
            more = len(rows) == _WRITTEN
            last = rows[-1][0] if rows else last

    def _beat(self) -> None:
        """Counting may take longer than other instances wait."""
        if time.monotonic() - self._written >= _BEAT:
            self._write([], self.excursion.derived_to)

    def _write(self, rows: Sequence[tuple[int, int]], derived_to: int, **columns: Any) -> None:
        with transaction.atomic(using=WEBCRAWL):
            fence(self.instance)
            bulk_sql.execute_many("UPDATE ledger SET backlinks = %s WHERE id = %s", rows)
            columns |= {"state": State.STOPPING, "derived_to": derived_to}
            Excursion.objects.filter(pk=self.excursion.pk).update(**columns)
        self.excursion.derived_to = derived_to
        self._written = time.monotonic()


def _ledger(excursion: Excursion) -> Iterator[list[tuple[bytes, int]]]:
    """Key and id of each row, in the order of the keys: the index alone is read."""
    rows = LedgerEntry.objects.filter(excursion=excursion).order_by("url_key").values_list("url_key", "id")
    last, more = b"", True
    while more:
        part = list(rows.filter(url_key__gt=last)[:_READ])
        if part:
            last = part[-1][0]
            yield part
        more = len(part) == _READ
