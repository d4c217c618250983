"""Owns: a propagation as people see it: the ten steps of the board, who serves the public, the three targets.

Does not: change anything. Called by: propagation.py (views).
"""

from dataclasses import dataclass, field
from datetime import datetime
from typing import Any

from django.db import DatabaseError

from clearinghouse.database.aliases import TARGETS
from clearinghouse.library.models import Sheet
from clearinghouse.published.models import LiveGeneration
from clearinghouse.search import backends
from crawler.models import Propagation, PropagationStep

from .. import generations, plan
from ..loading import load
from ..services import DONE, FAILED, SKIPPED, WORKING
from ..switching import switch

NAMES = {
    "development": "Content development",
    "primary": "Primary production",
    "backup": "Backup production",
}
CHANGES = ("added", "changed", "removed")
_CHECKED = (plan.INDEX, plan.VERIFY, plan.SWITCH)
_DOING = {plan.LOAD: "Loading", plan.INDEX: "Indexing", plan.VERIFY: "Checking", plan.SWITCH: "Switching to"}
# Number, label, lane, target, the steps it stands for.
_BOARD = (
    ("Load", "l1", "development", (plan.LOAD,)),
    ("Index", "l1", "development", _CHECKED),
    ("Public search to backup", "switch", "", (plan.PUBLIC_TO_BACKUP,)),
    ("Load", "l2", "primary", (plan.LOAD,)),
    ("Index", "l2", "primary", (plan.INDEX,)),
    ("Check 5 sample queries", "l2", "primary", (plan.VERIFY, plan.SWITCH)),
    ("Public search back to primary", "switch", "", (plan.PUBLIC_HOME,)),
    ("Load", "l3", "backup", (plan.LOAD,)),
    ("Index", "l3", "backup", _CHECKED),
    ("Finish", "l3", "", (plan.PLAN, plan.FINISH)),
)
_WORDS = {
    DONE: ("done", "ok", "Done"), WORKING: ("now", "run", "Working"), FAILED: ("now", "stop", "Failed"),
    SKIPPED: ("next", "skip", "Left out"), "waiting": ("next", "wait", "Waiting"),
}  # fmt: skip


@dataclass(slots=True)
class BoardStep:
    number: int
    label: str
    lane: str
    where: str
    state: str
    kind: str  # done, now, next: the look
    icon: str
    word: str
    started_at: datetime | None = None
    finished_at: datetime | None = None
    facts: list[str] = field(default_factory=list)
    done: int = 0
    of: int = 0

    @property
    def place(self) -> str:
        return f"Step {self.number} of {len(_BOARD)}"

    @property
    def took(self) -> float:
        begun, ended = self.started_at, self.finished_at
        return (ended - begun).total_seconds() if begun and ended else 0.0


def board(row: Propagation) -> list[BoardStep]:
    """The ten steps; what this propagation has none of is left out."""
    steps = list(row.steps.exclude(name=plan.PLAN))
    # The plan is made before the first step and shown only when it failed; its pinned scope is large.
    steps += row.steps.filter(name=plan.PLAN, state=FAILED).defer("counts")
    return [_board_step(number, entry, steps) for number, entry in enumerate(_BOARD, 1)]


def _board_step(number: int, entry: tuple[Any, ...], steps: list[PropagationStep]) -> BoardStep:
    label, lane, target, names = entry
    mine = [step for step in steps if step.name in names and step.target == target]
    state = _state(mine)
    kind, icon, word = _WORDS[state]
    found = BoardStep(number, label, lane, NAMES.get(target, ""), state, kind, icon, word)
    found.started_at = next((step.started_at for step in mine if step.started_at), None)
    found.finished_at = mine[-1].finished_at if mine and state in (DONE, FAILED) else None
    found.facts = [fact for step in mine for fact in _facts(step)]
    if state == WORKING and mine[0].name == plan.LOAD:
        found.done, found.of = mine[0].counts.get("done", 0), mine[0].counts.get("of", 0)
    return found


def _state(steps: list[PropagationStep]) -> str:
    states = [step.state for step in steps]
    if not states or all(state == SKIPPED for state in states):
        return SKIPPED
    for state in (FAILED, WORKING):
        if state in states:
            return state
    if all(state == DONE for state in states):
        return DONE
    return WORKING if DONE in states else "waiting"


def _facts(step: PropagationStep) -> list[str]:
    if step.name == plan.PLAN:
        return []
    counts = step.counts
    if step.name == plan.LOAD and step.state == DONE:
        return [f"{counts.get('pages', 0):,} pages"]
    if step.name == plan.INDEX and step.state == DONE:
        return [f"{counts.get('indexed', 0):,} indexed"]
    if step.name == plan.VERIFY and step.state == DONE:
        asked = counts.get("queries", 0)
        return [f"{asked}/{asked} queries"]
    if counts.get("skipped"):
        return [str(counts["skipped"])]
    return []


def step_now(steps: list[BoardStep]) -> BoardStep | None:
    """The step that is at work, or that failed."""
    return next((step for step in steps if step.kind == "now"), None)


def seconds_left(steps: list[BoardStep]) -> float:
    """As long as content development took for each server that is still to come; 0 while nobody can tell."""
    first, second = steps[0], steps[1]
    if not (first.started_at and second.finished_at):
        return 0.0
    each = (second.finished_at - first.started_at).total_seconds()
    unfinished = sum(steps[number - 1].state not in (DONE, SKIPPED) for number in (4, 5, 6, 8, 9))
    return each * unfinished / 2.5 if unfinished and each > 1 else 0.0


