"""Owns: every write of pages, ledger rows, messages and counters: the only writer of these tables.

One page, one transaction: the version, its head, its bytes, the ledger and crawled_pages rows, the new messages,
the message's own completion and the counters come together or not at all. Several pages share a transaction (a
batch), never half of one. Does not: decide anything. Called by: the instance, the initializer, the endings.
"""

import json
from dataclasses import dataclass, field
from typing import Any, NamedTuple

from django.db import transaction
from django.utils import timezone

from clearinghouse.database.aliases import WEBCRAWL

from .. import bulk_sql
from ..liveness.instances import fence
from ..models import Excursion, Instance, LedgerEntry, MessageState
from ..policy import path
from ..policy.frontier import SHORT, Frontier, FrontierChanges, Skip
from ..values import FAILED, OUTCOMES, SKIPPED
from .counters import ExcursionCounters

_LEDGER = (
    "excursion_id", "doc_id", "url_key", "url", "outcome", "reason", "detail", "status", "depth", "hop",
    "crawl_point_id", "found_on", "redirect_url", "version_id", "previous_version_id", "size", "milliseconds", "taken",
    "at",
)  # fmt: skip
_COUNTED = (*OUTCOMES, "found", "bytes")
_COUNT = f"UPDATE excursion SET {', '.join(f'{name} = %s' for name in (*_COUNTED, 'tallies'))} WHERE id = %s"  # noqa: S608


@dataclass(slots=True)
class Verdict:
    """A ledger row: what became of one URL."""

    key: bytes
    url: str
    outcome: str
    reason: str = ""
    detail: str = ""
    status: int = 0
    depth: int = 0
    hop: int = 0
    point_id: int | None = None
    found_on: bytes | None = None
    redirect_url: str = ""
    version_id: int | None = None
    previous_version_id: int | None = None
    size: int = 0
    milliseconds: int = 0
    taken: bool = True  # from the queue; what was skipped when it was found never stood there


class VersionRow(NamedTuple):
    """A row of page_version; found_at comes with the commit."""

    id: int
    run_id: int
    doc_id: int
    url_key: bytes
    url: str
    digest: bytes
    type_id: int
    extension: str
    title: str
    metas: str
    headings: str
    text: str
    language: str
    links: bytes
    canonical: str
    content_type: str
    charset: str
    etag: str
    last_modified: str
    size: int
    flags: str
    extractor: int


@dataclass(slots=True)
class NewVersion:
    """A new or changed content: its row, the bytes, and whether a head exists already."""

    row: VersionRow
    digest: bytes
    body: bytes
    head_exists: bool


@dataclass(slots=True)
class PendingWrites:
    """What one queue has to write at the next commit."""

    excursion: Excursion
    frontier: Frontier
    tally: ExcursionCounters
    verdicts: list[Verdict] = field(default_factory=list)
    rejudged: list[Verdict] = field(default_factory=list)  # the row exists: a redirect expanded again
    versions: list[NewVersion] = field(default_factory=list)
    # Etag, last-modified, document, key: what sites say now of contents they had before.
    validators: list[tuple[str, str, int, bytes]] = field(default_factory=list)
    touched: dict[bytes, bytes] = field(default_factory=dict)  # short key -> full key: its state changed
    # Short keys whose place under a maximum is taken; unlike the rest it outlives commits.
    reserved: set[bytes] = field(default_factory=set)

    @property
    def empty(self) -> bool:
        waiting = self.frontier.changes
        return not (self.verdicts or self.rejudged or self.touched or waiting.found or waiting.moved or waiting.loops)

    def clear(self) -> None:
        self.verdicts, self.rejudged, self.versions, self.validators, self.touched = [], [], [], [], {}


def commit(instance: Instance, works: list[PendingWrites]) -> list[FrontierChanges]:
    """Write all of it or, when this instance was declared dead, nothing (raises Fenced)."""
    with transaction.atomic(using=WEBCRAWL):
        fence(instance)
        changes = _write(works)
    for work in works:
        work.clear()
    return changes


def write_changes(excursions: list[tuple[Excursion, Frontier]]) -> None:
    """The start of queues: their crawl points as messages; inside the caller's transaction."""
    _write([PendingWrites(excursion, frontier, ExcursionCounters(excursion)) for excursion, frontier in excursions])


