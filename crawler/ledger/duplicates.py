"""Lists a finding opens: pages that say the same, in groups; files that gave no text; as ledger rows, in order."""

from collections import defaultdict
from collections.abc import Iterator

from django.db.models import QuerySet

from clearinghouse.published.types import PDF

from ..bulk_sql import chunks
from ..models import Excursion, LedgerEntry, PageVersion, Run
from ..runs.run_counts import Docs, excursions_of
from .queries import PAGE_OUTCOMES

MOST = 20_000  # rows of such a list


def same_content(run: Run, docs: Docs, doc_id: int | None) -> dict[int, int]:
    """Pages whose content another page of the same document has too, each with how many share it; the largest groups
    first, each together."""
    found: dict[int, int] = {}
    for excursion in _of(run, docs, doc_id):
        groups = sorted(_by_content(excursion).values(), key=lambda group: (-len(group), group[0]))
        for group in groups:
            if len(group) > 1 and len(found) < MOST:
                found |= dict.fromkeys(group, len(group))
    return found


def without_text(run: Run, docs: Docs, doc_id: int | None) -> dict[int, int]:
    """PDF files, found or changed by this run, in which no text was found."""
    found: dict[int, int] = {}
    for excursion in _of(run, docs, doc_id):
        for part in chunks(list(unread_pdfs(excursion).values_list("id", flat=True)[:MOST])):
            rows = _stored(excursion).filter(version_id__in=part).order_by("id")
            found |= dict.fromkeys(rows.values_list("id", flat=True), 1)
    return found


def unread_pdfs(excursion: Excursion) -> QuerySet[PageVersion]:
    rows = PageVersion.objects.filter(run_id=excursion.run_id, doc_id=excursion.doc_id, type_id=PDF)
    return rows.filter(flags__contains="no_text")


def _by_content(excursion: Excursion) -> dict[bytes, list[int]]:
    """The stored pages by what they contain, in the order in which they were found."""
    versions = list(_stored(excursion).order_by("id").values_list("id", "version_id"))
    digests: dict[int, bytes] = {}
    for part in chunks([version for _, version in versions]):
        digests |= dict(PageVersion.objects.filter(id__in=part).order_by().values_list("id", "digest"))
    groups: dict[bytes, list[int]] = defaultdict(list)
    for pk, version in versions:
        if version in digests:
            groups[bytes(digests[version])].append(pk)
    return groups


def _stored(excursion: Excursion) -> QuerySet[LedgerEntry]:
    return LedgerEntry.objects.filter(excursion=excursion, outcome__in=PAGE_OUTCOMES).exclude(version_id=None)


def _of(run: Run, docs: Docs, doc_id: int | None) -> Iterator[Excursion]:
    rows = excursions_of(run, docs)
    rows = rows if doc_id is None else rows.filter(doc_id=doc_id)
    yield from rows.only("id", "run_id", "doc_id").order_by("id")
