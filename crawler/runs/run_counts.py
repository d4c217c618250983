"""The counters of excursions, summed: what every figure of a run page shows."""

import json
from collections import Counter
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

from django.core.cache import cache
from django.db import connections
from django.db.models import Case, Count, IntegerField, Min, Q, QuerySet, Sum, Value, When
from django.db.models.fields.json import KT
from django.db.models.functions import Cast, Coalesce

from clearinghouse.database.aliases import WEBCRAWL
from clearinghouse.database.digests import digest_of

from ..models import Excursion, Run, State
from ..reasons import by_status
from ..values import FAILED, LEFT_BEHIND, SKIPPED, Reason
from .run_json import COUNTERS, by_outcome

Docs = set[int] | None  # the documents a person may see; None: all


@dataclass(frozen=True, slots=True)
class Totals:
    """Sums over the excursions of a run that a person may see. They balance: found = queued + all outcomes."""

    documents: int = 0
    found: int = 0
    queued: int = 0
    crawled: int = 0
    unchanged: int = 0
    redirected: int = 0
    skipped: int = 0
    failed: int = 0
    bytes: int = 0
    trouble: int = 0  # documents with at least one failed address
    title: str = ""  # the title of one of them, for runs of a single document
    left: int = 0  # addresses that an early end left in the queues; they are counted among the skipped, too

    @property
    def pages(self) -> int:
        return self.crawled + self.unchanged

    @property
    def done(self) -> int:
        """Addresses that were fetched, whatever the answer."""
        return self.pages + self.redirected + self.failed

    @property
    def wanted(self) -> int:
        return self.done + self.queued + self.left

    @property
    def percent(self) -> int:
        return 100 * self.done // self.wanted if self.wanted else 0


@dataclass(frozen=True, slots=True)
class Tallies:
    """How the counters divide; kept on the excursion, so that no ledger row is read."""

    reasons: Counter[str] = field(default_factory=Counter)
    depths: dict[int, tuple[int, int]] = field(default_factory=dict)  # depth: (done, waiting)
    left: Counter[int] = field(default_factory=Counter)  # by depth: what a run that ended early left in its queues
    statuses: Counter[int] = field(default_factory=Counter)  # by class: 2, 3, 4, 5
    types: Counter[int] = field(default_factory=Counter)
    codes: Counter[int] = field(default_factory=Counter)  # the exact statuses
    changes: Counter[str] = field(default_factory=Counter)  # pages that are new, changed, moved, gone …
    since: int = 0  # the run the changes are told from; of several, the newest

    def in_words(self, outcome: str) -> list[tuple[Reason, int]]:
        """What led to this outcome, most frequent first, failures divided by the status they were answered."""
        return by_status(by_outcome(self.reasons, outcome), self.codes)

    @property
    def skipped(self) -> dict[str, int]:
        return by_outcome(self.reasons, SKIPPED)

    @property
    def failed(self) -> dict[str, int]:
        return by_outcome(self.reasons, FAILED)


def scope_key(docs: Docs) -> str:
    """For keys of a cache: the same in every process, and never that of other documents."""
    return "all" if docs is None else digest_of(",".join(map(str, sorted(docs)))).hex()


def excursions_of(run: Run | int, docs: Docs = None) -> QuerySet[Excursion]:
    rows = Excursion.objects.filter(run=run)
    return rows if docs is None else rows.filter(doc_id__in=docs)


_EARLY = (State.STOPPED, State.CANCELLED, State.FINISHED_AT_LIMIT)
_MAY_LEAVE = (*_EARLY, State.STOPPING, State.FAILED)  # runs with such documents


def left_behind() -> Case:
    """For a query of excursions: how many addresses the early end of the run left in the queue of each."""
    first, *others = (Coalesce(Cast(KT(f"tallies__reason__{code}"), IntegerField()), 0) for code in LEFT_BEHIND)
    return Case(When(state__in=_EARLY, then=sum(others, first)), default=Value(0))


# The names differ from the columns: an aggregate named like a column would hide it from the next one.
_SUMS: dict[str, Any] = {f"sum_{name}": Sum(name, default=0) for name in COUNTERS} | {
    "sum_documents": Count("id"),
    "sum_trouble": Count("id", filter=Q(failed__gt=0)),
    "sum_title": Min("title"),
}


_ALL = (
    f"SELECT {', '.join(f'COALESCE(SUM({name}), 0)' for name in COUNTERS)}, COUNT(*), "  # noqa: S608
    "COALESCE(SUM(CASE WHEN failed > 0 THEN 1 ELSE 0 END), 0), MIN(title) FROM excursion WHERE run_id = %s"
)


def totals(run: Run, docs: Docs = None) -> Totals:
    """Plain SQL for who sees the whole run, like totals_by_state."""
    if run.state in _MAY_LEAVE:
        return _totals(excursions_of(run, docs).aggregate(**_SUMS, sum_left=Sum(left_behind(), default=0)))
    if docs is not None:
        return _totals(excursions_of(run, docs).aggregate(**_SUMS))
    with connections[WEBCRAWL].cursor() as cursor:
        cursor.execute(_ALL, [run.pk])
        *sums, title = cursor.fetchone()
    return _totals(dict(zip(_SUMS, [*map(int, sums), title], strict=True)))  # PostgreSQL sums up bytes as a Decimal


