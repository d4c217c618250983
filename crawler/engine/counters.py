"""Owns: the counters of one excursion, kept in memory by the instance that serves it and written with every commit.

found = queued + crawled + unchanged + redirected + skipped + failed holds after each method. Called by: results.
"""

from collections import Counter
from typing import Any

from ..models import Excursion
from ..values import LEFT_BEHIND, OUTCOMES, QUEUED, SKIPPED


class ExcursionCounters:
    def __init__(self, excursion: Excursion) -> None:
        self.outcomes = Counter({outcome: getattr(excursion, outcome) for outcome in OUTCOMES})
        self.bytes = excursion.bytes
        kept: dict[str, Any] = excursion.tallies
        self.reasons = Counter(kept.get("reason", {}))
        self.status = Counter(kept.get("status", {}))
        self.types = Counter(kept.get("type", {}))
        self.done = Counter({depth: pair[0] for depth, pair in kept.get("depth", {}).items()})
        self.waiting = Counter({depth: pair[1] for depth, pair in kept.get("depth", {}).items()})
        self.left = Counter(kept.get("left", {}))  # of those that are done: judged only because the run ended early
        self.slow_down: int = kept.get("slow_down", 0)  # answers 429 and 503, also those that were asked again
        self.points: dict[str, dict[str, int]] = kept.get("point", {})

    def found(self, depth: int) -> None:
        self.outcomes[QUEUED] += 1
        self.waiting[str(depth)] += 1

    def moved(self, before: int, after: int, done: bool) -> None:
        """A nearer way was found, after its verdict or before."""
        counter = self.done if done else self.waiting
        counter[str(before)] -= 1
        counter[str(after)] += 1

    def skipped(self, reason: str, count: int = 1) -> None:
        self.outcomes[SKIPPED] += count
        self.reasons[reason] += count

    def verdict(self, outcome: str, reason: str, depth: int) -> None:
        """A message got its verdict."""
        self.outcomes[QUEUED] -= 1
        self.waiting[str(depth)] -= 1
        self.done[str(depth)] += 1
        if reason in LEFT_BEHIND:
            self.left[str(depth)] += 1
        self.judged(outcome, reason)

    def reopened(self, reason: str, depth: int) -> None:
        """A skipped URL is queued after all."""
        self.judged(SKIPPED, reason, -1)
        self.outcomes[QUEUED] += 1
        self.done[str(depth)] -= 1
        self.waiting[str(depth)] += 1

    def judged(self, outcome: str, reason: str, count: int = 1) -> None:
        self.outcomes[outcome] += count
        if reason:
            self.reasons[reason] += count

    def answered(self, status: int, size: int, type_id: int) -> None:
        if status:
            self.status[str(status)] += 1
        if type_id:
            self.types[str(type_id)] += 1
        self.bytes += size

    def of_point(self, point_id: int, what: str, count: int = 1) -> None:
        row = self.points.setdefault(str(point_id), {})
        row[what] = row.get(what, 0) + count

    def columns(self) -> dict[str, Any]:
        depths = sorted({*self.done, *self.waiting}, key=int)
        tallies: dict[str, Any] = {
            "reason": _positive(self.reasons),
            "status": _positive(self.status),
            "type": _positive(self.types),
            "depth": {d: [self.done[d], self.waiting[d]] for d in depths if self.done[d] or self.waiting[d]},
            "point": self.points,
        }
        if self.left:
            tallies["left"] = _positive(self.left)
        if self.slow_down:
            tallies["slow_down"] = self.slow_down
        outcomes = {outcome: self.outcomes[outcome] for outcome in OUTCOMES}
        return {**outcomes, "found": sum(outcomes.values()), "bytes": self.bytes, "tallies": tallies}


def _positive(counter: Counter[str]) -> dict[str, int]:
    return {key: count for key, count in counter.items() if count > 0}
