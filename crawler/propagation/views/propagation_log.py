"""Owns: what a propagation was made of and what it did, in words: its runs, its losses, the log of its steps.

Does not: change anything. Called by: propagation.py (views).
"""

from dataclasses import dataclass
from datetime import datetime
from typing import Any

from clearinghouse.web.templatetags.formats import plural
from crawler.models import Propagation, PropagationStep

from .. import plan

_NAMES = {
    plan.PLAN: "Plan", plan.LOAD: "Load", plan.INDEX: "Index", plan.VERIFY: "Check", plan.SWITCH: "Switch",
    plan.PUBLIC_TO_BACKUP: "Public search to backup", plan.PUBLIC_HOME: "Public search back to primary",
    plan.FINISH: "Finish",
}  # fmt: skip
_COUNTED = {
    plan.LOAD: (("pages", "page"), ("added", "added,added"), ("changed", "changed,changed"),
                ("removed", "removed,removed")),
    plan.INDEX: (("indexed", "page indexed,pages indexed"),),
    plan.VERIFY: (("checked", "page compared,pages compared"), ("compared", "read back,read back"),
                  ("queries", "sample query answered,sample queries answered")),
}  # fmt: skip


@dataclass(frozen=True, slots=True)
class StepLine:
    number: int
    name: str
    target: str
    state: str
    started_at: datetime | None
    finished_at: datetime | None
    seconds: float | None
    counted: str
    error: str


def log(row: Propagation) -> list[StepLine]:
    """Every step with its times and counts; the scope the plan has pinned is not read."""
    counts = {name for counted in _COUNTED.values() for name, _ in counted} | {"attempts", "skipped"}
    fields = ("number", "name", "target", "state", "started_at", "finished_at", "error")
    rows = row.steps.order_by("number").values(*fields, *(f"counts__{name}" for name in sorted(counts)))
    return [_line(step) for step in rows]


def _line(step: dict[str, Any]) -> StepLine:
    begun, ended = step["started_at"], step["finished_at"]
    words = [
        plural(step[f"counts__{name}"], noun)
        for name, noun in _COUNTED.get(step["name"], ())
        if step[f"counts__{name}"] is not None
    ]
    if step["counts__skipped"]:
        words.append(step["counts__skipped"])
    if step["counts__attempts"]:
        words.append(plural(step["counts__attempts"], "failed try,failed tries"))
    return StepLine(
        number=step["number"], name=_NAMES.get(step["name"], step["name"]), target=step["target"],
        state=step["state"], started_at=begun, finished_at=ended,
        seconds=(ended - begun).total_seconds() if begun and ended else None,
        counted=", ".join(words), error=step["error"],
    )  # fmt: skip


def runs_of(row: Propagation) -> list[tuple[int, int]]:
    """The runs it was made of, as first and last of those that follow each other."""
    noted = PropagationStep.objects.filter(propagation=row, name=plan.PLAN).values_list("counts__runs", flat=True)
    found: list[tuple[int, int]] = []
    for number in noted.first() or ():
        if found and number == found[-1][1] + 1:
            found[-1] = (found[-1][0], number)
        else:
            found.append((number, number))
    return found


def accepted(row: Propagation, documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """The losses somebody confirmed by typing their number."""
    sure = set(row.accepted_losses)
    return [
        one | {"share": 100 * one["removed"] // one["live"] if one["live"] else 0}
        for one in documents
        if one["doc_id"] in sure and one["removed"]
    ]
