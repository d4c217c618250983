"""What a run that ended is remembered by: what changed since the run before, and what was found wrong."""

from dataclasses import dataclass

from ..models import OPEN_STATES, Excursion, Run
from .changes import KEPT
from .counts import Docs, Totals, excursions_of
from .findings import needing, undiagnosed_of
from .sites import new_pages


@dataclass(frozen=True, slots=True)
class Aftermath:
    since: int | None = None  # the run before, over any of the same documents
    changed: int = 0  # pages
    findings: int = 0  # still open, and worth a decision
    looking: bool = False  # documents are still looked through: their number may grow


def aftermath_of(run: Run, docs: Docs, sums: Totals) -> Aftermath:
    if run.state in OPEN_STATES:
        return Aftermath()
    doc_ids = excursions_of(run, docs).values("doc_id")
    before = Excursion.objects.filter(doc_id__in=doc_ids, run__lt=run.pk, state__in=KEPT, part="")
    since = before.order_by("-run_id").values_list("run_id", flat=True).first()
    changed = sums.crawled - new_pages(run, docs) if since is not None and sums.crawled else 0
    return Aftermath(since, changed, needing(run.pk, docs).count(), undiagnosed_of(run.pk, docs) > 0)
