"""Leave this crawl out, and take it in again: of a run, for all of its documents or some; also within a roll back."""

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import redirect, render
from django.views.decorators.http import require_http_methods

from clearinghouse.accounts.policies import Action, may, require
from clearinghouse.web.templatetags.formats import plural
from crawler.errors import WrongMoment
from crawler.models import OPEN_STATES, Excursion, Run, State
from crawler.propagation import left_out
from crawler.propagation.states import unfinished
from crawlpoints.point_checks import Invalid

from ..run_counts import Docs, excursions_of
from .run_access import number_in, run_or_404

MOST = 50  # crawls that are chosen one by one


@dataclass(frozen=True, slots=True)
class LeaveOutChoice:
    """A tick box: one crawl, or all those of a run."""

    value: str
    run_id: int
    title: str
    excursions: tuple[int, ...]
    pages: int


def choices(rows: Sequence[Excursion]) -> list[LeaveOutChoice]:
    if len(rows) <= MOST:
        return [LeaveOutChoice(str(one.pk), one.run_id, one.title, (one.pk,), _pages([one])) for one in rows]
    by_run: dict[int, list[Excursion]] = {}
    for one in rows:
        by_run.setdefault(one.run_id, []).append(one)
    return [
        LeaveOutChoice(f"run-{run_id}", run_id, _named(mine), tuple(one.pk for one in mine), _pages(mine))
        for run_id, mine in by_run.items()
    ]


def _named(rows: Sequence[Excursion]) -> str:
    return rows[0].title if len(rows) == 1 else f"all its {plural(len(rows), 'document')}"


def _pages(rows: Iterable[Excursion]) -> int:
    return sum(one.crawled + one.unchanged for one in rows)


def ticked(listed: Iterable[LeaveOutChoice], sent: QueryDict) -> list[int]:
    """The excursions behind the boxes that were ticked."""
    values = set(sent.getlist("crawl"))
    return [number for one in listed if one.value in values for number in one.excursions]


@require_http_methods(["GET", "HEAD", "POST"])
def leave_out(request: HttpRequest, run_id: int) -> HttpResponse:
    run, docs = run_or_404(request, run_id)
    require(request.user, Action.PROPAGATE)
    doc_id = number_in(request, "doc")
    rows = left_out.kept().filter(pk__in=excursions_of(run, docs).values("pk")).order_by("title", "pk")
    rows = rows if doc_id is None else rows.filter(doc_id=doc_id)
    counting, left = choices(rows.filter(left_out_at=None)), choices(rows.exclude(left_out_at=None))
    problem = ""
    if request.method == "POST":
        problem = _done(request, run, counting, left)
        if not problem:
            return redirect("run", run.pk)
    said = {one.pk: one for one in rows.exclude(left_out_at=None)} if left else {}
    context = {
        "run": run,
        "counting": counting,
        "left": [(one, said[one.excursions[0]]) for one in left],
        "sent": request.POST.getlist("crawl") if problem else [one.value for one in counting + left],
        "reason": request.POST.get("reason", ""),
        "problem": problem,
        "unfinished": unfinished(),
    }
    return render(request, "runs/leave_out.html", context, status=422 if problem else 200)


def _done(request: HttpRequest, run: Run, counting: list[LeaveOutChoice], left: list[LeaveOutChoice]) -> str:
    """Does what was asked for; what is wrong with it, in a sentence."""
    by, again = request.user.get_username(), request.POST.get("do") == "take-in"
    chosen = ticked(left if again else counting, request.POST)
    if not chosen:
        return "Tick at least one document"
    try:
        if again:
            count = left_out.take_in(chosen, by=by)
        else:
            count = left_out.leave_out(chosen, request.POST.get("reason", "").replace("\0", ""), by=by)
    except (Invalid, WrongMoment) as refusal:
        return str(refusal)
    if again:
        sentence = f"The crawl of {plural(count, 'document')} counts again."
    else:
        sentence = f"Run {run.pk} is left out for {plural(count, 'document')}: the crawl before it counts."
    messages.success(request, f"{sentence} The next propagation brings that to the public.")
    return ""


def of_run(user: Any, run: Run, docs: Docs) -> dict[str, Any]:
    """What the pages of a run say about it."""
    if run.state in OPEN_STATES or run.state in (State.CANCELLED, State.FAILED):
        return {"left_out": None, "may_leave_out": False}
    rows = excursions_of(run, docs).exclude(left_out_at=None).defer("snapshot", "tallies", "error")
    left = list(rows.order_by("-left_out_at", "title")[:MOST])
    told = {"first": left[0], "count": len(left) if len(left) < MOST else rows.count()} if left else None
    return {"left_out": told, "may_leave_out": may(user, Action.PROPAGATE)}
