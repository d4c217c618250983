"""Owns: what a target lacks of a generation, document by document: the only comparison of what should be shown with
what is. Does not: decide which pages these are (collect), write.

Called by: forecast (in numbers), work (to load it).
"""

from collections.abc import Callable, Iterator
from dataclasses import dataclass

from clearinghouse.database.aliases import TARGETS

from .. import plan
from ..pinned_scope import DocumentScope, PinnedScope
from . import load
from .collect import Collector
from .packed_pages import Pages


@dataclass(frozen=True, slots=True)
class DocumentDifference:
    """What one document would change on one target."""

    scope: DocumentScope
    change: plan.Change
    pages: Pages
    untouched: bool = False  # never crawled by us: it stays as it is


def differences(
    target: str, scope: PinnedScope, collector: Collector, beat: Callable[[], None] = lambda: None
) -> Iterator[DocumentDifference]:
    """What this target lacks, document by document, compared with what it shows now."""
    shown = load.live(TARGETS[target])
    for document in concerned(target, scope, shown):
        yield difference(target, document, shown, collector)
        beat()


def concerned(target: str, scope: PinnedScope, shown: int) -> Iterator[DocumentScope]:
    """The documents there is something to compare of; those that were deleted have nothing that should be shown."""
    there = load.documents(TARGETS[target], shown)
    known = {document.doc_id for document in scope.documents}
    for document in scope.documents:
        if document.doc_id in there or document.on(target):
            yield document
    for doc_id in sorted(there - known):
        yield DocumentScope(doc_id, f"Document {doc_id}", "", True, (), (), (), (), deleted=True)


def difference(target: str, document: DocumentScope, shown: int, collector: Collector) -> DocumentDifference:
    """Of one document: the only place that compares what should be shown with what is."""
    rows = load.held(TARGETS[target], document.doc_id, shown)
    if document.deleted:
        return DocumentDifference(document, plan.change(document.doc_id, {}, rows), Pages())
    if not document.public and target != plan.DEVELOPMENT:
        return DocumentDifference(document, plan.change(document.doc_id, {}, rows), Pages())
    if not document.on(target):
        rows = list(rows)
        same = {row.url_key: plan.Wanted(row.published_id, row.digest) for row in rows}
        return DocumentDifference(document, plan.change(document.doc_id, same, rows), Pages(), untouched=True)
    change = plan.change(document.doc_id, collector.wanted(document, target), rows)
    return DocumentDifference(document, change, collector.pages(document, target))
