"""The live numbers of a run: one small answer every two seconds while something changes, 204 while nothing does."""

import hashlib
from dataclasses import dataclass, replace

from django.core.cache import cache
from django.http import HttpRequest, HttpResponse
from django.template.loader import render_to_string
from django.utils import timezone
from django.views.decorators.http import require_safe

from clearinghouse.accounts.policies import Action, doc_ids_for, may
from clearinghouse.web.listing import page_size, whole_number
from clearinghouse.web.templatetags.formats import STATES
from crawler.models import OPEN_STATES, Excursion, Run, State
from crawler.sites.queries import fetching_now

from ..queries import instances_of, last_event
from ..run_actions import SPEEDS, controls_of
from ..run_counts import Docs, Totals, excursions_of, left_behind, scope_key, totals_by_state
from ..run_status import awaited_of
from . import run_documents
from .run_access import may_control, run_or_404
from .run_summary import document_rows, limits_close, summary_of

_QUARTER = 25
PAUSING = "pausing"
SHARED_SECONDS = 2
_MOST_ROWS = 100


@dataclass(frozen=True, slots=True)
class ShownMark:
    """What a page already shows. Two equal marks: nothing to tell."""

    state: str
    quarter: int  # how many quarters are done: milestones for screen readers
    errors: bool
    digest: str
    asked: str = ""  # what decides which commands are offered: orders, speed, states of documents

    @property
    def text(self) -> str:
        return f"{self.state}.{self.quarter}.{int(self.errors)}.{self.digest}.{self.asked}"

    @classmethod
    def read(cls, text: str) -> "ShownMark | None":
        parts = text.split(".")
        if len(parts) != 5 or not (parts[1].isascii() and parts[1].isdigit()):
            return None
        return cls(parts[0], int(parts[1]), parts[2] == "1", parts[3], parts[4])

    def after(self, before: "ShownMark | None") -> "ShownMark":
        """The same for a page that showed `before`: a quarter it reached stays reached, whatever is found since."""
        return replace(self, quarter=max(self.quarter, before.quarter)) if before else self

    def same_commands(self, before: "ShownMark | None") -> bool:
        return before is not None and (self.state, self.asked) == (before.state, before.asked)


def mark_of(run: Run, docs: Docs) -> ShownMark:
    """Counters, states and what is being fetched: a document may end without any counter moving.

    It may be two seconds old: the viewers of a run share it. An order to the run is seen at once.
    """
    key = f"live:{run.pk}:{run.created_at:%s}:{run.state}:{run.control}:{run.speed}:{scope_key(docs)}"
    mark: ShownMark | None = cache.get(key)
    if mark is None:
        mark = _mark(run, docs)
        cache.set(key, mark, SHARED_SECONDS)
    return mark


def _mark(run: Run, docs: Docs) -> ShownMark:
    by_state = totals_by_state(run, docs)
    now = fetching_now(run, docs) if run.state == State.RUNNING else awaited_of(run, docs, by_state)
    event = last_event(run)
    digest = _digest(run.state, run.control, run.speed, sorted(by_state.items()), event, now)
    asked = _digest(run.control, run.speed, event, sorted((state, one.documents) for state, one in by_state.items()))
    done, wanted = (sum(getattr(one, name) for one in by_state.values()) for name in ("done", "wanted"))
    percent = 100 * done // wanted if wanted else 0
    errors = any(one.failed for one in by_state.values())
    return ShownMark(_shown(run, by_state), percent // _QUARTER, errors, digest, asked)


def _digest(*seen: object) -> str:
    return hashlib.sha256(repr(seen).encode()).hexdigest()[:12]


def _shown(run: Run, by_state: dict[str, Totals]) -> str:
    """The state as people hear it: paused only when the last document rests, interrupted until another goes on."""
    going_on = State.RUNNING in by_state
    if going_on:
        return PAUSING if run.state == State.PAUSED else run.state
    interrupted = run.state == State.RUNNING and State.INTERRUPTED in by_state
    return State.INTERRUPTED.value if interrupted else run.state


def milestone(before: ShownMark | None, after: ShownMark) -> str:
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
    """Fragments swapped in by id; they are the same templates the page itself is made of.

    The numbers are put together once for all who see the same documents; commands carry a token of the person, and
    are sent when what can be asked has changed.
    """
    run, docs = run_or_404(request, run_id)
    before = ShownMark.read(request.GET.get("since", ""))
    after = mark_of(run, docs).after(before)
    if before == after:
        return HttpResponse(status=204)
    mine = doc_ids_for(request.user, Action.EDIT) if may(request.user, Action.EDIT) else set()
    say, ids = milestone(before, after), request.GET.get("rows", "")
    table = (ids, run_documents.list_query(request), page_size(request))
    key = _digest("told", run.pk, f"{run.created_at:%s}", after.text, say, table, scope_key(docs), scope_key(mine))
    told: str | None = cache.get(key)
    if told is None:
        told = _told(request, run, docs, after, say)
        cache.set(key, told, SHARED_SECONDS)
    commands = "" if after.same_commands(before) else _commands(request, run, docs)
    return HttpResponse(told + commands)


def _told(request: HttpRequest, run: Run, docs: Docs, after: ShownMark, say: str) -> str:
    """The numbers: nothing in them is of one person."""
    context = summary_of(run, docs, timezone.now())
    context |= run_documents.moved(request, run, docs)
    context |= {
        "oob": True,
        "mark": after.text,
        "live": context["open"],
        "say": say,
        "ended": not context["open"],
        "rows": document_rows(run, _asked_rows(request, run, docs)),
        "row_ids": request.GET.get("rows", ""),
        "list_query": run_documents.list_query(request),
        "instances": instances_of(run) if context["open"] else 0,
        "nearly": limits_close(request.user, run, docs),
    }
    return render_to_string("runs/live.html", context)


def _commands(request: HttpRequest, run: Run, docs: Docs) -> str:
    """What this person may ask of the run and of the documents that are shown."""
    controls, going_on = may_control(request, run), run.state in OPEN_STATES
    context = {
        "oob": True,
        "run": run,
        "tab": "",
        "open": going_on,
        "live": going_on,
        "controls": controls_of(run) if controls else [],
        "may_ask": going_on and not controls,
        "speeds": SPEEDS,
        "rows": document_rows(run, _asked_rows(request, run, docs)) if may(request.user, Action.CONTROL) else [],
    }
    return render_to_string("runs/live_commands.html", context, request)


def _asked_rows(request: HttpRequest, run: Run, docs: Docs) -> list[Excursion]:
    """The documents the page shows now, so that rows neither move nor appear under the reader."""
    words = request.GET.get("rows", "").split(",")
    ids = [number for text in words if (number := whole_number(text)) is not None]
    if not ids:
        return []
    rows = excursions_of(run, docs).filter(pk__in=ids[:_MOST_ROWS]).annotate(left=left_behind())
    return list(rows.defer("snapshot", "tallies", "error"))