def _write(works: list[PendingWrites]) -> list[FrontierChanges]:
    now, batch = bulk_sql.moment(timezone.now()), bulk_sql.Batch()
    drained = [work.frontier.drain() for work in works]
    _bodies(batch, [version for work in works for version in work.versions])
    for work, changes in zip(works, drained, strict=True):
        _messages(batch, work, changes)
        _versions(batch, work, now)
        _ledger(batch, work, changes, now)
    batch.flush()
    for work, changes in zip(works, drained, strict=True):
        for verdict in [*work.rejudged, *(Verdict(key, "", FAILED, "redirect_loop") for key in changes.loops)]:
            _rejudge(work, verdict)
        values = work.tally.columns() | {"id": work.excursion.pk}
        batch.execute_many(
            _COUNT, [[*(values[name] for name in _COUNTED), json.dumps(values["tallies"]), values["id"]]]
        )
    batch.flush()
    return drained


def _messages(batch: bulk_sql.Batch, work: PendingWrites, changes: FrontierChanges) -> None:
    frontier, excursion_id, tally = work.frontier, work.excursion.pk, work.tally
    rows = []
    for short, item in changes.found.items():
        state = _state(frontier, work, short)
        tally.found(item.depth)
        rows.append((excursion_id, item.key, item.url, item.owner_id, frontier.reach_text(short),
                     frontier.nearest(short), item.found_on, state, 0, 0))  # fmt: skip
    columns = ("excursion_id", "url_key", "url", "owner_id", "reach", "depth", "found_on", "state", "attempts",
               "not_before")  # fmt: skip
    batch.insert("message", columns, rows)
    for short, (_, before) in changes.moved.items():
        tally.moved(before, frontier.nearest(short), done=path.kind(frontier.known[short]) == path.DONE)
    touched = {short: key for short, (key, _) in changes.moved.items()} | work.touched
    for verdict in work.verdicts:
        touched[verdict.key[:SHORT]] = verdict.key
    updates = [
        (frontier.reach_text(short), frontier.nearest(short), _state(frontier, work, short), excursion_id, key)
        for short, key in touched.items()
        if short not in changes.found
    ]
    batch.execute_many(
        "UPDATE message SET reach = %s, depth = %s, state = %s WHERE excursion_id = %s AND url_key = %s", updates
    )


def _state(frontier: Frontier, work: PendingWrites, short: bytes) -> int:
    if path.kind(frontier.known[short]) == path.DONE:
        return MessageState.DONE
    return MessageState.RESERVED if short in work.reserved else MessageState.WAITING


def _bodies(batch: bulk_sql.Batch, versions: list[NewVersion]) -> None:
    bodies = {version.digest: version.body for version in versions}
    # In the order of the keys: two instances with the same bytes in opposite order would wait for each other.
    batch.insert("page_body", ("digest", "content"), sorted(bodies.items()), ignore=True)


def _versions(batch: bulk_sql.Batch, work: PendingWrites, now: Any) -> None:
    doc_id = work.excursion.doc_id
    rows = [(*version.row, now) for version in work.versions]
    batch.insert("page_version", (*VersionRow._fields, "found_at"), rows, ids=True)
    heads = [(doc_id, version.row.url_key, version.row.id, 1) for version in work.versions if not version.head_exists]
    batch.insert("page_head", ("doc_id", "url_key", "version_id", "updated_fl"), heads)
    batch.execute_many(
        "UPDATE page_head SET version_id = %s, updated_fl = 1, etag = '', last_modified = '' "
        "WHERE doc_id = %s AND url_key = %s",
        [(version.row.id, doc_id, version.row.url_key) for version in work.versions if version.head_exists],
    )
    batch.execute_many(
        "UPDATE page_head SET etag = %s, last_modified = %s WHERE doc_id = %s AND url_key = %s", work.validators
    )


def _ledger(batch: bulk_sql.Batch, work: PendingWrites, changes: FrontierChanges, now: Any) -> None:
    excursion, tally = work.excursion, work.tally
    _unskip(work, changes)
    _reopen(work, changes)
    _place_verdicts(batch, work, changes)
    rows = [_ledger_row(excursion, verdict, now) for verdict in work.verdicts]
    for skip in changes.skips.values():
        tally.skipped(skip.refusal.reason)
        rows.append(_skip_row(excursion, skip, now))
    batch.insert("ledger", _LEDGER, rows)
    for skip, before in changes.upgraded.values():
        tally.skipped(before, -1)
        tally.skipped(skip.refusal.reason)
    batch.execute_many(
        "UPDATE ledger SET reason = %s, detail = %s, depth = %s, crawl_point_id = %s, found_on = %s "
        "WHERE excursion_id = %s AND url_key = %s",
        [
            (s.refusal.reason, s.refusal.detail[:500], s.depth, s.point_id, s.found_on, excursion.pk, s.key)
            for s, _ in changes.upgraded.values()
        ],
    )
    crawled = [(v.url, excursion.doc_id) for v in work.verdicts if v.version_id]
    batch.insert("crawled_pages", ("page_url", "doc_id"), crawled)


