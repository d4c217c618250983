"""Owns: what the next propagation would do to each document on each target, in numbers: one answer for its plan, for
the preview before it, and for what a run advises, so that these never contradict each other.

An answer depends on the scope of the document (its crawls, roots, excludes) and on what the target shows, and on
nothing else: a digest of both stands beside it, and under another one it says nothing. So a page need not read ledgers.
Does not: compare (differences), ask anybody (services). Called by: work, services, jobs, the screens.
"""

import time
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError, transaction

from clearinghouse.database.aliases import TARGETS, WEBCRAWL
from clearinghouse.database.digests import digest_of
from clearinghouse.published.models import LiveGeneration
from crawler.models import Excursion, Forecast

from ..bulk_sql import chunks
from .loading import load
from .loading.collect import Collector
from .loading.differences import concerned, difference
from .pinned_scope import DocumentScope, PinnedScope, pin
from .plan import Outcome

Outcomes = dict[int, Outcome]  # by document
_NUMBERS = ("doc_id", "live", "after", "added", "changed", "removed", "relinked")
_DIFFERENCES = _NUMBERS[3:]
_AT_ONCE = 200
LISTED = 50  # documents


@dataclass(frozen=True, slots=True)
class Outlook:
    """What is known of some documents."""

    targets: Mapping[str, Outcomes] = field(default_factory=dict)
    unknown: frozenset[int] = frozenset()  # documents that are still to be worked out
    titles: Mapping[int, str] = field(default_factory=dict)
    accepted: frozenset[int] = frozenset()  # documents whose loss somebody accepted: nobody is asked again

    @property
    def asking(self) -> dict[int, Outcome]:
        """The documents that would lose too much, each where it loses most."""
        found: dict[int, Outcome] = {}
        every = (one for outcomes in self.targets.values() for one in outcomes.values())
        for one in every:
            known = found.get(one.doc_id)
            if one.asks and one.doc_id not in self.accepted and (known is None or known.removed < one.removed):
                found[one.doc_id] = one
        return found

    @property
    def shortened(self) -> "Outlook":
        """Only what asks, and what is unknown: of ten thousand documents the rest is much to remember."""
        asking = self.asking
        targets = {
            target: {doc_id: one for doc_id, one in outcomes.items() if one.asks}
            for target, outcomes in self.targets.items()
        }
        return Outlook(targets, self.unknown, {doc_id: self.titles.get(doc_id, "") for doc_id in asking})


def measured(
    target: str,
    scope: PinnedScope,
    collector: Collector,
    beat: Callable[[], None] = lambda: None,
    *,
    write: bool = False,
) -> tuple[dict[str, Any], list[dict[str, Any]]]:
    """Totals of a target, and a row per document that changes, the largest change first. With `write` everything is
    worked out anew and remembered."""
    found = list(_outcomes(target, scope, collector, beat, write=write))
    total: dict[str, Any] = dict.fromkeys(("live", "pages", "documents", *_DIFFERENCES), 0)
    not_public: dict[str, int] = {}
    rows: list[dict[str, Any]] = []
    names: dict[int, tuple[str, str]] = {}
    for document, one in found:
        for name, number in (("live", one.live), ("pages", one.after), ("documents", bool(one.after))):
            total[name] += number
        for name in _DIFFERENCES:
            total[name] += getattr(one, name)
        if one.after:
            names[one.doc_id] = (document.title, document.project)
        if one.after and not document.public:  # content development only
            not_public[document.title] = not_public.get(document.title, 0) + one.after
        if one.added or one.changed or one.removed:
            rows.append(one._asdict() | {"title": document.title, "asks": one.asks})
    total["renamed"] = load.renamed(TARGETS[target], names)
    total["not_public"] = {"pages": sum(not_public.values()), "titles": list(not_public)[:LISTED]}
    rows.sort(key=lambda row: -(row["added"] + row["changed"] + row["removed"]))
    return total, rows


def _outcomes(
    target: str, scope: PinnedScope, collector: Collector, beat: Callable[[], None], *, write: bool
) -> Iterator[tuple[DocumentScope, Outcome]]:
    known = {} if write else _known({target: keys(target, scope)})[target]
    shown, worked_out = load.live(TARGETS[target]), []
    for document in concerned(target, scope, shown):
        one = known.get(document.doc_id) or difference(target, document, shown, collector).change.outcome
        worked_out.append((document, one))
        yield document, one
        beat()
    if write:
        _write(target, [(document, one) for document, one in worked_out if not document.deleted])


