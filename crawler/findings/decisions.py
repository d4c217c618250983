"""What people do about a finding: accept it, call it solved, open it again, or let one press repair it.

Repairs go through the services of crawl points, as the dialog does. Does not: ask who may. Called by: screens.
"""

from collections.abc import Collection, Mapping
from typing import Any

from django.db.models import QuerySet
from django.utils import timezone

from clearinghouse.database.records import acting_as
from clearinghouse.library.models import Document
from clearinghouse.web.templatetags.formats import plural
from crawlpoints import bulk_changes, services
from crawlpoints.bulk_changes import Changed
from crawlpoints.queries import patterns_of, points_of

from ..bulk_sql import chunks
from ..errors import WrongMoment
from ..launching.audited_change import record, together
from ..models import ErrorGroup, ErrorMark, Finding
from ..reasons import reason_of
from .types import Fix


@together()
def decide(finding: Finding, state: str, by: str, note: str = "") -> None:
    """Open again forgets who decided; every decision is in the audit."""
    before = finding.state
    decided = state != Finding.State.OPEN
    finding.state, finding.note = state, note[:500]
    finding.decided_by = by if decided else ""
    finding.decided_at = timezone.now() if decided else None
    finding.save(update_fields=["state", "note", "decided_by", "decided_at"])
    word = Finding.State(state).label.lower()
    record(
        "decide", finding, f"Finding of run {finding.run_id} {word}: {finding.sentence}", document_id=finding.doc_id,
        before={"state": before}, after={"state": state, "note": finding.note},
    )  # fmt: skip


def accept_drops(crawls: Collection[int], by: str, note: str) -> None:
    """That these crawls found fewer pages is as it should be."""
    rows = Finding.objects.filter(rule="drop", state=Finding.State.OPEN)
    with acting_as(by):
        for part in chunks(sorted(crawls)):
            for finding in rows.filter(excursion__in=part):
                decide(finding, Finding.State.ACCEPTED, by, note)


def repair(finding: Finding, number: int, document: Document, by: str) -> tuple[str, Changed]:
    """Carries out an offered fix and calls the finding solved; what was done, in words and for its Undo.
    Raises Invalid, WrongMoment.

    These are two databases. The fix comes first, and may be there already: whoever is told that the second part failed
    presses again.
    """
    fixes = [Fix.from_json(one) for one in finding.fixes]
    if not 0 <= number < len(fixes) or not fixes[number].presses:
        raise WrongMoment("This finding offers no such repair")
    done, changed = _carry_out(fixes[number], document)
    decide(finding, Finding.State.SOLVED, by, done)
    return done, changed


def _carry_out(fix: Fix, document: Document) -> tuple[str, Changed]:
    if fix.exclude:
        known = fix.exclude in patterns_of(document)
        added = [] if known else [services.add_exclude_url(document, fix.exclude).pk]
        return f"Added the exclude URL {fix.exclude}", Changed(excludes=added)
    point = points_of(document).filter(pk=fix.point_id).first()
    if point is None:
        raise WrongMoment("The crawl point was deleted meanwhile")
    changed = bulk_changes.set_values([point], fix.change)
    if set(fix.change) == {"active"}:
        return f"Deactivated the crawl point {point.url}", changed
    return f"{_WORDS.get(next(iter(fix.change)), 'Changed')} ({_values(fix.change)}): {point.url}", changed


_WORDS = {"max_pages": "Changed maximum pages", "depth": "Changed depth limit", "url": "Changed the address"}


def _values(change: Mapping[str, Any]) -> str:
    return ", ".join(f"{value:,}" if isinstance(value, int) else str(value) for value in change.values())


@together()
def mark_errors(keys: set[bytes], doc_ids: set[int], state: str, by: str) -> int:
    """Known, solved, or (empty) new again: this kind of error in these documents; how many documents have it."""
    rows = ErrorGroup.objects.filter(key__in=keys, doc_id__in=doc_ids).order_by("run_id")
    last: dict[tuple[int, bytes], int] = {}
    for doc_id, key, run_id in rows.values_list("doc_id", "key", "run_id"):
        last[doc_id, key] = run_id
    marked = ErrorMark.objects.filter(key__in=keys, doc_id__in=doc_ids)
    before = sorted(set(marked.order_by().values_list("state", flat=True)))
    if not state:
        marked.delete()
    for (doc_id, key), run_id in last.items() if state else ():
        values = {"state": state, "run_id": run_id, "by": by, "at": timezone.now()}
        ErrorMark.objects.update_or_create(doc_id=doc_id, key=key, defaults=values)
    if last:
        _record_mark(rows, {doc_id for doc_id, _ in last}, ", ".join(before), state, by)
    return len(last)


def _record_mark(rows: QuerySet[ErrorGroup], doc_ids: set[int], before: str, state: str, by: str) -> None:
    group = rows.last()
    assert group is not None  # there was one a moment ago
    only = next(iter(doc_ids)) if len(doc_ids) == 1 else None
    where = f"{group.site.rstrip('/')}{group.pattern}"
    label = reason_of(group.reason, group.status).label
    there = plural(len(doc_ids), "document")
    sentence = f"Marked the error “{label}” at {where} {state or 'new again'} in {there}"
    with acting_as(by):
        record("decide", group, sentence, document_id=only, before={"state": before}, after={"state": state or "new"})
