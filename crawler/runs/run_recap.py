"""What a run that ended is remembered by: what changed since the crawls before, and what was found wrong."""

from collections import Counter
from dataclasses import dataclass, field

from ..findings.queries import needing, undiagnosed_of
from ..models import OPEN_STATES, Run, State
from .run_counts import Docs, Tallies


@dataclass(frozen=True, slots=True)
class Aftermath:
    since: int = 0  # the run of the crawl before, of several documents the newest; 0: there was none
    changes: Counter[str] = field(default_factory=Counter)  # pages, as they were counted when the crawls ended
    findings: int = 0  # still open, and worth a decision
    looking: bool = False  # documents are still looked through: their number may grow


def aftermath_of(run: Run, docs: Docs, divided: Tallies) -> Aftermath:
    if run.state in OPEN_STATES:
        return Aftermath()
    counted = State(run.state) != State.CANCELLED
    changes = divided.changes if counted else Counter[str]()
    since = divided.since if counted else 0
    return Aftermath(since, changes, needing(run.pk, docs).count(), undiagnosed_of(run.pk, docs) > 0)