def bands(row: Propagation, steps: list[BoardStep], shown: dict[str, int]) -> list[dict[str, str]]:
    """Who answers the public beside which steps: past, now, planned. `shown` is what each target shows now."""
    to_backup, home = steps[2], steps[6]
    serving = switch.switch().serving
    before = generations.before("primary", row.generation) or ""
    found: list[dict[str, str]] = []
    if steps[1].state == DONE:
        told = ", ".join([*steps[0].facts, *steps[1].facts])
        found.append(_band("ready", "l1 s3-10", "tick", f"Generation {row.generation} is ready here: {told}"))
    if to_backup.state == SKIPPED:
        return found
    away = to_backup.state == DONE and not to_backup.facts
    begun = to_backup.state == DONE
    found.append(_band("past" if begun else "live", "l2 s1-2", "globe", f"Public: {before}" if before else "Public"))
    if away:
        here = serving == "backup" and home.state != DONE
        found.append(
            _band(
                "live" if here else "past",
                "l3 s4-6",
                "globe",
                f"Public now: generation {shown['backup']}" if here else "Public",
            )
        )
    if home.state == DONE and (shown["primary"] != row.generation or serving != "primary"):
        found.append(_band("past", "l2 s8-10", "globe", f"Public then: generation {row.generation}"))
    elif home.state == DONE:
        found.append(_band("live", "l2 s8-10", "globe", f"Public now: generation {row.generation}"))
    else:
        found.append(_band("plan", "l2 s8-10", "globe", f"Public then: generation {row.generation}"))
    return found


def _band(kind: str, where: str, icon: str, text: str) -> dict[str, str]:
    return {"classes": f"{kind} {where}", "icon": icon, "text": text}


@dataclass(slots=True)
class TargetRow:
    name: str
    label: str
    reachable: bool
    serving: bool
    generation: int = 0
    pages: int = 0
    switched_at: datetime | None = None
    back_to: int = 0
    forward_to: int = 0
    indexed: bool = True
    loading: str = ""  # what is done with a generation beside the live one
    not_public: int = 0  # pages of documents that are not public: no other server has them

    @property
    def full_text(self) -> str:
        return self.loading or "Ready"


def moved_at() -> datetime | None:
    """Since when the public is away from primary."""
    row = switch.switch()
    return None if row.serving == switch.HOME else row.changed_at


def trouble() -> str:
    """Why the load balancer does not follow the switch, while it does not."""
    row = switch.switch()
    return "" if switch.followed(row) else row.trouble


def targets() -> list[TargetRow]:
    """The three servers in the order of propagation."""
    serving = switch.switch().serving
    working = {
        step.target: f"{_DOING[step.name]} {step.propagation_id} beside it"
        for step in PropagationStep.objects.filter(state=WORKING, name__in=(plan.LOAD, *_CHECKED))
    }
    return [_target(name, alias, serving, working.get(name, "")) for name, alias in TARGETS.items()]


def _target(name: str, alias: str, serving: str, loading: str) -> TargetRow:
    row = TargetRow(name, NAMES[name], True, serving == name, loading=loading)
    try:
        live = LiveGeneration.objects.using(alias).first()
        row.generation = live.generation if live else 0
        row.switched_at = live.switched_at if live else None
        row.pages = load.count(alias, row.generation)
        row.not_public = not_public(alias, row.generation) if name == plan.DEVELOPMENT else 0
        row.indexed = backends.backend(alias).exists()
        row.back_to = generations.rollback_target(name)
        row.forward_to = generations.forward_target(name)
    except DatabaseError:
        row.reachable = False
    return row


def not_public(alias: str, generation: int) -> int:
    """How many pages are there of documents that are not public."""
    hidden = list(Sheet.objects.filter(public=0).order_by().values_list("document_id", flat=True))
    return sum(load.count_of(alias, generation, hidden).values())


def others(documents: list[dict[str, Any]], total: dict[str, Any]) -> dict[str, int]:
    """What the documents that are not listed change together; empty when all are listed."""
    count = total.get("documents", 0) - sum(bool(row["after"]) for row in documents)
    if count <= 0:
        return {}
    rest = {name: total.get(name, 0) - sum(row[name] for row in documents) for name in ("live", *CHANGES)}
    return rest | {"count": count, "after": total.get("pages", 0) - sum(row["after"] for row in documents)}


def difference_rows(documents: list[dict[str, Any]]) -> list[dict[str, Any]]:
    """Documents with the parts of a bar around an axis: removed to the left, added and changed to the right."""
    largest = max((max(row["removed"], row["added"] + row["changed"]) for row in documents), default=0) or 1
    axis = 16.7
    right = (100 - axis) / largest
    found = []
    for row in documents:
        removed = min(axis, row["removed"] * right)
        added, changed = row["added"] * right, row["changed"] * right
        found.append(
            row
            | {
                "axis": f"{axis}%",
                "bars": [
                    ("k-err", f"{axis - removed:.1f}%", f"{removed:.1f}%"),
                    ("k-ok", f"{axis}%", f"{added:.1f}%"),
                    ("k-off", f"{axis + added:.1f}%", f"{changed:.1f}%"),
                ],
                "loses": f"loses {100 * row['removed'] // row['live']}%" if row["live"] else "",
            }
        )
    return found
