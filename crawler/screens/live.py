"""The live numbers of a run: one small answer every two seconds while something changes, 204 while nothing does."""

import hashlib
from dataclasses import dataclass, replace

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.shortcuts import render
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.access.policies import Action, may
from clearinghouse.access.templatetags.pieces import STATES

from ..models import Excursion, Run, State
from ..queries.counts import Docs, Totals, excursions_of, totals_by_state
from ..queries.hosts import fetching_now
from ..queries.runs import instances_of, last_event
from .possible import SPEEDS, controls_of
from .scope import may_control, run_or_404
from .summary import document_rows, summary_of

_QUARTER = 25
PAUSING = "pausing"
MANY, SHARED_SECONDS = 500, 1
_MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class Mark:
    """What a page already shows. Two equal marks: nothing to tell."""

    state: str
    quarter: int  # how many quarters are done: milestones for screen readers
    errors: bool
    digest: str
    asked: str = ""  # of the run: its order and its speed

    @property
    def text(self) -> str:
        return f"{self.state}.{self.quarter}.{int(self.errors)}.{self.digest}.{self.asked}"

    @classmethod
    def read(cls, text: str) -> "Mark | None":
        parts = text.split(".")
        if len(parts) != 5 or not (parts[1].isascii() and parts[1].isdigit()):
            return None
        return cls(parts[0], int(parts[1]), parts[2] == "1", parts[3], parts[4])

    def after(self, before: "Mark | None") -> "Mark":
        """The same for a page that showed `before`: a quarter it reached stays reached, whatever is found since."""
        return replace(self, quarter=max(self.quarter, before.quarter)) if before else self

    def same_commands(self, before: "Mark | None") -> bool:
        return before is not None and (self.state, self.asked) == (before.state, before.asked)


def mark_of(run: Run, docs: Docs) -> Mark:
    """Counters, states and what is being fetched: a document may end without any counter moving.

    Of a run over very many documents it may be a second old: its viewers share the sums.
    """
    scope = "all" if docs is None else hash(frozenset(docs))
    key = f"live:{run.pk}:{run.created_at:%s}:{run.state}:{run.control}:{run.speed}:{scope}"
    mark: Mark | None = cache.get(key)
    if mark is None:
        mark, documents = _mark(run, docs)
        if documents > MANY:
            cache.set(key, mark, SHARED_SECONDS)
    return mark


def _mark(run: Run, docs: Docs) -> tuple[Mark, int]:
    """And over how many documents."""
    by_state = totals_by_state(run, docs)
    now = fetching_now(run, docs) if run.state == State.RUNNING else None
    seen = (run.state, run.control, run.speed, sorted(by_state.items()), last_event(run), now)
    digest = hashlib.sha256(repr(seen).encode()).hexdigest()[:12]
    done, wanted = (sum(getattr(one, name) for one in by_state.values()) for name in ("done", "wanted"))
    percent = 100 * done // wanted if wanted else 0
    errors = any(one.failed for one in by_state.values())
    mark = Mark(_shown(run, by_state), percent // _QUARTER, errors, digest, f"{run.control}-{run.speed}")
    return mark, sum(one.documents for one in by_state.values())


def _shown(run: Run, by_state: dict[str, Totals]) -> str:
    """The state as people hear it: paused only when the last document rests, interrupted until an heir goes on."""
    going_on = State.RUNNING in by_state
    if going_on:
        return PAUSING if run.state == State.PAUSED else run.state
    interrupted = run.state == State.RUNNING and State.INTERRUPTED in by_state
    return State.INTERRUPTED.value if interrupted else run.state


def milestone(before: Mark | None, after: Mark) -> str:
    """What a screen reader hears: state, each quarter, the first error; nothing else."""
    if before is None:
        return ""
    if before.state != after.state:
        return STATES.get(after.state, ("", "", after.state.capitalize()))[2]
    if after.errors and not before.errors:
        return "First error"
    if after.quarter > before.quarter and after.state == State.RUNNING:
        return f"{after.quarter * _QUARTER}% done"
    return ""


@require_safe
def live(request: HttpRequest, run_id: int) -> HttpResponse:
    """Fragments swapped in by id; they are the same templates the page itself is made of."""
    run, docs = run_or_404(request, run_id)
    before = Mark.read(request.GET.get("since", ""))
    after = mark_of(run, docs).after(before)
    if before == after:
        return HttpResponse(status=204)
    context = summary_of(run, docs, timezone.now())
    controls = may_control(request, run)
    context |= {
        "oob": True,
        "mark": after.text,
        "live": context["open"],
        "say": milestone(before, after),
        "ended": not context["open"],
        "tab": "",
        "controls_changed": not after.same_commands(before),
        "controls": controls_of(run) if controls else [],
        "may_ask": context["open"] and not controls,
        "speeds": SPEEDS,
        "rows": document_rows(run, _asked_rows(request, run, docs)),
        "row_ids": request.GET.get("rows", ""),
        "row_commands": may(request.user, Action.CONTROL),
        "instances": instances_of(run) if context["open"] else 0,
    }
    return render(request, "crawler/live.html", context)


def _asked_rows(request: HttpRequest, run: Run, docs: Docs) -> list[Excursion]:
    """The documents the page shows now, so that rows neither move nor appear under the reader."""
    words = request.GET.get("rows", "").split(",")
    ids = [int(text) for text in words if text.isascii() and text.isdigit() and len(text) < 19]
    if not ids:
        return []
    rows = excursions_of(run, docs).filter(pk__in=ids[:_MOST_ROWS])
    return list(rows.defer("snapshot", "tallies", "error"))
