"""Screens of propagation: the targets, the difference preview with its loss guard, the step board, roll back."""

from collections.abc import Callable
from typing import Any

from django.contrib import messages
from django.http import HttpRequest, HttpResponse, QueryDict
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from clearinghouse.accounts.policies import Action, may, require
from clearinghouse.operations.work_queues import Job, wake
from clearinghouse.web.listing import page_of
from clearinghouse.web.plurals import plural
from crawler.errors import WrongMoment
from crawler.models import Propagation, PropagationStep

from .. import generations, left_out, plan, runs_to_propagate, services
from . import propagation_log as logs
from . import step_board as boards

_PER_PAGE = 20
_BIGGEST = 50  # documents of a difference that are listed; the others are one row


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW_PROPAGATION)
    rows = Propagation.objects.order_by("-id")
    page = page_of(request, rows, _PER_PAGE)
    context = _frame(request) | {"page": page, "rows": _listed(list(page.object_list))}
    return render(request, "propagation/index.html", context)


def _frame(request: HttpRequest) -> dict[str, Any]:
    targets = boards.targets()
    serving = next((target for target in targets if target.serving), None)
    return {
        "targets": targets,
        "serving": serving,
        "trouble": boards.trouble(),
        "moved_at": boards.moved_at(),
        "generations": {target.name: target.generation for target in targets},
        "may_propagate": may(request.user, Action.PROPAGATE),
        "unfinished": services.unfinished(),
        "rollback": next((target for target in targets if target.name == "primary" and target.back_to), None),
        "forward": next((target for target in targets if target.forward_to), None),
    }


def _listed(rows: list[Propagation]) -> list[dict[str, Any]]:
    """Propagations with what they changed on primary, and who rolled them back; the pinned scope beside these numbers
    is not read."""
    steps = PropagationStep.objects.filter(propagation__in=rows, name=plan.PLAN)
    totals = dict(steps.values_list("propagation_id", "counts__targets"))
    back = generations.rolled_back(totals)
    return [{"row": row, "total": _total(totals.get(row.pk)), "back": _back(back.get(row.pk))} for row in rows]


def _back(mark: generations.RolledBack | None) -> dict[str, Any] | None:
    """Named are the servers only where others still show it."""
    where = "" if mark is None or mark.everywhere else ", ".join(boards.NAMES[name] for name in mark.targets)
    return {"by": mark.by, "at": mark.at, "where": where} if mark else None


def _total(totals: dict[str, Any] | None) -> dict[str, Any]:
    measured = {target: total for target, total in (totals or {}).items() if total}
    return measured.get(plan.shown_target(measured), {})


def _not_public(totals: dict[str, Any] | None) -> dict[str, Any]:
    """What goes to content development only: how many pages, and the titles of their documents."""
    development: dict[str, Any] = (totals or {}).get(plan.DEVELOPMENT) or {}
    kept: dict[str, Any] = development.get("not_public") or {}
    return kept | {"public": development["pages"] - kept["pages"]} if kept.get("pages") else {}


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """What a propagation would change; asks for the number where a document loses much."""
    require(request.user, Action.PROPAGATE)
    return _ask(request, request.GET, {})


def _chosen(listed: list[runs_to_propagate.RunToPropagate], sent: QueryDict) -> list[int] | None:
    """The runs that are ticked; all that count where nobody has chosen."""
    if "choose" not in sent:
        return None
    return runs_to_propagate.chosen(
        listed, {run for run in (one.run.pk for one in listed) if str(run) in sent.getlist("run")}
    )


def _ask(request: HttpRequest, sent: QueryDict, errors: dict[int, str]) -> HttpResponse:
    listed = runs_to_propagate.since_last()
    runs = _chosen(listed, sent)
    found = services.preview(runs=runs)
    ticked = {one.run.pk for one in listed if (not one.stopped if runs is None else one.run.pk in runs)}
    target = plan.shown_target(found.targets)
    total, rows = found.targets.get(target, {}), found.documents.get(target, [])[:_BIGGEST]
    context = _frame(request) | {
        "total": total,
        "documents": boards.difference_rows(rows),
        "others": boards.others(rows, total),
        "not_public": _not_public(found.targets),
        "losses": [loss | {"error": errors.get(loss["doc_id"], "")} for loss in found.losses],
        "listed": [(one, one.run.pk in ticked) for one in listed],
        "left_out": left_out.lately(),
        "ticked": sorted(ticked),
        "down": [boards.NAMES[name] for name in found.down],
        "nothing": found.empty and not found.down,
        "errors": errors,
    }
    return render(request, "propagation/new.html", context, status=422 if errors else 200)


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.PROPAGATE)
    runs = _chosen(runs_to_propagate.since_last(), request.POST)
    losses = services.preview(runs=runs).losses
    errors = {loss["doc_id"]: _loss_error(request, loss) for loss in losses}
    errors = {doc_id: sentence for doc_id, sentence in errors.items() if sentence}
    if errors:
        return _ask(request, request.POST, errors)
    try:
        row = services.ask(
            full="full" in request.POST,
            runs=runs,
            accepted_losses=[loss["doc_id"] for loss in losses],
            by=request.user.get_username(),
        )
    except WrongMoment as problem:
        messages.error(request, str(problem))
        return redirect("propagation")
    _wake_worker(request, row)
    return redirect("propagation-board", row.pk)


