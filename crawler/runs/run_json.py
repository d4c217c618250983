"""A run as the one JSON object that commands, and later the API, print."""

from collections import Counter
from typing import Any

from django.utils import timezone

from ..models import Excursion, Run
from ..values import FAILED, REASONS, SKIPPED

COUNTERS = ("found", "queued", "crawled", "unchanged", "redirected", "skipped", "failed", "bytes")


def run_result(run: Run) -> dict[str, Any]:
    """What the run did so far, summed over its excursions; the reasons are split by what they led to."""
    rows = Excursion.objects.filter(run=run).values(*COUNTERS, "tallies")
    sums: Counter[str] = Counter()
    reasons: Counter[str] = Counter()
    for row in rows:
        sums.update({name: row[name] for name in COUNTERS})
        reasons.update((row["tallies"] or {}).get("reason", {}))
    return {
        "run": run.pk,
        "state": run.state,
        **{name: sums[name] for name in ("found", "queued", "crawled", "unchanged", "redirected")},
        SKIPPED: by_outcome(reasons, SKIPPED),
        FAILED: by_outcome(reasons, FAILED),
        "bytes": sums["bytes"],
        "seconds": seconds_of(run),
    }


def by_outcome(reasons: Counter[str], outcome: str) -> dict[str, int]:
    """The reasons that lead to this outcome, most frequent first."""
    known = {code: n for code, n in reasons.items() if n > 0 and code in REASONS and REASONS[code].outcome == outcome}
    return dict(sorted(known.items(), key=lambda item: (-item[1], item[0])))


def seconds_of(run: Run) -> float:
    """How long the run has worked: from its start to its end, or until now."""
    if run.started_at is None:
        return 0.0
    return round(((run.finished_at or timezone.now()) - run.started_at).total_seconds(), 3)
