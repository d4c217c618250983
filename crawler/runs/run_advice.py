"""What is advised about a run that ended: what its findings say, and what the next propagation would do to its
documents. Both count, so that nobody reads "Propagate" where the propagation asks whether it may.

Called by: the screens, the API.
"""

from collections.abc import Collection
from dataclasses import dataclass, field, replace

from django.core.cache import cache
from django.db.models import Max

from clearinghouse.audit.models import Entry

from ..findings.queries import advice_of, advised_to_propagate
from ..models import OPEN_STATES, Advice, Forecast, Propagation, Run
from ..propagation.forecast import Outlook, outlook
from ..propagation.states import unfinished
from .run_counts import Docs, excursions_of, scope_key

AT_ONCE = 1_000  # pages of a single document that are compared while somebody waits for a page
_MANY = 500
_REMEMBERED = 60  # seconds: of very many documents its viewers share it


@dataclass(frozen=True, slots=True)
class Advised:
    counts: dict[str, int] = field(default_factory=dict)  # advice: documents
    outlook: Outlook = field(default_factory=Outlook)
    looking: int = 0  # documents whose findings are still to come
    accepted_in: Propagation | None = None  # at work, and told to remove what it removes of these documents


def advised(run: Run, docs: Docs) -> Advised:
    """Of documents that are still to be worked out nothing good is said yet."""
    counts, looking = advice_of(run.pk, docs), excursions_of(run, docs).filter(diagnosis=None).count()
    if run.state in OPEN_STATES or not counts.keys() & {Advice.PROPAGATE, Advice.REVIEW}:
        return Advised(counts, looking=looking)
    found, accepted_in = _without_accepted(run, _outlook(run, docs))
    if asking := _propagated(run, found.asking.keys() - found.unknown):
        counts[Advice.REVIEW] = counts.get(Advice.REVIEW, 0) + asking
        counts[Advice.PROPAGATE] -= asking
    if unknown := _propagated(run, found.unknown):
        counts[Advice.PROPAGATE] -= unknown
    return Advised({advice: count for advice, count in counts.items() if count}, found, looking, accepted_in)


def _without_accepted(run: Run, found: Outlook) -> tuple[Outlook, Propagation | None]:
    """Losses that a propagation at work was told to make; what ended after it was asked for is another question."""
    row = unfinished()
    if row is None or run.finished_at is None or run.finished_at > row.created_at:
        return found, None
    accepted = found.asking.keys() & set(row.accepted_losses)
    return replace(found, accepted=frozenset(accepted)), row if accepted else None


def _propagated(run: Run, doc_ids: Collection[int]) -> int:
    """Of these documents, how many have findings that speak for propagating them."""
    return len(advised_to_propagate(run.pk) & set(doc_ids)) if doc_ids else 0


def _outlook(run: Run, docs: Docs) -> Outlook:
    rows = excursions_of(run, docs).filter(left_out_at=None, diagnosis__isnull=False)
    doc_ids = list(rows.values_list("doc_id", flat=True))
    if len(doc_ids) <= _MANY:
        return outlook(doc_ids, at_once=AT_ONCE if len(doc_ids) == 1 else 0)
    key = f"outlook:{run.pk}:{run.created_at:%s}:{scope_key(docs)}"
    stamp = _stamp()
    known: tuple[object, Outlook] | None = cache.get(key)
    if known is None or known[0] != stamp:
        known = stamp, outlook(doc_ids).shortened
        cache.set(key, known, _REMEMBERED)
    return known[1]


def _stamp() -> tuple[object, ...]:
    """Another one after whatever somebody did here; what crawls and other programs do is noticed within a minute."""
    done = Entry.objects.aggregate(last=Max("id"))["last"]
    worked_out = Forecast.objects.aggregate(last=Max("id"))["last"]
    return done, worked_out, Propagation.objects.order_by("-id").values_list("id", "state").first()