def _loss_error(request: HttpRequest, loss: dict[str, Any]) -> str:
    """The guard: the number of pages that go has to be typed."""
    typed = request.POST.get(f"loss-{loss['doc_id']}", "").strip()
    if typed == str(loss["removed"]):
        return ""
    return f"Type {loss['removed']} to confirm that {loss['title']} loses {plural(loss['removed'], 'page')}"


def _wake_worker(request: HttpRequest, row: Propagation) -> None:
    if not wake(Job.PROPAGATE, row.pk):
        messages.warning(request, "The work queue does not answer. The propagation starts by itself when it does.")


@require_safe
def board(request: HttpRequest, generation: int) -> HttpResponse:
    return _shown(request, generation, "propagation/board.html")


@require_safe
def live(request: HttpRequest, generation: int) -> HttpResponse:
    """The moving part of the board; the last answer asks no more."""
    return _shown(request, generation, "propagation/live.html")


def _shown(request: HttpRequest, generation: int, template: str) -> HttpResponse:
    require(request.user, Action.VIEW_PROPAGATION)
    row = get_object_or_404(Propagation, pk=generation)
    frame = _frame(request)
    return render(request, template, frame | _board(request, row, frame["generations"]))


def _board(request: HttpRequest, row: Propagation, shown: dict[str, int]) -> dict[str, Any]:
    steps = boards.board(row)
    found = row.steps.filter(name=plan.PLAN).values("counts__targets", "counts__documents").first()
    planned: dict[str, Any] = dict(found) if found else {}
    documents = planned.get("counts__documents") or []
    failed = row.steps.filter(state=services.FAILED).only("name", "target").first()
    return {
        "row": row,
        "back": _back(generations.rolled_back([row.pk]).get(row.pk)),
        "open": row.state in services.AT_WORK,
        "steps": steps,
        "nothing": row.state == services.DONE and all(step.state == services.SKIPPED for step in steps),
        "now": boards.step_now(steps),
        "bands": boards.bands(row, steps, shown),
        "left": boards.seconds_left(steps) if row.state == services.WORKING else 0,
        "failed": failed,
        "asks": failed is not None and failed.name == plan.PLAN and bool(services.losses_of(row)),
        "total": _total(planned.get("counts__targets")),
        "not_public": _not_public(planned.get("counts__targets")),
        "planned": True,
        "documents": boards.difference_rows(documents),
        "others": boards.others(documents, _total(planned.get("counts__targets"))),
        "accepted": logs.accepted(row, documents),
        "runs": logs.runs_of(row),
        "log": logs.log(row),
        "log_open": "log" in request.GET,
    }


@require_POST
def retry(request: HttpRequest, generation: int) -> HttpResponse:
    refusal = "A newer propagation has taken its place, or it does not wait for a retry."
    return _ordered(request, generation, services.retry, refusal, goes_on=True)


@require_POST
def pause(request: HttpRequest, generation: int) -> HttpResponse:
    """It waits after the step it is in."""
    return _ordered(request, generation, services.pause, "It is not running any more.")


@require_POST
def resume(request: HttpRequest, generation: int) -> HttpResponse:
    return _ordered(request, generation, services.resume, "It is not paused any more.", goes_on=True)


def _ordered(
    request: HttpRequest, generation: int, order: Callable[..., bool], refusal: str, *, goes_on: bool = False
) -> HttpResponse:
    require(request.user, Action.PROPAGATE)
    row = get_object_or_404(Propagation, pk=generation)
    if not order(row, by=request.user.get_username()):
        messages.error(request, refusal)
    elif goes_on:
        _wake_worker(request, row)
    return redirect("propagation-board", row.pk)
