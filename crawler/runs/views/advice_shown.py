"""What to do about a run that ended: the findings as this person sees them, the recommendation in its head."""

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from django.core.cache import cache

from clearinghouse.accounts.policies import Action, doc_ids_for, may
from clearinghouse.library.models import Document
from clearinghouse.operations.work_queues import Job, wake
from crawler.findings import finding_links
from crawler.findings.queries import findings_of
from crawler.models import OPEN_STATES, Advice, Finding, Run

from ..run_advice import Advised
from ..run_counts import Docs

FIRST = 3  # findings on the first tab
_AGAIN = 30  # seconds
_WORST_FIRST = (Advice.AGAIN, Advice.REVIEW, Advice.PROPAGATE)


@dataclass(frozen=True, slots=True)
class Recommendation:
    """The worst of what is advised for the documents of a run, and for how many of them."""

    label: str
    kind: str
    symbol: str
    documents: int


def recommendation_of(run: Run, found: Advised) -> Recommendation | None:
    """None while it goes on, and until all of its documents were looked through: the last may advise otherwise;
    "Propagate" is said when it is also known what a propagation would do to each."""
    worst = next((one for one in _WORST_FIRST if one in found.counts), None)
    unknown = worst == Advice.PROPAGATE and found.outlook.unknown
    if run.state in OPEN_STATES or worst is None or found.looking or unknown:
        return None
    kind, symbol, _ = finding_links.ADVICE_WORDS[worst]
    return Recommendation(worst.label, kind, symbol, found.counts[worst])


def loss_of(found: Advised) -> dict[str, Any] | None:
    """The document that would lose most with the next propagation, where that asks first; and how many others do."""
    asking = found.outlook.asking
    if not asking:
        return None
    worst = max(asking.values(), key=lambda one: one.removed)
    title = found.outlook.titles.get(worst.doc_id, "")
    return {"one": worst, "title": title, "share": 100 * worst.removed // worst.live, "others": len(asking) - 1}


def ask_for(found: Advised) -> None:
    """Lets a worker find out what is not known; asked once in a while."""
    if found.outlook.unknown and cache.add("forecast-asked-for", 1, _AGAIN):
        wake(Job.FORECAST)


def first_findings(user: Any, run: Run, docs: Docs) -> list[finding_links.FindingShown]:
    """The heaviest that nobody decided about."""
    return shown_to(user, list(findings_of(run.pk, docs, Finding.State.OPEN)[:FIRST]))


def shown_to(user: Any, found: list[Finding]) -> list[finding_links.FindingShown]:
    return finding_links.shown(found, _editable(user, found), may(user, Action.LAUNCH)) if found else []


def _editable(user: Any, findings: Iterable[Finding]) -> dict[int, bool]:
    """Which of the documents of these findings the person may change; one query at most."""
    allowed = doc_ids_for(user, Action.EDIT)
    live = set(Document.objects.filter(pk__in={one.doc_id for one in findings}).values_list("pk", flat=True))
    return {doc_id: allowed is None or doc_id in allowed for doc_id in live}