def outlook(doc_ids: Iterable[int], *, at_once: int = 0) -> Outlook:
    """What is known of these documents. Unknown ones are worked out here while they have no more pages than `at_once`
    together; nothing is written. A target that is down says nothing."""
    scope = pin(doc_ids=set(doc_ids))
    crawled = [one for one in scope.documents if one.excursions]
    targets = _known_everywhere(scope)
    unknown = {one.doc_id for known in targets.values() for one in crawled if one.doc_id not in known}
    collector = Collector()
    for document in crawled:
        if document.doc_id in unknown and (at_once := at_once - _pages(document)) >= 0:
            for target, known in targets.items():
                shown = load.live(TARGETS[target])
                known[document.doc_id] = difference(target, document, shown, collector).change.outcome
            unknown.discard(document.doc_id)
    return Outlook(targets, frozenset(unknown), {one.doc_id: one.title for one in scope.documents})


def work_out(seconds: float, doc_ids: Iterable[int] | None = None) -> bool:
    """Works out what is not known, of all documents or of these, and remembers it; False when there was no time for
    all of it."""
    until = time.monotonic() + seconds
    scope, collector = pin(doc_ids=None if doc_ids is None else set(doc_ids)), Collector()
    for target, known in _known_everywhere(scope).items():
        missing = [one for one in scope.documents if one.excursions and one.doc_id not in known]
        for part in chunks(missing, _AT_ONCE):
            done = list(_worked_out(target, part, collector, until))
            _write(target, done)
            if len(done) < len(part):
                return False
    return True


def _worked_out(
    target: str, documents: Iterable[DocumentScope], collector: Collector, until: float
) -> Iterator[tuple[DocumentScope, Outcome]]:
    for document in documents:
        if time.monotonic() > until:
            return
        shown = load.live(TARGETS[target])
        yield document, difference(target, document, shown, collector).change.outcome


def keys(target: str, scope: PinnedScope) -> dict[int, bytes]:
    """What an answer depends on. The moment of the switch tells a generation from one of the same number in a target
    that was restored."""
    row = LiveGeneration.objects.using(TARGETS[target]).first()
    shown = f"{row.generation} {row.switched_at.timestamp() if row.switched_at else 0}" if row else "nothing"
    return {one.doc_id: digest_of(f"{target} {shown} {one.as_text(target)}") for one in scope.documents}


def published(target: str, scope: PinnedScope, before: Mapping[int, bytes]) -> None:
    """The target shows this scope now: of what was worked out for it, under the keys of before, nothing is left."""
    now = keys(target, scope)
    rows = [row for row in Forecast.objects.filter(target=target) if before.get(row.doc_id) == bytes(row.key)]
    for row in rows:
        row.live, row.key = row.after, now[row.doc_id]
        row.added = row.changed = row.removed = row.relinked = 0
    with suppress(DatabaseError):
        for part in chunks(rows, _AT_ONCE):
            with transaction.atomic(using=WEBCRAWL):
                Forecast.objects.bulk_update(part, ["key", "live", *_DIFFERENCES])


def _pages(document: DocumentScope) -> int:
    """About how many would have to be read."""
    numbers = [one.number for one in document.excursions]
    rows = Excursion.objects.filter(pk__in=numbers[:_AT_ONCE]).values_list("crawled", "unchanged")
    return 1 + sum(crawled + unchanged for crawled, unchanged in rows)


def _known_everywhere(scope: PinnedScope) -> dict[str, Outcomes]:
    """By target that answers."""
    valid = {}
    for target in TARGETS:
        with suppress(DatabaseError):
            valid[target] = keys(target, scope)
    return _known(valid)


def _known(valid: Mapping[str, Mapping[int, bytes]]) -> dict[str, Outcomes]:
    """What stands under these keys."""
    found: dict[str, Outcomes] = {target: {} for target in valid}
    doc_ids = sorted({doc_id for mine in valid.values() for doc_id in mine})
    rows = Forecast.objects.filter(target__in=list(valid))
    rows = rows.filter(doc_id__in=doc_ids) if len(doc_ids) <= _AT_ONCE else rows
    for target, key, *numbers in rows.values_list("target", "key", *_NUMBERS):
        one = Outcome(*numbers)
        if valid[target].get(one.doc_id) == bytes(key):
            found[target][one.doc_id] = one
    return found


def _write(target: str, worked_out: list[tuple[DocumentScope, Outcome]]) -> None:
    """A memory: where it cannot be written, or another process was faster, it is worked out again."""
    valid = keys(target, PinnedScope(tuple(document for document, _ in worked_out)))
    for part in chunks(worked_out, _AT_ONCE):
        rows = [Forecast(target=target, key=valid[one.doc_id], **one._asdict()) for _, one in part]
        with suppress(DatabaseError), transaction.atomic(using=WEBCRAWL):
            Forecast.objects.filter(target=target, doc_id__in=[one.doc_id for _, one in part]).delete()
            Forecast.objects.bulk_create(rows)
