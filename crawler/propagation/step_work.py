"""Owns: what each step of a propagation does. Does not: decide the order (plan) or keep the rows (services).

Called by: services.carry_out. A step may be carried out again after a kill: every one ends in the same rows.
"""

from collections.abc import Callable
from dataclasses import dataclass, field
from typing import Any

from django.db import DatabaseError

from clearinghouse.database.aliases import TARGETS, let_go
from clearinghouse.web.plurals import plural
from crawler.errors import NeedsDecision
from crawler.models import Propagation, PropagationStep

from ..word_index import page_counts as word_counts
from . import forecast, plan, runs_to_propagate
from .generations import oldest_kept
from .loading import late_flush, load, verify
from .loading.collect import Collector
from .loading.differences import differences
from .loading.packed_pages import Pages
from .pinned_scope import PinnedScope
from .propagation_claim import Beat
from .step_failures import Differs, NotFollowed, NotSafe
from .switching import rollback, switch

_BIGGEST = 50  # documents listed in the plan's counts
_NOTED = 500  # runs, the newest


@dataclass(slots=True)
class StepWork:
    """One propagation in the hands of one process."""

    propagation: Propagation
    beat: Beat
    collector: Collector
    scope: PinnedScope = field(default_factory=lambda: PinnedScope(()))

    @property
    def generation(self) -> int:
        return self.propagation.generation


def make_plan(work: StepWork, step: PropagationStep) -> None:
    """Pins the scope, measures what each target lacks, and asks before a document loses too much."""
    accepted = set(work.propagation.accepted_losses)
    losses: dict[int, dict[str, Any]] = {}
    totals: dict[str, Any] = {}
    listed: dict[str, list[dict[str, Any]]] = {}
    for target in work.propagation.targets:
        try:
            total, rows = forecast.measured(target, work.scope, work.collector, work.beat, write=True)
        except DatabaseError:
            totals[target] = None  # it is down; the steps before it go on
            continue
        totals[target] = total
        losses |= {row["doc_id"]: row for row in rows if row["asks"] and row["doc_id"] not in accepted}
        listed[target] = rows[:_BIGGEST]
    step.counts["documents"] = listed.get(plan.shown_target(listed), [])
    step.counts |= {"scope": work.scope.to_json(), "targets": totals, "losses": list(losses.values())}
    step.counts["runs"] = runs_to_propagate.runs_of(work.scope)[-_NOTED:]
    if losses:
        raise NeedsDecision(loss_sentence(list(losses.values())), list(losses.values()))


def loss_sentence(losses: list[dict[str, Any]]) -> str:
    worst = max(losses, key=lambda row: row["removed"])
    more = f" and {plural(len(losses) - 1, 'more document loses,more documents lose')} much" if len(losses) > 1 else ""
    accept = " ".join(f"--accept-loss {row['doc_id']}" for row in losses)
    lost = f"{worst['removed']} of {plural(worst['live'], 'page')}"
    return f"{worst['title']} would lose {lost}{more}. To go on, accept it: {accept}"


def load_target(work: StepWork, step: PropagationStep) -> None:
    """The new generation beside the live one."""
    alias, generation = TARGETS[step.target], work.generation
    rollback.finish([step.target])  # what was taken back must not be what is loaded beside
    _safe(step.target, alias, generation)
    step.counts = {"from": load.live(alias), "added": 0, "changed": 0, "removed": 0, "pages": 0, "done": 0}
    planned = _plan_of(work.propagation).counts.get("targets", {}).get(step.target)
    step.counts["of"] = planned["added"] + planned["changed"] + planned["removed"] if planned else 0
    work.beat.now()
    word_counts.follow(alias, work.beat)  # while the generations it may have to go back from are whole
    load.begin(alias)
    if _step_of(work.propagation, plan.VERIFY, step.target).counts.get("attempts"):
        load.distrust(alias, work.beat)
    with late_flush.together(alias):
        _load(work, step, alias)


