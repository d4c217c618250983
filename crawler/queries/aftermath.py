"""What a run that ended is remembered by: what changed since the run before, and what was found wrong."""

from dataclasses import dataclass

from ..models import OPEN_STATES, Excursion, Finding, Run
from .changes import KEPT
from .counts import Docs, Totals, excursions_of
from .findings import counts_of
from .ledger import CHANGED, Filter, rows_of

_COUNTED = 50_000


@dataclass(frozen=True, slots=True)
class Aftermath:
    since: int | None = None  # the run before, over any of the same documents
    changed: int | None = None  # pages; None when counting them would take long
    findings: int = 0  # still open


def aftermath_of(run: Run, docs: Docs, sums: Totals) -> Aftermath:
    if run.state in OPEN_STATES:
        return Aftermath()
    doc_ids = excursions_of(run, docs).values("doc_id")
    before = Excursion.objects.filter(doc_id__in=doc_ids, run__lt=run.pk, state__in=KEPT).order_by("-run_id")
    since = before.values_list("run_id", flat=True).first()
    changed = None
    if since is not None and sums.crawled <= _COUNTED:
        changed = rows_of(run, docs, Filter(fresh=CHANGED)).count() if sums.crawled else 0
    return Aftermath(since, changed, counts_of(run.pk, docs)[Finding.State.OPEN.value])
