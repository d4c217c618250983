"""Screens of propagation: the targets, the difference preview with its loss guard, the step board, roll back."""

from typing import Any

from django.contrib import messages
from django.core.paginator import Paginator
from django.http import HttpRequest, HttpResponse
from django.shortcuts import get_object_or_404, redirect, render
from django.views.decorators.http import require_POST, require_safe

from clearinghouse import queues
from clearinghouse.access.policies import Action, may, require

from ..errors import WrongMoment
from ..models import Propagation, PropagationStep
from ..propagation import plan, services
from . import propagation_board as boards

_PER_PAGE = 20
_STOP_POLLING = 286  # htmx: show this answer and ask no more


@require_safe
def index(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.VIEW_PROPAGATION)
    rows = Propagation.objects.order_by("-id")
    page = Paginator(rows, _PER_PAGE).get_page(request.GET.get("page"))
    context = _frame(request) | {"page": page, "rows": _listed(list(page.object_list))}
    return render(request, "propagation/index.html", context)


def _frame(request: HttpRequest) -> dict[str, Any]:
    targets = boards.targets()
    serving = next((target for target in targets if target.serving), None)
    return {
        "targets": targets,
        "serving": serving,
        "may_propagate": may(request.user, Action.PROPAGATE),
        "unfinished": services.unfinished(),
        "rollback": next((target for target in targets if target.name == "primary" and target.back_to), None),
    }


def _listed(rows: list[Propagation]) -> list[dict[str, Any]]:
    """Propagations with what they changed on primary; the pinned scope beside these numbers is not read."""
    steps = PropagationStep.objects.filter(propagation__in=rows, name=plan.PLAN)
    totals = dict(steps.values_list("propagation_id", "counts__targets"))
    return [{"row": row, "total": _total(totals.get(row.pk))} for row in rows]


def _total(totals: dict[str, Any] | None) -> dict[str, int]:
    totals = totals or {}
    return totals.get("primary") or totals.get("development") or totals.get("backup") or {}


@require_safe
def new(request: HttpRequest) -> HttpResponse:
    """What a propagation would change; asks for the number where a document loses much."""
    require(request.user, Action.PROPAGATE)
    return _ask(request, {})


def _ask(request: HttpRequest, errors: dict[int, str]) -> HttpResponse:
    found = services.preview()
    target = next((name for name in ("primary", "development", "backup") if name in found.targets), "")
    context = _frame(request) | {
        "total": found.targets.get(target, {}),
        "documents": boards.difference_rows(found.documents.get(target, [])),
        "losses": [loss | {"error": errors.get(loss["doc_id"], "")} for loss in found.losses],
        "down": [boards.NAMES[name] for name in found.down],
        "nothing": found.empty and not found.down,
        "errors": errors,
    }
    return render(request, "propagation/new.html", context, status=422 if errors else 200)


@require_POST
def start(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.PROPAGATE)
    losses = services.preview().losses
    errors = {loss["doc_id"]: _loss_error(request, loss) for loss in losses}
    errors = {doc_id: sentence for doc_id, sentence in errors.items() if sentence}
    if errors:
        return _ask(request, errors)
    try:
        row = services.ask(
            full="full" in request.POST,
            include_stopped="include_stopped" in request.POST,
            accepted_losses=[loss["doc_id"] for loss in losses],
            by=request.user.get_username(),
        )
    except WrongMoment as problem:
        messages.error(request, str(problem))
        return redirect("propagation")
    _ring(request, row)
    return redirect("propagation-board", row.pk)


def _loss_error(request: HttpRequest, loss: dict[str, Any]) -> str:
    """The guard: the number of pages that go has to be typed."""
    typed = request.POST.get(f"loss-{loss['doc_id']}", "").strip()
    if typed == str(loss["removed"]):
        return ""
    return f"Type {loss['removed']} to confirm that {loss['title']} loses {loss['removed']} pages"


def _ring(request: HttpRequest, row: Propagation) -> None:
    if not queues.ring(queues.PROPAGATE, "crawler.jobs.propagate", row.pk):
        messages.warning(request, "The work queue does not answer. The propagation starts by itself when it does.")


@require_safe
def board(request: HttpRequest, generation: int) -> HttpResponse:
    require(request.user, Action.VIEW_PROPAGATION)
    row = get_object_or_404(Propagation, pk=generation)
    return render(request, "propagation/board.html", _frame(request) | _board(row))


@require_safe
def live(request: HttpRequest, generation: int) -> HttpResponse:
    """The moving part of the board; the last answer ends the polling."""
    require(request.user, Action.VIEW_PROPAGATION)
    row = get_object_or_404(Propagation, pk=generation)
    status = 200 if row.state in services.OPEN_STATES else _STOP_POLLING
    return render(request, "propagation/live.html", _frame(request) | _board(row), status=status)


def _board(row: Propagation) -> dict[str, Any]:
    steps = boards.board(row)
    found = row.steps.filter(name=plan.PLAN).values("counts__targets", "counts__documents").first()
    planned: dict[str, Any] = dict(found) if found else {}
    failed = row.steps.filter(state=services.FAILED).only("name", "target").first()
    return {
        "row": row,
        "open": row.state in services.OPEN_STATES,
        "steps": steps,
        "nothing": row.state == services.DONE and all(step.state == services.SKIPPED for step in steps),
        "now": boards.step_now(steps),
        "bands": boards.bands(row, steps),
        "failed": failed,
        "asks": failed is not None and failed.name == plan.PLAN and bool(services.losses_of(row)),
        "total": _total(planned.get("counts__targets")),
        "documents": boards.difference_rows(planned.get("counts__documents") or []),
    }


@require_POST
def retry(request: HttpRequest, generation: int) -> HttpResponse:
    require(request.user, Action.PROPAGATE)
    row = get_object_or_404(Propagation, pk=generation)
    if services.retry(row, by=request.user.get_username()):
        _ring(request, row)
    else:
        messages.error(request, "A newer propagation has taken its place, or it does not wait for a retry.")
    return redirect("propagation-board", row.pk)


@require_POST
def rollback(request: HttpRequest) -> HttpResponse:
    require(request.user, Action.PROPAGATE)
    target = request.POST.get("target") or None
    if target is not None and target not in boards.NAMES:
        target = None
    try:
        goals = services.rollback(target, by=request.user.get_username())
    except WrongMoment as problem:
        messages.error(request, str(problem))
        return redirect("propagation")
    shown = ", ".join(f"{boards.NAMES[where]} shows generation {goal}" for where, goal in goals.items())
    messages.success(request, f"Rolled back. {shown}.")
    return redirect("propagation")