def _load(work: StepWork, step: PropagationStep, alias: str) -> None:
    names: dict[int, tuple[str, str]] = {}
    for difference in differences(step.target, work.scope, work.collector, work.beat):
        change = difference.change
        if work.propagation.full:
            rows = load.held(alias, change.doc_id, step.counts["from"])
            load.rewrite(alias, difference.pages, rows, work.beat)
        load.apply(alias, work.generation, change, difference.pages, work.beat)
        if change.after:
            names[change.doc_id] = (difference.scope.title, difference.scope.project)
        _add_up(step, change)
    load.name_documents(alias, work.generation, names)


def _add_up(step: PropagationStep, change: plan.Change) -> None:
    for name in ("added", "changed", "removed"):
        step.counts[name] += getattr(change, name)
        step.counts["done"] += getattr(change, name)
    step.counts["pages"] += change.after


def _safe(target: str, alias: str, generation: int) -> None:
    if target == plan.BACKUP and not switch.is_home():
        raise NotSafe("backup is not loaded while it serves the public; primary must answer first")
    if load.live(alias) >= generation:
        raise NotSafe(f"{target} already shows generation {load.live(alias)}")


def index_target(work: StepWork, step: PropagationStep) -> None:
    with late_flush.together(TARGETS[step.target]):
        step.counts = {"indexed": load.index(TARGETS[step.target], work.generation, work.beat)}


def verify_target(work: StepWork, step: PropagationStep) -> None:
    alias, generation = TARGETS[step.target], work.generation
    pages = compared = 0
    for document in work.scope.documents:
        if not document.on(step.target):
            continue
        public = document.public or step.target == plan.DEVELOPMENT
        wanted = work.collector.pages(document, step.target) if public else Pages()
        pages += verify.document(alias, generation, document, wanted)
        compared += verify.copies(alias, generation, document.doc_id, wanted, work.beat)
        work.beat()
    counted = load.count(alias, generation)
    loaded = _step_of(work.propagation, plan.LOAD, step.target).counts["pages"]
    if counted != loaded:
        there = plural(counted, "page is,pages are")
        raise Differs(f"published_interval: {there} in generation {generation}, {loaded} were loaded")
    verify.indexed(alias, generation)
    queries = verify.sample_queries(alias, generation)
    step.counts = {"pages": counted, "compared": compared, "checked": pages, "queries": queries}


def switch_target(work: StepWork, step: PropagationStep) -> None:
    work.beat.now()  # the fence, just before readers see it
    before = forecast.keys(step.target, work.scope)
    switch.show(TARGETS[step.target], work.generation)
    forecast.published(step.target, work.scope, before)
    step.counts = {"generation": work.generation}


def public_to_backup(work: StepWork, step: PropagationStep) -> None:
    reason = switch.public_to_backup(work.generation, work.beat)
    step.counts = {"skipped": reason} if reason else {}


def public_home(work: StepWork, step: PropagationStep) -> None:
    if not switch.home():
        raise NotSafe("primary does not answer; the public stays on backup until it does")
    if trouble := switch.follow(work.beat):
        raise NotFollowed(f"The load balancer did not move the public back to primary: {trouble}. It is called again.")


def finish(work: StepWork, step: PropagationStep) -> None:
    """The lexicon follows the new generation; contents older than the two generations kept for a rollback go."""
    kept: dict[str, int] = {}
    for target in work.propagation.targets:
        oldest = oldest_kept(target, work.generation)
        kept[target] = oldest
        # Written first: a generation that is being purged is no longer offered for a rollback.
        step.counts = {"oldest": dict(kept)}
        work.beat.now()
        word_counts.follow(TARGETS[target], work.beat)
        if oldest:
            load.purge(TARGETS[target], oldest, work.beat)
        let_go(TARGETS[target])


def _plan_of(propagation: Propagation) -> PropagationStep:
    return propagation.steps.get(name=plan.PLAN)


def _step_of(propagation: Propagation, name: str, target: str) -> PropagationStep:
    return propagation.steps.get(name=name, target=target)


CARRIED_OUT: dict[str, Callable[[StepWork, PropagationStep], None]] = {
    plan.PLAN: make_plan,
    plan.LOAD: load_target,
    plan.INDEX: index_target,
    plan.VERIFY: verify_target,
    plan.SWITCH: switch_target,
    plan.PUBLIC_TO_BACKUP: public_to_backup,
    plan.PUBLIC_HOME: public_home,
    plan.FINISH: finish,
}