def _reopen(work: PendingWrites, changes: FrontierChanges) -> None:
    """Verdicts of page_limit that do not stand: written ones go, those of this batch are forgotten, the last stays."""
    for short in changes.reopened:
        work.tally.reopened("page_limit", changes.moved[short][1])
    for part in bulk_sql.chunks(list(changes.reopened.values())):
        LedgerEntry.objects.filter(excursion=work.excursion, url_key__in=part).delete()
    if changes.reopened:
        last = {verdict.key: verdict for verdict in work.verdicts}
        done = [v for v in last.values() if path.kind(work.frontier.known[v.key[:SHORT]]) == path.DONE]
        work.verdicts = done


def _place_verdicts(batch: bulk_sql.Batch, work: PendingWrites, changes: FrontierChanges) -> None:
    """Depth and hop are the smallest known at this commit, also of URLs that had their verdict before."""
    frontier, moved = work.frontier, dict(changes.moved)
    for verdict in work.verdicts:
        short = verdict.key[:SHORT]
        moved.pop(short, None)
        way = frontier.nearest_way(short)
        verdict.depth, verdict.hop, verdict.point_id = way.depth, way.hop, frontier.ids[way.point]
    done = [
        (key, frontier.nearest_way(short))
        for short, (key, _) in moved.items()
        if path.kind(frontier.known[short]) == path.DONE
    ]
    batch.execute_many(
        "UPDATE ledger SET depth = %s, hop = %s, crawl_point_id = %s WHERE excursion_id = %s AND url_key = %s",
        [(way.depth, way.hop, frontier.ids[way.point], work.excursion.pk, key) for key, way in done],
    )


def _unskip(work: PendingWrites, changes: FrontierChanges) -> None:
    for _, reason in changes.unskipped:
        work.tally.skipped(reason, -1)
    for part in bulk_sql.chunks([key for key, _ in changes.unskipped]):
        LedgerEntry.objects.filter(excursion=work.excursion, url_key__in=part).delete()


def _rejudge(work: PendingWrites, verdict: Verdict) -> None:
    """A stored verdict changes: a circle closed, or a shorter way undid too_many_redirects."""
    row = LedgerEntry.objects.filter(excursion=work.excursion, url_key=verdict.key).first()
    if row is None or (row.outcome, row.reason) == (verdict.outcome, verdict.reason):
        return
    work.tally.judged(row.outcome, row.reason, -1)
    work.tally.judged(verdict.outcome, verdict.reason)
    LedgerEntry.objects.filter(pk=row.pk).update(
        outcome=verdict.outcome, reason=verdict.reason, detail=verdict.detail[:500] or row.detail
    )


def _ledger_row(excursion: Excursion, v: Verdict, now: Any) -> tuple[Any, ...]:
    return (
        excursion.pk, excursion.doc_id, v.key, v.url, v.outcome, v.reason, v.detail[:500], v.status, v.depth, v.hop,
        v.point_id, v.found_on, v.redirect_url, v.version_id, v.previous_version_id, v.size, v.milliseconds, v.taken,
        now,
    )  # fmt: skip


def _skip_row(excursion: Excursion, s: Skip, now: Any) -> tuple[Any, ...]:
    verdict = Verdict(s.key, s.url, SKIPPED, s.refusal.reason, s.refusal.detail, depth=s.depth, point_id=s.point_id,
                      found_on=s.found_on, taken=False)  # fmt: skip
    return _ledger_row(excursion, verdict, now)


def unwritten_links(work: PendingWrites, version_ids: set[int]) -> dict[int, tuple[bytes, str]]:
    """Packed links and flags of those of these versions that wait for the next commit."""
    return {v.row.id: (v.row.links, v.row.flags) for v in work.versions if v.row.id in version_ids}