def totals_of_runs(runs: Iterable[Run], docs: Docs = None) -> dict[int, Totals]:
    """One query for a list of runs."""
    rows = Excursion.objects.filter(run__in=[run.pk for run in runs])
    rows = rows if docs is None else rows.filter(doc_id__in=docs)
    grouped = rows.values("run_id").annotate(**_SUMS, sum_left=Sum(left_behind(), default=0)).order_by()
    return {row["run_id"]: _totals(dict(row)) for row in grouped}


def _totals(sums: dict[str, Any]) -> Totals:
    values = {name.removeprefix("sum_"): value for name, value in sums.items() if name.startswith("sum_")}
    return Totals(**(values | {"title": values["title"] or ""}))


_MOVING = ("found", "queued", "crawled", "unchanged", "redirected", "skipped", "failed")
_BY_STATE = (
    "SELECT state, COUNT(*), SUM(found), SUM(queued), SUM(crawled), SUM(unchanged), SUM(redirected), SUM(skipped), "
    "SUM(failed) FROM excursion WHERE run_id = %s GROUP BY state"
)  # the columns in the order of _MOVING


def totals_by_state(run: Run, docs: Docs) -> dict[str, Totals]:
    """The counters that move, by the state of the documents: what every poll asks.

    Plain SQL for who sees the whole run: putting the same query together from expressions costs three times as much
    as running it, and twenty people may poll.
    """
    if docs is None:
        with connections[WEBCRAWL].cursor() as cursor:
            cursor.execute(_BY_STATE, [run.pk])
            rows = cursor.fetchall()
    else:
        sums = {f"sum_{name}": Sum(name) for name in _MOVING}
        rows = list(excursions_of(run, docs).values_list("state").annotate(n=Count("id"), **sums).order_by())
    return {row[0]: Totals(documents=row[1], **dict(zip(_MOVING, row[2:], strict=True))) for row in rows}


def tallies_of(run: Run, docs: Docs, doc_id: int | None = None) -> Iterator[tuple[int, dict[str, Any]]]:
    """Document and tallies of each excursion, in order. Plain SQL for who sees the whole run: five thousand of them
    are read for a page, and reading them through the model takes twice as long."""
    if docs is None and doc_id is None:
        with connections[WEBCRAWL].cursor() as cursor:
            cursor.execute("SELECT doc_id, tallies FROM excursion WHERE run_id = %s ORDER BY id", [run.pk])
            rows = cursor.fetchall()
        for document, stored in rows:
            yield document, (json.loads(stored) if isinstance(stored, str | bytes) else stored) or {}
        return
    wanted = excursions_of(run, docs)
    wanted = wanted if doc_id is None else wanted.filter(doc_id=doc_id)
    for document, stored in wanted.order_by("id").values_list("doc_id", "tallies"):
        yield document, stored or {}


def tallies(run: Run, docs: Docs = None) -> Tallies:
    """The sums of all documents. Those of a whole run that has ended are remembered: adding up five thousand takes
    a third of a page, and they change no more."""
    if docs is not None or run.finished_at is None:
        return _added_up(run, docs)
    key = f"tallies:{run.pk}:{run.finished_at.timestamp()}"
    known: Tallies | None = cache.get(key)
    if known is None:
        known = _added_up(run, docs)
        cache.set(key, known, _REMEMBERED)
    return known


def _added_up(run: Run, docs: Docs) -> Tallies:
    reasons: dict[str, int] = {}
    statuses: dict[str, int] = {}
    types: dict[str, int] = {}
    left: dict[str, int] = {}
    changes: dict[str, int] = {}
    since = 0
    depths: dict[str, tuple[int, int]] = {}
    added = {"reason": reasons, "status": statuses, "type": types, "left": left, "change": changes}
    for _, parts in tallies_of(run, docs):
        for name, sums in added.items():
            for code, n in parts.get(name, _NONE).items():
                sums[code] = sums.get(code, 0) + n
        for depth, (done, waiting) in parts.get("depth", _NONE).items():
            before = depths.get(depth, (0, 0))
            depths[depth] = (before[0] + done, before[1] + waiting)
        since = max(since, parts.get("since", 0))
    by_depth = {int(depth): (done - left.get(depth, 0), waiting) for depth, (done, waiting) in depths.items()}
    result = Tallies(Counter(reasons), by_depth, Counter({int(depth): n for depth, n in left.items()}),
                     changes=Counter(changes), since=since)  # fmt: skip
    for status, n in statuses.items():
        result.statuses[int(status) // 100] += n
        result.codes[int(status)] += n
    result.types.update({int(kind): n for kind, n in types.items()})
    return result


_NONE: dict[str, Any] = {}
_REMEMBERED = 3600  # seconds
